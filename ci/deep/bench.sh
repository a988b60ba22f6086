#!/usr/bin/env bash
# The README's bench command, into a folder of its own: it has to finish, and to write a record that reads back and a page.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=target/ci-bench
rm -rf "$out"
cargo run --quiet --release -- bench throughput --quick --out "$out"
cargo run --quiet --release -- report "$out/record.json" --out "$out/again"
test -s "$out/report.html" && test -s "$out/again/report.html"
# The other experiments, so small that their numbers say nothing.
cargo run --quiet --release -- bench ratios single-producer placement chunk-size capacity tree-height fairness pollers --quick --repetitions 1 --tasks 2000 --out "$out/others"
cargo run --quiet --release -- sim ratios single-producer chunk-size pollers --quick --machine 2x4 --pools salsa --tasks 50 --seeds 1 --out "$out/simulated"
cargo run --quiet --release -- sim throughput --shape 16P/16C --tasks 200 --seeds 1 --out "$out/contended"
cargo run --quiet --release -- bench density --quick --repetitions 2 --out "$out/density"
cargo run --quiet --release -- sim density steps write-all --quick --seeds 1 --out "$out/lemmas"
cargo run --quiet --release -- bench rooms-stack --quick --repetitions 1 --tasks 100000 --allocator system --out "$out/shared"
cargo run --quiet --release -- sim rooms-stack --quick --shape 1P/1C,8P/8C --tasks 7000 --seeds 1 --out "$out/sharing"
cargo run --quiet --release -- sim tree-height fairness --quick --machine 2x4 --tasks 50 --seeds 1 --out "$out/trees"
cargo run --quiet --release -- bench fib ddb tell --quick --repetitions 1 --tasks 1000 --out "$out/schedulers"
cargo run --quiet --release -- sim fib ddb tell --quick --tasks 500 --seeds 1 --out "$out/simulated-schedulers"
test -s "$out/schedulers/report.html" && test -s "$out/simulated-schedulers/report.html"
test -s "$out/others/report.html" && test -s "$out/simulated/report.html" && test -s "$out/trees/report.html"
test -s "$out/shared/report.html" && test -s "$out/sharing/report.html"
test -s "$out/density/report.html" && test -s "$out/lemmas/report.html"
