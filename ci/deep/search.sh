#!/usr/bin/env bash
# A longer search on the simulated machine, from seeds that nobody has tried: the conformance suite, crashes at every step, those of to-do
# trees at all combinations of steps, random graphs of operations, then what else has seeds.
# usage: ci/deep.sh search [SECONDS [SEED]]   (of the first part; the others take two minutes)
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-150} seed=${2:-$(date +%s)}
echo "search: $seconds s from seed $seed on"
cargo run --quiet --release -- check --on sim --seconds "$seconds" --seed "$seed"
CANTINA_SEED=$seed CANTINA_EFFORT=4 cargo test --quiet -p lab-on-sim --test crashes
CANTINA_SEED=$seed CANTINA_EFFORT=deep cargo test --quiet -p cantina-on-sim --test todo_tree --test do_all
CANTINA_SEED=$seed CANTINA_EFFORT=2 cargo test --quiet -p cantina-on-sim --test graphs
CANTINA_SEED=$seed CANTINA_EFFORT=10 cargo test --quiet -p lab-on-sim --test fast_path
CANTINA_EFFORT=10 cargo test --quiet -p cantina-on-sim --test wait_free
