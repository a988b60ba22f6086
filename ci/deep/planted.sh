#!/usr/bin/env bash
# Every planted bug is found, and nothing else: on real threads and on simulated schedules, more of both than in the gate.
set -euo pipefail
cd "$(dirname "$0")/../.."
export CANTINA_EFFORT=${CANTINA_EFFORT:-deep}
cargo test --quiet -p cantina-lab --test planted
cargo test --quiet -p lab-on-sim --test planted --test bugs
echo "planted: all found"
