#!/usr/bin/env bash
# The real-machine tests under a sanitizer. Needs a nightly toolchain; says so and passes where there is none.
# usage: ci/deep.sh sanitize address|thread
set -euo pipefail
cd "$(dirname "$0")/../.."
kind=$1
if ! cargo +nightly --version >/dev/null 2>&1; then
  echo "sanitize: SKIPPED $kind: no nightly toolchain"
  exit 0
fi
target=$(rustc +nightly -vV | sed -n 's/^host: //p')
case $target in
  x86_64-unknown-linux-gnu | aarch64-unknown-linux-gnu) ;;
  *) echo "sanitize: SKIPPED $kind: not tried on $target"; exit 0 ;;
esac
# The standard library is not rebuilt, so its crates lack the sanitizer's mark.
export RUSTFLAGS="-Zsanitizer=$kind -Cunsafe-allow-abi-mismatch=sanitizer"
[ "$kind" = address ] || RUSTFLAGS+=" --cfg cantina_tsan"
export CARGO_TARGET_DIR=$PWD/target/sanitize-$kind
# The thread sanitizer sees the processor's fences, not the kernel's; the other takes the path that everybody takes.
[ "$kind" = address ] || export CANTINA_FENCE=symmetric
export TSAN_OPTIONS="halt_on_error=1 suppressions=$PWD/ci/deep/tsan.txt"
export ASAN_OPTIONS="detect_leaks=1"
# Suppressions go by the names of functions, inlined ones too: line tables do not have them.
export CARGO_PROFILE_DEV_DEBUG=full
# Without, the thread sanitizer takes three times as long.
export CARGO_PROFILE_DEV_OPT_LEVEL=1
# A sanitizer wants every access once, not many schedules: what the gate does will do.
# With --target the build scripts and procedural macros stay plain. loom and the simulator run on one OS thread, and the judge in
# safe code on one: nothing to see there.
run() { cargo +nightly test --quiet --no-fail-fast --target "$target" "$@"; }
case $kind in
  address) run --tests -p cantina-machine -p cantina -p cantina-lab ;;
  thread)
    run --tests -p cantina-machine -p cantina
    run -p cantina-lab --test conformance
    ;;
esac
