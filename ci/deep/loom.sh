#!/usr/bin/env bash
# The scenarios of a module on every schedule there is: no bound on preemptions, none on time. Long ones take hours.
# usage: ci/deep.sh loom MODULE
set -euo pipefail
cd "$(dirname "$0")/../.."
: "${1:?loom which module? handoff, reclaim, salsa, ...}"
CANTINA_EFFORT=deep cargo test --release -p cantina-on-loom --test scenarios -- "$1::"
