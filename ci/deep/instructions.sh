#!/usr/bin/env bash
# How many instructions a put and a get take, single-threaded, in the steady state: the difference of two runs of different length, so that
# starting up does not count. Needs valgrind; says so and passes where there is none.
# rooms: a room that is entered and left, counted: one of four, which are not in one word; beside a lock of parking_lot that is taken and released. Their times: `cargo run --release -p cantina
# --example enter_exit`.
# pools: what each registered pool takes, beside the table that simulated runs are billed by; fails where that is wrong by more than a fifth. The
# pair is as long as it is in a loop of both, and divided as calls that are not inlined are; batches are counted in such calls, and so is what
# a pool takes that is never empty. What the C library
# does is left out. probes: the loops that prices are measured with.
# worker: one end that puts and gets. salsa: two ends, each called through a function. claims: a worker without an asymmetric fence.
# 60 is the most that either of the first two may take, and met: 54 and 59. 40 was the goal, and is missed: of the 59 the loop and its calls are 13, the
# calls for the next line, of every seven, 12.
# usage: ci/deep.sh instructions [MOST [MOST_OF_ROOMS]]   (fails when SALSA's pairs take more, or that of rooms)
set -euo pipefail
cd "$(dirname "$0")/../.."
most=${1:-60}
most_of_rooms=${2:-100}
if ! command -v valgrind >/dev/null; then
  echo "instructions: SKIPPED: no valgrind"
  exit 0
fi
cargo build --quiet --release -p cantina --example fast_paths --example enter_exit
cargo build --quiet --release -p cantina-lab --example pairs
count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "target/release/examples/$1" "$2" "$3" 2>&1 | sed -n 's/.*Collected : //p'
}
bad=0
# EXAMPLE WHAT [MOST]
pair() {
  local few many pair
  few=$(count "$1" "$2" 100000) many=$(count "$1" "$2" 1100000)
  pair=$(awk -v a="$few" -v b="$many" 'BEGIN { printf "%.1f", (b - a) / 1000000 }')
  echo "instructions: $2: $pair a pair, the loop included"
  [ -z "${3:-}" ] || awk -v pair="$pair" -v most="$3" 'BEGIN { exit !(pair <= most) }' || { echo "instructions: more than $3"; bad=1; }
}
pair fast_paths worker "$most"
pair fast_paths salsa "$most"
pair fast_paths claims
pair enter_exit rooms "$most_of_rooms"
pair enter_exit counted
pair enter_exit lock

out=$(mktemp -d)
trap 'rm -r "$out"' EXIT
tasks=6400
# HOW FUNCTION: a line for each pool: its name, what it is said to take, what FUNCTION took for each task
functions() {
  valgrind --tool=callgrind --callgrind-out-file="$out/count" --compress-strings=no --compress-pos=no --dump-after=pool_is_done \
    --toggle-collect="*$2*" target/release/examples/pairs "$1" "$tasks" >"$out/said" 2>/dev/null
  local part=0 line
  while read -r line; do
    part=$((part + 1))
    # What stands behind `calls` is counted where it happened.
    awk -v line="$line" -v tasks="$tasks" '/^ob=/ { foreign = /libc/ } /^calls=/ { getline; next } /^[0-9]/ && !foreign { sum += $2 }
      END { printf "%s %.1f\n", line, sum / tasks }' "$out/count.$part"
  done <"$out/said"
  rm "$out"/count*
}
# WHAT SAID COUNTED
compare() {
  awk -v what="$1" -v said="$2" -v counted="$3" 'BEGIN {
    off = said > counted ? said - counted : counted - said
    wrong = off > counted / 5 && off > 1
    printf "instructions: %s: %.1f, billed %d%s\n", what, counted, said, wrong ? ": WRONG" : ""
    exit wrong }' || bad=1
}
functions alone take_turns >"$out/alone"
functions calls put_some >"$out/put"
functions calls get_some >"$out/get"
paste -d' ' "$out/alone" "$out/put" "$out/get" >"$out/single"
while read -r name put get pair _ _ _ putting _ _ _ getting; do
  compare "$name: put" "$put" "$(awk "BEGIN { print $pair * $putting / ($putting + $getting) }")"
  compare "$name: get" "$get" "$(awk "BEGIN { print $pair * $getting / ($putting + $getting) }")"
done <"$out/single"
# Beside a backlog: divided by the same factor by which calls of one's own are longer.
functions backlogs put_some >"$out/put.backlog"
functions backlogs get_some >"$out/get.backlog"
paste -d' ' "$out/single" "$out/put.backlog" "$out/get.backlog" >"$out/backlog"
while read -r name _ _ pair _ _ _ putting _ _ _ getting _ put get put_counted _ _ _ get_counted; do
  compare "$name: put, backlog" "$put" "$(awk "BEGIN { print $put_counted * $pair / ($putting + $getting) }")"
  compare "$name: get, backlog" "$get" "$(awk "BEGIN { print $get_counted * $pair / ($putting + $getting) }")"
done <"$out/backlog"
functions batches put_some >"$out/put"
functions batches get_some >"$out/get"
while read -r name put _ counted; do compare "$name: put in batches" "$put" "$counted"; done <"$out/put"
while read -r name _ get counted; do compare "$name: get in batches" "$get" "$counted"; done <"$out/get"

# PROBE FUNCTION CONSTANT
turn() {
  local few many said
  said=$(sed -n "s/^const $3: u64 = \([0-9]*\);/\1/p" crates/cantina-lab/src/probe/alone.rs)
  few=$(loop "$1" "$2" 10000) many=$(loop "$1" "$2" 30000)
  compare "probe: $1" "$said" "$(awk "BEGIN { print ($many - $few) / 20000 }")"
}
loop() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect="*$2*" target/release/examples/pairs "$1" "$3" 2>&1 |
    sed -n 's/.*Collected : //p'
}
turn "plain code" plain_code CODE
turn load "alone*loads" LOADS
turn "load, dependent" "alone*chase" CHASE
turn store "alone*store" STORE
turn "fetch-add, alone" "alone*add" ADD
turn "store and full fence" "alone*fence" FENCE
[ "$bad" = 0 ]
