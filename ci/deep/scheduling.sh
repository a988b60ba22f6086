#!/usr/bin/env bash
# The scheduler with a million of each thing: units, timed waits, links of a chain; random graphs of 100 to 10,000 operations, nested ones among
# them, on thousands of schedules; and its experiments with 32 simulated workers.
# usage: ci/deep.sh scheduling [SEED]   (of the graphs)
set -euo pipefail
cd "$(dirname "$0")/../.."
seed=${1:-$(date +%s)}
export CANTINA_EFFORT=deep
cargo test --quiet --release -p cantina --test scheduler_large --test footprint -- --include-ignored
echo "scheduling: graphs from seed $seed on"
CANTINA_SEED=$seed cargo test --quiet --release -p cantina-on-sim --test graphs
cargo test --quiet --release -p lab-on-sim --test scheduling
