#!/usr/bin/env bash
# The house's formatting.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo fmt --all --check
