#!/usr/bin/env bash
# The README's test command: the real machine, the simulated one, loom, and the examples in the docs. All of it, also behind a failure.
# Then the ten tests, and the five programs of tests, that took longest.
set -euo pipefail
cd "$(dirname "$0")/.."
times=$PWD/target/ci/times
mkdir -p "$times" && rm -f "$times"/*
host=$(rustc -vV | sed -n 's/^host: //p' | tr a-z- A-Z_)
export CARGO_TARGET_"$host"_RUNNER="$PWD/ci/timed.sh" CANTINA_TIMES=$times
cargo test --workspace --no-run
echo "-- built after $SECONDS s"
code=0
cargo test --workspace --no-fail-fast || code=$?
# What is there with features only.
cargo test --package cantina --features derive,tracing --test derive --test spans || code=$?
slowest() { cat "$times"/*."$1" | sort -rn | awk -v most="$2" 'NR <= most { printf "-- %6.1f s  %s\n", $1, $2 }'; }
echo "-- the slowest tests"
slowest tests 10
echo "-- the slowest programs of tests"
slowest program 5
exit "$code"
