#!/usr/bin/env bash
# Whether the program works, not how fast: every registered pool once, on both machines; a record and a page, written and read back.
# With the program that the tests have built. Numbers are ci/deep/bench.sh's.
set -euo pipefail
cd "$(dirname "$0")/.."
out=target/ci-smoke
rm -rf "$out"
cargo test --quiet --workspace --no-run
cantina() { "${CARGO_TARGET_DIR:-target}/debug/cantina" "$@"; }
cantina list
cantina bench throughput --quick --shape 1P/1C --repetitions 1 --tasks 2000 --allocator system --out "$out/real"
cantina report "$out/real/record.json" --out "$out/again"
test -s "$out/real/report.html" && cmp "$out/real/report.html" "$out/again/report.html"
cantina sim throughput --machine 2x2 --shape 2P/2C --tasks 20 --seeds 1 --out "$out/simulated"
test -s "$out/simulated/report.html"
cantina check salsa --seconds 2
# The examples, small. They check what comes out themselves.
for example in "bank" "crawler" "fib" "ddb" "mark 100000"; do
  # shellcheck disable=SC2086
  timeout 60 "${CARGO_TARGET_DIR:-target}"/debug/examples/${example%% *} ${example#"${example%% *}"}
done
