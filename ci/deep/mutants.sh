#!/usr/bin/env bash
# The collection of planted bugs: each of mutants/*.patch is applied to a copy of the tree, and the tool that it names has to find it.
# mutate.sh is the other half: every ordering and fence of the library, weakened one at a time.
# usage: ci/deep.sh mutants [--seconds N] [--first K] [NAME|PART...]   (salsa: all that begin with salsa-)
#   --seconds: start none after so long. Which one is first then depends on the commit, so that all get their turn; --first says it.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds= first=
names=()
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=$2; shift 2 ;;
    --first) first=$2; shift 2 ;;
    -*) echo "mutants: no option $1"; exit 2 ;;
    *)
      if [ -f "mutants/$1.patch" ]; then names+=("$1")
      else mapfile -t -O ${#names[@]} names < <(cd mutants && ls "$1"-*.patch 2>/dev/null | sed 's/\.patch$//' | LC_ALL=C sort)
      fi
      shift
      ;;
  esac
done
[ ${#names[@]} -gt 0 ] || mapfile -t names < <(cd mutants && ls *.patch | sed 's/\.patch$//' | LC_ALL=C sort)
commit=$(git rev-parse --short=6 HEAD)
[ -n "$first" ] || first=$([ -n "$seconds" ] && echo $((16#$commit % ${#names[@]})) || echo 0)
# Four times what the gate tries: as much as each of them takes to be found, and more. What is not found so is tried five times as long.
export CANTINA_EFFORT=${CANTINA_EFFORT:-4} CANTINA_FIRST_FAILURE=yes
source ci/deep/copy.sh

field() { sed -n "/^--- /q; s/^$1: //p" "mutants/$2.patch"; } # name, mutant
run() { timeout 300 cargo test --quiet "$@" >"$log" 2>&1; }
# Builds the test that these arguments run. How long that takes is no matter of the mutant.
build() {
  local arguments=()
  while [ $# -gt 0 ] && [ "$1" != -- ]; do arguments+=("$1"); shift; done
  cargo test --quiet "${arguments[@]}" --no-run >"$log" 2>&1
}
bad() { echo "mutants: $1: $2"; failures=$((failures + 1)); }

failures=0
# All of them still apply, also those that there is no time for.
for name in "${names[@]}"; do
  [ -f "mutants/$name.patch" ] || { echo "mutants: no mutants/$name.patch"; exit 2; }
  patch --strip=1 --dry-run --silent --fuzz=1 <"mutants/$name.patch" >"$log" 2>&1 || { bad "$name" 'DOES NOT APPLY'; cat "$log"; }
  [ -n "$(field test "$name")" ] || bad "$name" 'names no test'
  case $(field tool "$name") in schedules | tso | loom | progress) ;; *) bad "$name" 'names no tool' ;; esac
done
[ "$failures" = 0 ] || exit 1

declare -A sound=()
# Whether the tests pass without a mutant.
is_sound() {
  [ -n "${sound[$*]:-}" ] || { build "$@" && run "$@" && sound[$*]=yes; } || { cat "$log"; echo "mutants: the tests fail without a mutant: $*"; exit 1; }
}

count=0 left=()
for index in "${!names[@]}"; do
  name=${names[(index + first) % ${#names[@]}]}
  if [ -n "$seconds" ] && [ $SECONDS -ge "$seconds" ]; then left+=("$name"); continue; fi
  begin=$SECONDS
  read -ra test <<<"$(field test "$name")"
  tool=$(field tool "$name") says=$(field says "$name")
  is_sound "${test[@]}"
  count=$((count + 1))
  patch --strip=1 --silent --fuzz=1 <"mutants/$name.patch"
  if ! build "${test[@]}"; then bad "$name" 'DOES NOT BUILD'; cat "$log"
  else
    run "${test[@]}" && code=0 || code=$?
    # The scenarios of a part share their time, and on a busy machine it is short.
    [ "$code" != 0 ] || { CANTINA_EFFORT=20 run "${test[@]}" && code=0 || code=$?; }
    case $code in
      0) bad "$name" "ESCAPED $tool" ;;
      124) bad "$name" 'NO VERDICT IN TIME' ;;
      *)
        if [ -n "$says" ] && ! grep --quiet --fixed-strings -- "$says" "$log"; then
          bad "$name" "FOUND AS SOMETHING ELSE than \"$says\""
        # Without store buffers a matter of fences is none.
        elif [ "$tool" = tso ] && ! CANTINA_MEMORY=sequential run "${test[@]}"; then bad "$name" 'FOUND WITHOUT STORE BUFFERS'
        else echo "mutants: $name: found by $tool, $((SECONDS - begin)) s"
        fi
        ;;
    esac
  fi
  patch --strip=1 --silent --fuzz=1 --reverse <"mutants/$name.patch"
done
[ ${#left[@]} = 0 ] || echo "mutants: no time for ${left[*]}"
echo "mutants: from number $first on, $count of ${#names[@]} tried, $failures not found"
[ "$failures" = 0 ]
