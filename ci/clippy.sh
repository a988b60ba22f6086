#!/usr/bin/env bash
# Lints, warnings denied.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo clippy --quiet --workspace --all-targets -- -D warnings
cargo clippy --quiet --package cantina --features derive,tracing --all-targets -- -D warnings
