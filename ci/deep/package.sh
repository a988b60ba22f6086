#!/usr/bin/env bash
# What would be published builds from its package alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
libraries=(cantina-machine cantina cantina-sim cantina-check cantina-record cantina-lab)
CARGO_TARGET_DIR=$PWD/target/package-check cargo package --quiet --allow-dirty "${libraries[@]/#/--package=}"
