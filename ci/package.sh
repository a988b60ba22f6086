#!/usr/bin/env bash
# What would be published builds from its package alone.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo package --quiet --workspace --exclude-lockfile --allow-dirty --exclude cantina-cli \
  --exclude machine-loom --exclude cantina-on-loom --exclude cantina-on-sim --exclude lab-on-sim
