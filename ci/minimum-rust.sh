#!/usr/bin/env bash
# What ships builds on the oldest Rust that Cargo.toml promises. Says so and passes where rustup cannot get that toolchain.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
if ! cargo "+$version" --version >/dev/null 2>&1 && ! rustup toolchain install "$version" --profile minimal >/dev/null 2>&1; then
  echo "minimum-rust: SKIPPED: no toolchain $version"
  exit 0
fi
CARGO_TARGET_DIR=$PWD/target/minimum-rust cargo "+$version" check --quiet
