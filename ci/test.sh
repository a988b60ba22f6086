#!/usr/bin/env bash
# The README's test command: the real machine, the simulated one, loom, and the examples in the docs.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo test --workspace
