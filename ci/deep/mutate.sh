#!/usr/bin/env bash
# Weakens each ordering and drops each fence of a module, one at a time, in a copy. One of the module's loom scenarios must fail every time.
# usage: ci/deep/mutate.sh MODULE [SHARD/SHARDS]   (2/5: the second fifth of them; all without)
set -euo pipefail
cd "$(dirname "$0")/../.."
module=${1:?mutate which module? handoff, reclaim, salsa, ...}
IFS=/ read -r shard shards <<<"${2:-1/1}"
export CANTINA_FIRST_FAILURE=yes
source ci/deep/copy.sh

loom() { timeout 300 cargo test --quiet -p cantina-on-loom --test scenarios "$@" >"$log" 2>&1; }
scenarios() { loom -- "$module::"; }
scenarios || { cat "$log"; echo "mutate: the tests fail without a mutant"; exit 1; }
grep --quiet --text "$module" <(cargo test --quiet -p cantina-on-loom --test scenarios -- --list "$module::" 2>/dev/null) ||
  { echo "mutate: $module has no scenarios"; exit 1; }

# file, line, column, the word, its replacement
sites() {
  find crates/cantina/src -name '*.rs' | grep -E "^crates/cantina/src/$module(\.rs|/)" | LC_ALL=C sort | xargs -r perl -ne '
    sub site { print join("\t", $ARGV, $., $_[0], $_[1], $_[2]), "\n" }
    $tests = 1 if m{^#\[cfg\(test\)\]};
    unless ($tests || m{^\s*(//|use )}) {
      my ($code) = split m{//};
      while ($code =~ m{\b(AcqRel|Acquire|Release)\b}g) {
        site($-[0], $1, $_) for $1 eq "AcqRel" ? qw(Acquire Release) : "Relaxed";
      }
      site($-[0], $&, "()") while $code =~ m{\bfence::full\(\)|\b(machine::)?fence_after_rmw\(\)|\b[\w.]+\.light\(\)}g;
      site($-[0], $&, "Ok::<(), machine::fence::HeavyFailed>(())") while $code =~ m{\b[\w.]+\.heavy\(\)}g;
    }
    if (eof) { close ARGV; $tests = 0 }' | awk -v k="$shard" -v n="$shards" 'NR % n == k % n'
}

count=0 escaped=0
while IFS=$'\t' read -r file line column word new; do
  count=$((count + 1))
  cp "$file" ../original
  perl -pi -e "substr(\$_, $column, ${#word}) = q{$new} if \$. == $line" "$file"
  if ! loom --no-run; then verdict='DOES NOT BUILD'; escaped=$((escaped + 1)); cat "$log"
  else
    scenarios && code=0 || code=$?
    case $code in
      0) verdict=ESCAPED escaped=$((escaped + 1)) ;;
      124) verdict='NO VERDICT IN TIME' escaped=$((escaped + 1)) ;;
      *) verdict="caught by $(grep --text --only-matching --extended-regexp "$module::\w+: FAILED$" "$log" | head -n 1 | sed 's/: FAILED//')" ;;
    esac
  fi
  echo "mutate: $file:$line: $word -> $new: $verdict"
  cp ../original "$file"
done < <(sites)
echo "mutate: $module: $count mutants, $escaped escaped"
[ "$count" -gt 0 ] && [ "$escaped" = 0 ]
