#!/usr/bin/env bash
# Random programs on real threads and on simulated schedules, judged, from seeds that nobody has tried.
# usage: ci/deep.sh check POOL...|all [SECONDS]   (60 unless told otherwise, for all of them together)
set -euo pipefail
cd "$(dirname "$0")/../.."
pools=("$@") seconds=60
[ $# -gt 0 ] || pools=(all)
last=$((${#pools[@]} - 1))
if [[ ${pools[last]} =~ ^[0-9]+$ ]]; then
  seconds=${pools[last]}
  unset "pools[last]"
fi
[ "${pools[*]}" != all ] || pools=()
cargo run --quiet --release -- check ${pools[@]+"${pools[@]}"} --seconds "$seconds"
