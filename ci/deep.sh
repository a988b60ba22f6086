#!/usr/bin/env bash
# What searches, or takes long: by hand for what one has touched, and every night. The gate is .ci/run.
#
#   ci/deep.sh STEP [ARGUMENT...]     one step, its script is ci/deep/STEP.sh
#   ci/deep.sh [--since REV]          all of them, for what has changed since REV (main)
#
#   mutate MODULE...     weakens each ordering of a module, drops each fence: its loom scenarios must notice; with 2/5 the second fifth of them
#   loom MODULE...       its scenarios on every schedule, without a bound
#   sanitize KIND        the tests on real threads under the address or the thread sanitizer
#   check POOL... SECONDS  random programs, judged, from a seed that nobody has tried
#   search [SECONDS]     the same for all pools, crashes at every step, graphs of operations
#   scheduling           the scheduler with a million of each thing, graphs of operations, its experiments with 32 simulated workers
#   planted              every planted bug is found, from many seeds
#   mutants [PART...]    bugs that somebody has thought of, mutants/: each is found by the tool it names
#   assembly             SALSA's fast paths have no locked instruction and no fence
#   instructions         what a put and a get take, counted
#   package              what would be published builds from its package alone
#   minimum-rust         it builds on the oldest Rust it promises
#   bench                the experiments of the program, at length
#
# Each step ends with its verdict, and within its limit.
set -uo pipefail
cd "$(dirname "$0")/.."
# Seconds that a step may take.
limit() {
  case $1 in
    mutate | mutants | loom | check) echo 3600 ;;
    *) echo 1800 ;;
  esac
}
# What the bugs of a module are called in mutants/.
parts() {
  case $1 in
    rooms) echo rooms room work ;;
    todo_tree) echo todo-tree max-array do-all ;;
    scheduler) echo scheduler deque ;;
    *) echo "${1//_/-}" ;;
  esac
}
passed=() failed=()
step() {
  local begin=$SECONDS code=0 most
  [ -f "ci/deep/$1.sh" ] || { echo "deep: no step $1"; sed -n '3,22s/^# \{0,1\}//p' "$0"; exit 2; }
  most=$(limit "$1")
  echo "== $*"
  timeout --kill-after=30 "$most" bash "ci/deep/$1.sh" "${@:2}" || code=$?
  [ "$code" != 124 ] || echo "timed out after $most s"
  if [ "$code" = 0 ]; then passed+=("$*"); else failed+=("$*"); fi
  echo "-- $*: $([ "$code" = 0 ] && echo passed || echo FAILED), $((SECONDS - begin)) s"
}
changed() {
  local since=main files modules
  [ "${1:-}" != --since ] || since=$2
  files=$(git diff --name-only "$since" --; git ls-files --others --exclude-standard)
  modules=$(sed -nE 's,^crates/cantina/src/([a-z_]+)(\.rs|/.*),\1,p' <<<"$files" | sort -u | grep -vxE 'lib|pool')
  for module in $modules; do
    step mutate "$module"
    step loom "$module"
    # shellcheck disable=SC2046
    step mutants $(parts "$module")
  done
  if grep -qE '\.(rs|toml)$' <<<"$files"; then
    step sanitize address
    step sanitize thread
    step planted
    step search 300
    step scheduling
    step assembly
    step instructions
    step bench
    step package
    step minimum-rust
  fi
}
case ${1:-} in
  '' | --since) changed "$@" ;;
  -*) sed -n '2,23s/^# \{0,1\}//p' "$0"; exit 2 ;;
  mutate | loom)
    [ $# -gt 1 ] || { echo "deep: $1 which module?"; exit 2; }
    modules=() shard=()
    for argument in "${@:2}"; do
      case $argument in */*) shard=("$argument") ;; *) modules+=("$argument") ;; esac
    done
    for module in "${modules[@]}"; do step "$1" "$module" "${shard[@]}"; done
    ;;
  *) step "$@" ;;
esac
[ ${#failed[@]} = 0 ] || printf 'failed: %s\n' "${failed[@]}"
echo "${#passed[@]} passed, ${#failed[@]} failed"
[ ${#failed[@]} = 0 ]
