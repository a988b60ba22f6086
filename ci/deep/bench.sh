#!/usr/bin/env bash
# The README's bench command, into a folder of its own: it has to finish, and to write a record that reads back and a page.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=target/ci-bench
rm -rf "$out"
cargo run --quiet --release -- bench throughput --quick --out "$out"
cargo run --quiet --release -- report "$out/record.json" --out "$out/again"
test -s "$out/report.html" && test -s "$out/again/report.html"
