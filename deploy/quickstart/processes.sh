#!/usr/bin/env bash
# What the quick start runs is started, watched and stopped here. To be sourced. All programs end with the script,
# whatever ends it, but for a SIGKILL.

logs=""  # The folder of the logs; the script sets it before it starts anything.
ready="" # Not empty once all is ready: from then on it is a success to be stopped by a signal.
step=""  # The command that attend waits for.
names=()
pids=()
commands=() # Each in a form that eval takes.
begun=()    # When each was started, in seconds of the script's time.

# start NAME COMMAND... runs a program in the background, with a log. Its own process group keeps a Ctrl-C at the
# terminal away from it, so that finish can stop one after another.
start() {
  local name=$1
  shift
  names+=("$name")
  commands+=("$(printf '%q ' "$@")")
  launch $((${#names[@]} - 1))
}

# launch I starts program number I, whose log begins anew unless it is started again.
launch() {
  local log="$logs/${names[$1]}.log"
  [[ -n $ready ]] || : >"$log"
  set -m
  eval "exec ${commands[$1]}" >>"$log" 2>&1 </dev/null &
  set +m
  pids[$1]=$!
  begun[$1]=$SECONDS
}

# attend NAME COMMAND... runs a command to its end, with a log. A signal does not have to wait for that end.
attend() {
  local name=$1 status=0
  shift
  set -m
  "$@" >"$logs/$name.log" 2>&1 </dev/null &
  set +m
  step=$!
  wait "$step" || status=$?
  step=""
  ((status == 0)) || fail "$name" "$name went wrong"
}

# fail NAME WHAT ends the script because of a program or command.
fail() {
  echo "quickstart: $2; the end of $logs/$1.log:" >&2
  tail -n 15 "$logs/$1.log" >&2
  exit 1
}

# watch fails when a program has ended by itself. Once all is ready it starts the program again instead, as a service
# manager would: the others go on meanwhile. One that ends again within seconds is left to the user.
watch() {
  local i
  for i in "${!pids[@]}"; do
    kill -0 "${pids[i]}" 2>/dev/null && continue
    [[ -n $ready ]] || fail "${names[i]}" "${names[i]} has ended"
    if ((SECONDS - begun[i] < 5)); then
      echo "quickstart: ${names[i]} has ended again and stays down; its log is $logs/${names[i]}.log, its command: ${commands[i]}" >&2
      unset "pids[i]"
    else
      echo "quickstart: ${names[i]} has ended and is started again" >&2
      launch "$i"
    fi
  done
}

# await NAME COMMAND... waits until a command succeeds, which shows that the program NAME is ready.
await() {
  local name=$1 deadline=$((SECONDS + 60))
  shift
  until "$@" >/dev/null 2>&1; do
    watch
    ((SECONDS < deadline)) || fail "$name" "$name is not ready after 60 s"
    sleep 0.1
  done
}

# stop PID ends a program, by force if it takes too long. -PID stands for a process group.
stop() {
  local deadline=$((SECONDS + 25))
  kill -TERM -- "$1" 2>/dev/null || return 0
  while kill -0 -- "$1" 2>/dev/null; do
    if ((SECONDS >= deadline)); then
      echo "quickstart: process $1 does not stop, so it is killed" >&2
      kill -KILL -- "$1" 2>/dev/null || true
      break
    fi
    sleep 0.1
  done
}

# finish stops everything, what was started last first.
finish() {
  local status=$? i
  trap '' HUP INT TERM
  if [[ -n $step ]]; then
    stop "-$step"
  fi
  if ((${#pids[@]})); then
    echo "Stopping."
    for ((i = ${#names[@]} - 1; i >= 0; i--)); do
      [[ -z ${pids[i]:-} ]] || stop "${pids[i]}"
    done
  fi
  if [[ -n $ready ]] && ((status > 128)); then
    status=0
  fi
  exit "$status"
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
