#!/usr/bin/env bash
# The fast paths of put and get, as the compiler leaves them: no read-modify-write and no fence.
# usage: ci/deep.sh assembly [--show]   (x86_64 only; --show prints the two functions)
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ "$(uname -m)" != x86_64 ]; then
  echo "assembly: SKIPPED: the check knows x86_64 only"
  exit 0
fi
out=target/assembly
mkdir -p "$out"
asm=$PWD/$out/fast_paths.s
cargo rustc --quiet --release -p cantina --example fast_paths --target-dir "$out" -- --emit "asm=$asm" -C debuginfo=0 -C codegen-units=1
# A function's lines, without directives and labels.
body() { sed -n "/^$1:/,/^\.Lfunc_end/p" "$asm" | grep -vE '^\s*\.|:$' | sed 's/\s*#.*//'; }
bad=0
for function in salsa_put salsa_get; do
  code=$(body "$function")
  count=$(wc -l <<<"$code")
  [ "$count" -gt 5 ] || { echo "assembly: $function is not there"; bad=1; continue; }
  [ "${1:-}" != --show ] || printf '%s:\n%s\n' "$function" "$code"
  # xchg locks whenever one of its operands is memory.
  if found=$(grep -nE '\block\b|\b[ms]fence\b|\bxchg\w*\b.*\(|\bcpuid\b' <<<"$code"); then
    printf 'assembly: %s has\n%s\n' "$function" "$found"
    bad=1
  else
    echo "assembly: $function: $count instructions with its calls to slower paths, none locked, no fence"
  fi
done
[ "$bad" = 0 ]
