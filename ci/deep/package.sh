#!/usr/bin/env bash
# What would be published builds from its package alone.
# Cargo unpacks the packages that the others need under its home, by name and version, and does not look whether they have changed
# since (rust-lang/cargo's registry/src): so it gets a home where nothing is unpacked yet, and what was downloaded.
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p target
work=$(mktemp -d "$PWD/target/package.XXXXXX")
trap 'rm -rf "$work"' EXIT
home=${CARGO_HOME:-$HOME/.cargo}
mkdir -p "$work/home/registry"
for kept in "$home"/{config,config.toml,credentials.toml,git,registry/index,registry/cache}; do
  [ ! -e "$kept" ] || ln -s "$kept" "$work/home/${kept#"$home/"}"
done
libraries=(cantina-machine cantina-derive cantina cantina-sim cantina-check cantina-record cantina-lab)
CARGO_HOME=$work/home CARGO_TARGET_DIR=$work/target cargo package --quiet --allow-dirty "${libraries[@]/#/--package=}"
