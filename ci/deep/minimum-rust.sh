#!/usr/bin/env bash
# What ships builds on the oldest Rust that its Cargo.toml promises. Says so and passes where rustup cannot get that toolchain.
set -euo pipefail
cd "$(dirname "$0")/../.."
promised() { sed -n 's/^rust-version = "\(.*\)"/\1/p' "$1"; }
check() { # toolchain, packages
  if ! cargo "+$1" --version >/dev/null 2>&1 && ! rustup toolchain install "$1" --profile minimal >/dev/null 2>&1; then
    echo "minimum-rust: SKIPPED: no toolchain $1"
    return
  fi
  CARGO_TARGET_DIR=$PWD/target/minimum-rust cargo "+$1" check --quiet "${@:2}"
}
check "$(promised crates/cantina/Cargo.toml)" -p cantina --features derive,tracing
check "$(promised Cargo.toml)"
