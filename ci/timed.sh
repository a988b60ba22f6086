#!/usr/bin/env bash
# Cargo runs a program of tests through this when ci/test.sh does: notes how long it took, and each of its tests, in $CANTINA_TIMES.
# usage: ci/timed.sh PROGRAM ARGUMENT...
set -uo pipefail
name=$(basename "$1" | sed 's/-[0-9a-f]*$//')
note=$CANTINA_TIMES/$(basename "$1")
now() { date +%s.%N; }
begin=$(now)
# The standard harness tells how long a test took when it is asked in its unstable way; tests of cantina_effort::trial note it themselves.
if grep --quiet --text 'ensure-time' "$1"; then
  RUSTC_BOOTSTRAP=1 "$@" -Zunstable-options --report-time | tee "$note.out"
else
  "$@" | tee "$note.out"
fi
code=${PIPESTATUS[0]}
awk -v begin="$begin" -v end="$(now)" -v name="$name" 'BEGIN { print end - begin, name }' >"$note.program"
sed -nE "s/^test (.+) \.\.\. .*<([0-9.]+)s>$/\2 $name::\1/p" "$note.out" | tr -s ' ' | sed 's/ - / /' >>"$note.tests"
rm "$note.out"
exit "$code"
