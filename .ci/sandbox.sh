# Starts and stops the sandbox in a process group of its own, which is signalled only by its id.

# Prints the first of five consecutive free ports.
free_ports() {
  local first port free
  for first in $(seq 18440 10 18940); do
    free=yes
    for port in $(seq "$first" $((first + 4))); do
      if listens "$port"; then free=no; fi
    done
    if [ "$free" = yes ]; then
      printf '%s' "$first"
      return 0
    fi
  done
  return 1
}

listens() {
  (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null || (: <"/dev/tcp/::1/$1") 2>/dev/null
}

# Starts the README's command and waits for endpoints.json, which is written last.
start_sandbox() {
  setsid "${deno[@]}" task start >"$logs/sandbox-$(now_ms).log" 2>&1 &
  sandbox_pid=$!
  for _ in $(seq 600); do
    [ -f "$SANDBOX_DIR/endpoints.json" ] && return 0
    kill -0 "$sandbox_pid" 2>/dev/null || break
    sleep 0.1
  done
  printf 'The sandbox is not ready.\n'
  tail -n 40 "$logs"/sandbox-*.log
  return 1
}

# Sends SIGTERM. All processes must end within ten seconds.
stop_politely() {
  [ -n "$sandbox_pid" ] || return 1
  kill -TERM -- "-$sandbox_pid" || return 1
  for _ in $(seq 100); do
    if ! kill -0 -- "-$sandbox_pid" 2>/dev/null; then
      sandbox_pid=
      [ ! -f "$SANDBOX_DIR/endpoints.json" ] && ! listens "$SANDBOX_PORT"
      return
    fi
    sleep 0.1
  done
  return 1
}

# end_group PID: sends SIGTERM to the process group, and SIGKILL after three seconds.
end_group() {
  kill -TERM -- "-$1" 2>/dev/null || return 0
  for _ in $(seq 30); do
    kill -0 -- "-$1" 2>/dev/null || return 0
    sleep 0.1
  done
  kill -KILL -- "-$1" 2>/dev/null
}
