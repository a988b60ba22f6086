#!/usr/bin/env bash
# Weakens each ordering and drops each fence of the library, one at a time, in a copy. A loom test must fail every time.
# usage: ci/mutate.sh [SHARD/SHARDS]   (2/5: the second fifth of them; all without)
set -euo pipefail
cd "$(dirname "$0")/.."
IFS=/ read -r shard shards <<<"${1:-1/1}"
tree=$PWD/target/mutants/tree
rm -rf "$tree" && mkdir -p "$tree"
# --touch: to Cargo, a file with its old date would look older than the mutant it has built last.
git ls-files -z --cached --others --exclude-standard | tar --null --files-from=- --create --file=- | tar --extract --touch --directory="$tree"
cd "$tree"
export CARGO_TARGET_DIR=$tree/../build
log=$tree/../log

loom() { timeout 900 cargo test --quiet -p cantina-on-loom "$@" >"$log" 2>&1; }
loom || { cat "$log"; echo "mutate: the tests fail without a mutant"; exit 1; }

# file, line, column, the word, its replacement
sites() {
  find crates/cantina/src -name '*.rs' | LC_ALL=C sort | xargs perl -ne '
    sub site { print join("\t", $ARGV, $., $_[0], $_[1], $_[2]), "\n" }
    unless (m{^\s*(//|use )}) {
      my ($code) = split m{//};
      while ($code =~ m{\b(AcqRel|Acquire|Release)\b}g) {
        site($-[0], $1, $_) for $1 eq "AcqRel" ? qw(Acquire Release) : "Relaxed";
      }
      site($-[0], $&, "()") while $code =~ m{\bfence::full\(\)|\b(machine::)?fence_after_rmw\(\)|\b[\w.]+\.light\(\)}g;
      site($-[0], $&, "Ok::<(), machine::fence::HeavyFailed>(())") while $code =~ m{\b[\w.]+\.heavy\(\)}g;
    }
    close ARGV if eof' | awk -v k="$shard" -v n="$shards" 'NR % n == k % n'
}

count=0 escaped=0
while IFS=$'\t' read -r file line column word new; do
  count=$((count + 1))
  cp "$file" ../original
  perl -pi -e "substr(\$_, $column, ${#word}) = q{$new} if \$. == $line" "$file"
  if ! loom --no-run; then verdict='DOES NOT BUILD'; escaped=$((escaped + 1)); cat "$log"
  else
    loom && code=0 || code=$?
    case $code in
      0) verdict=ESCAPED escaped=$((escaped + 1)) ;;
      124) verdict='NO VERDICT IN TIME' escaped=$((escaped + 1)) ;;
      *) verdict=caught ;;
    esac
  fi
  echo "mutate: $file:$line: $word -> $new: $verdict"
  cp ../original "$file"
done < <(sites)
echo "mutate: $count mutants, $escaped escaped"
[ "$count" -gt 0 ] && [ "$escaped" = 0 ]
