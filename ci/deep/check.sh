#!/usr/bin/env bash
# Random programs on real threads and on simulated schedules, judged, from seeds that nobody has tried.
# usage: ci/deep.sh check POOL|all SECONDS
set -euo pipefail
cd "$(dirname "$0")/../.."
pool=${1:-all} seconds=${2:-60}
[ "$pool" != all ] || pool=
cargo run --quiet --release -- check $pool --seconds "$seconds"
