# Counts each check as passed or failed. Its output goes to a file, and the end of it is printed on failure.

# check SECONDS WHAT COMMAND...: one command under a time limit.
check() {
  local seconds=$1 what=$2
  shift 2
  check_here "$what" limited "$seconds" "$@"
}

# check_again SECONDS WHAT COMMAND...: the same for processes that start and end beside each other. A failure is shown, and
# the command is run once more, for the reason of pass_alone.
check_again() {
  local seconds=$1 what=$2
  shift 2
  check_here "$what" twice "$seconds" "$@"
}

twice() {
  local first=$logs/first-time.log
  limited "$@" >"$first" 2>&1 && return
  { printf 'failed, and is run again:\n'; tail -n 40 "$first" | sed 's/^/    /'; } >&3
  limited "$@"
}

# ends_with STATUS COMMAND...: succeeds if the command ends with this exit status.
ends_with() {
  local wanted=$1 status=0
  shift
  "$@" || status=$?
  [ "$status" -eq "$wanted" ] || { printf 'exit status %d instead of %d\n' "$status" "$wanted"; return 1; }
}

# check_here WHAT FUNCTION...: a function that runs in this shell and limits its own time.
check_here() {
  local what=$1 log started
  shift
  log=$logs/$(printf '%s' "$what" | tr -cs 'A-Za-z0-9' '-').log
  started=$(now_ms)
  if "$@" >"$log" 2>&1; then
    passed=$((passed + 1))
    printf 'ok      %6d ms  %s\n' "$(($(now_ms) - started))" "$what"
  else
    count_failure "$what" "$log"
  fi
}

# limited SECONDS COMMAND...: never beyond the last second of the run.
limited() {
  local seconds=$1 left=$((last_second - SECONDS))
  shift
  if [ "$left" -lt 1 ]; then
    printf 'No time is left for this.\n'
    return 1
  fi
  # In the background, so that this shell handles signals immediately.
  timeout -k 5 $((seconds < left ? seconds : left)) "$@" &
  running=$!
  wait "$running"
  local status=$?
  running=
  return "$status"
}

count_failure() {
  failed=$((failed + 1))
  printf 'FAILED             %s\n' "$1"
  [ $# -lt 2 ] || tail -n 40 "$2" | sed 's/^/    /'
}

# The README must contain the commands that this run uses.
readme_says() {
  check 5 "README says: $1" grep -qF -- "$1" README.md
}

# run_tests SECONDS COMMAND...: adds up the counts of every `deno test` in the output.
run_tests() {
  local seconds=$1 log=$logs/tests.log status=0 summaries count
  shift
  limited "$seconds" "$@" >"$log" 2>&1 || status=$?
  summaries=$(grep -E '^(ok|FAILED) \| [0-9]+ passed' "$log")
  printf '%s\n' "${summaries:-no summary of deno test}" | sed 's/^/tests: /'
  count=$(sum_before passed "$summaries")
  passed=$((passed + count))
  if [ "$(sum_before ignored "$summaries")" -gt 0 ]; then count_failure "no test is left out" "$log"; fi
  count=$(sum_before failed "$summaries")
  [ "$count" -eq 0 ] || sed -n '/^ ERRORS/,$p' "$log" | tail -n 200 | tee "$logs/errors.log"
  if [ "$count" -gt 0 ] && pass_alone "$log"; then
    passed=$((passed + count))
    return
  fi
  failed=$((failed + count))
  # A test run that fails without a failed test: types, an exception outside tests, the time limit.
  if [ "$status" -ne 0 ] && [ "$count" -eq 0 ]; then count_failure "task test ends well (status $status)" "$log"; fi
  if [ "$status" -eq 0 ] && [ -z "$summaries" ]; then count_failure "task test runs tests" "$log"; fi
}

# pass_alone LOG: runs the modules that failed, in a test or outside of their tests, once more, alone, because on a virtual
# machine that stands still for seconds requests end late. At most three, and it says which.
pass_alone() {
  local modules
  mapfile -t modules < <(sed -nE -e 's/^(\.\/\.data\/tests\/\S+\.test\.ts) => .* FAILED .*/\1/p' \
    -e 's/^Uncaught error from (\S+) FAILED$/\1/p' "$1" | sort -u)
  [ "${#modules[@]}" -ge 1 ] && [ "${#modules[@]}" -le 3 ] || return 1
  printf 'tests: failed beside others, run again alone: %s\n' "${modules[*]}"
  grep -E ' \.\.\. .*FAILED|^Uncaught error from ' "$1" | sort -u
  limited 300 env __IS_WSL_TEST__=1 "${deno[@]}" test --no-check --no-prompt --allow-net --allow-read --allow-write \
    --allow-env --allow-run --allow-sys "${modules[@]}" >"$logs/tests-again.log" 2>&1 || return 1
  printf 'tests: %s\n' "$(grep -E '^ok \| [0-9]+ passed' "$logs/tests-again.log")"
}

# sum_before WORD TEXT: the sum of the numbers before the word. Steps are not counted.
sum_before() {
  grep -oE "[0-9]+ $1" <<<"$2" | awk '{ sum += $1 } END { print sum + 0 }'
}

now_ms() {
  date +%s%3N
}

# The command of docs/operations/deployment.md, with an empty cache.
production_downloads() {
  local cache
  cache=$(mktemp -d "${TMPDIR:-/tmp}/ci-deno.XXXXXX") || return 1
  DENO_DIR=$cache limited 120 "${deno[@]}" cache --frozen --lock=production.lock src/platform/process/main.ts &&
    [ -d "$cache/npm/registry.npmjs.org/hono" ] &&
    ! ls "$cache/npm/registry.npmjs.org" | grep -E '^(axe-core|deno-std|fast-check|playwright-core)$'
  local status=$?
  rm -rf "$cache"
  return "$status"
}

# Prints the first seed of a simulation: new for each commit and the same if one is checked again. Random without git.
seed_of_commit() {
  local commit
  commit=$(git rev-parse --verify --quiet HEAD 2>/dev/null) || commit=$(od -An -N4 -tx4 /dev/urandom | tr -d ' ')
  printf '%d' $((0x${commit:0:8} % 2000000000)) # the largest first seed that the simulation accepts
}
