#!/usr/bin/env bash
# Weakens each ordering and drops each fence of a module, one at a time, in a copy. One of the module's loom scenarios must fail every time,
# unless unobservable.txt says why loom cannot tell: then none may.
# usage: ci/deep/mutate.sh MODULE [SHARD/SHARDS]   (2/5: the second fifth of them; all without)
set -euo pipefail
cd "$(dirname "$0")/../.."
module=${1:?mutate which module? handoff, reclaim, salsa, ...}
IFS=/ read -r shard shards <<<"${2:-1/1}"
export CANTINA_FIRST_FAILURE=yes
source ci/deep/copy.sh

loom() { timeout 300 cargo test --quiet -p cantina-on-loom --test scenarios "$@" >"$log" 2>&1; }
scenarios() { loom -- "$module::"; }
# rooms, rooms::crowds, ...: the scenarios of a part share their time.
parts() { cargo test --quiet -p cantina-on-loom --test scenarios -- --list "$module::" 2>/dev/null | sed -nE 's/^([a-z0-9_:]+)::[a-z0-9_]+: test$/\1/p' | sort -u; }
# What a little does not find: as much as the rarest take, and more. Part by part, or there is no time for it.
longer() {
  local part other code
  for part in $parts; do
    local others=()
    for other in $parts; do [[ $other != "$part"::* ]] || others+=(--skip "$other::"); done
    CANTINA_EFFORT=20 loom -- "$part::" "${others[@]}" || { code=$?; return "$code"; }
  done
}
scenarios || { cat "$log"; echo "mutate: the tests fail without a mutant"; exit 1; }
parts=$(parts)
[ -n "$parts" ] || { echo "mutate: $module has no scenarios"; exit 1; }

# file, line, column, the word, its replacement
sites() {
  find crates/cantina/src -name '*.rs' | grep -E "^crates/cantina/src/$module(\.rs|/)" | LC_ALL=C sort | xargs -r perl -ne '
    sub site { print join("\t", $ARGV, $., $_[0], $_[1], $_[2]), "\n" }
    if (m{^#\[cfg\(test\)\]}) { close ARGV; next }
    unless (m{^\s*(//|use )}) {
      my ($code) = split m{//};
      while ($code =~ m{(?<!:)\b(AcqRel|Acquire|Release)\b}g) {
        site($-[0], $1, $_) for $1 eq "AcqRel" ? qw(Acquire Release) : "Relaxed";
      }
      site($-[0], $&, "()") while $code =~ m{\bfence::full\(\)|\b(machine::)?fence_after_rmw\(\)|\b[\w.]+\.light\(\)}g;
      site($-[0], $&, "Ok::<(), machine::fence::HeavyFailed>(())") while $code =~ m{\b[\w.]+\.heavy\(\)}g;
    }
    close ARGV if eof' | awk -v k="$shard" -v n="$shards" 'NR % n == k % n'
}

# The reason why nobody can notice this mutant, if the list has one.
# file, line, the word, its replacement
reason() {
  local where
  where=$(sed -n "$(($2 > 1 ? $2 - 1 : 1)),$2p" "$1")
  while IFS=$'\t' read -r file text change why; do
    if [ "$file" = "$1" ] && [ "$change" = "$3 -> $4" ] && grep --quiet --fixed-strings -- "$text" <<<"$where"; then
      echo "$why"
      return
    fi
  done <../listed
}
perl -ne 'print join("\t", split /\s+\|\s+/) unless /^\s*(#|$)/' ci/deep/unobservable.txt >../listed

# All of the module that is listed is there.
while IFS=$'\t' read -r file text change why; do
  [[ $file == crates/cantina/src/$module[./]* ]] || continue
  found=no
  while IFS=$'\t' read -r at line _ word new; do
    [ "$at" != "$file" ] || [ "$(reason "$at" "$line" "$word" "$new")" != "$why" ] || found=yes
  done < <(shard=1 shards=1 sites)
  [ "$found" = yes ] || { echo "mutate: unobservable.txt: no such mutant: $file: $text: $change"; exit 1; }
done <../listed

count=0 escaped=0 listed=0
while IFS=$'\t' read -r file line column word new; do
  count=$((count + 1))
  cp "$file" ../original
  why=$(reason "$file" "$line" "$word" "$new")
  case $new in Acquire | Release | Relaxed) code=machine::atomic::Ordering::$new ;; *) code=$new ;; esac
  perl -pi -e "substr(\$_, $column, ${#word}) = q{$code} if \$. == $line" "$file"
  if ! loom --no-run; then verdict='DOES NOT BUILD'; escaped=$((escaped + 1)); cat "$log"
  else
    scenarios && code=0 || code=$?
    [ "$code" != 0 ] || [ -n "$why" ] || { longer && code=0 || code=$?; }
    case $code in
      0)
        if [ -n "$why" ]; then verdict="not to be seen: $why" listed=$((listed + 1))
        else verdict=ESCAPED escaped=$((escaped + 1))
        fi
        ;;
      124) verdict='NO VERDICT IN TIME' escaped=$((escaped + 1)) ;;
      *)
        # One that ends the program says no name.
        name=$(grep --text --only-matching --extended-regexp "$module::[a-z0-9_:]+: FAILED$" "$log" | head -n 1) || true
        verdict="caught${name:+ by ${name%: FAILED}}"
        [ -z "$why" ] || verdict="$verdict, THOUGH LISTED in unobservable.txt" escaped=$((escaped + 1))
        ;;
    esac
  fi
  echo "mutate: $file:$line: $word -> $new: $verdict"
  cp ../original "$file"
done < <(sites)
echo "mutate: $module: $count mutants, $listed not to be seen, $escaped escaped"
[ "$count" -gt 0 ] && [ "$escaped" = 0 ]
