#!/usr/bin/env bash
# The documentation of what ships, warnings denied: private items too, so that links in module docs hold.
set -euo pipefail
cd "$(dirname "$0")/.."
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps --document-private-items
