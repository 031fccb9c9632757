#!/usr/bin/env bash
# Builds Pointsman and runs it with two demo servers and a read/write split, until Ctrl-C. docs/quickstart.md tells more.
#
# Environment:
#   POINTSMAN_DEMO_PORT_SHIFT  is added to all ports, for when one is taken (0).
#   POINTSMAN_DEMO_DIR         where data and logs are kept, one folder for each gateway port (.pointsman in the clone).
#   POINTSMAN_DEMO_BACKENDS    mariadb or memory (mariadb where it is installed).
#
# Exit status: 0 stopped after all was ready; 1 something failed; 2 could not start as asked; 129, 130, 143 stopped by
# a signal before all was ready.
set -euo pipefail
umask 077
cd "$(dirname "$0")/../.."
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" # Debian has mariadbd there, which is not in a user's PATH.

# shellcheck source=deploy/quickstart/processes.sh
source deploy/quickstart/processes.sh
# shellcheck source=deploy/quickstart/mariadb.sh
source deploy/quickstart/mariadb.sh

port_shift=${POINTSMAN_DEMO_PORT_SHIFT:-0}
base=${POINTSMAN_DEMO_DIR:-$PWD/.pointsman}
backends=${POINTSMAN_DEMO_BACKENDS:-}
# What is set for other servers must not reach those of the demo.
for variable in ${!POINTSMAN_@}; do
  unset "$variable"
done

# refuse ends the script because it can't start as asked.
refuse() {
  echo "quickstart: $*" >&2
  exit 2
}

[[ $port_shift =~ ^[0-9]{1,5}$ ]] || refuse "POINTSMAN_DEMO_PORT_SHIFT is \"$port_shift\"; give a number such as 1000"
port_shift=$((10#$port_shift))
gateway=$((6033 + port_shift)) gateway_admin=$((6034 + port_shift))
decision=$((7080 + port_shift)) decision_admin=$((7081 + port_shift))
primary=$((6101 + port_shift)) replica=$((6102 + port_shift))
((replica <= 65535)) || refuse "POINTSMAN_DEMO_PORT_SHIFT is $port_shift; the highest port is 65535, so give at most $((65535 - 6102))"

# accepts PORT says whether someone listens there.
accepts() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# responds PORT PATH says whether an HTTP page has status 200.
responds() (
  exec 3<>"/dev/tcp/127.0.0.1/$1"
  printf 'GET %s HTTP/1.0\r\n\r\n' "$2" >&3
  read -r -t 5 _ status _ <&3
  [[ $status == 200 ]]
)

taken=""
for use in "$gateway gateway" "$gateway_admin admin pages of the gateway" "$decision decision server" \
  "$decision_admin admin pages of the decision server" "$primary demo primary" "$replica demo replica"; do
  if accepts "${use%% *}"; then
    taken="$taken, ${use%% *} (${use#* })"
  fi
done
if [[ -n $taken ]]; then
  refuse "another program listens on port ${taken#, }; is the demo running already? Stop that program, or move all ports of the demo: POINTSMAN_DEMO_PORT_SHIFT=$((port_shift + 1000)) make run"
fi

for program in go make; do
  command -v "$program" >/dev/null || refuse "$program is not installed; the build needs make and Go 1.26 (https://go.dev/dl/)"
done
case $backends in
"") if has_mariadb; then backends=mariadb; else backends=memory; fi ;;
mariadb) has_mariadb || refuse "MariaDB is not installed; on Debian: apt-get install mariadb-server" ;;
memory) ;;
*) refuse "POINTSMAN_DEMO_BACKENDS is \"$backends\"; give mariadb or memory" ;;
esac

mkdir -p "$base/$gateway/logs"
state=$(cd "$base/$gateway" && pwd)
logs=$state/logs

echo "Building; the first time takes minutes."
attend build make build
if [[ $backends == memory ]]; then
  attend build-demo env CGO_ENABLED=0 go -C deploy/demo build -o "$PWD/bin/" ./cmd/pointsman-demo
fi

if [[ $backends == mariadb ]]; then
  echo "Starting a MariaDB primary and a replica."
  start_mariadb "$state/mariadb" "$primary" "$replica"
else
  echo "Starting two servers in memory, which forget all at their end (with MariaDB installed: a primary and a replica)."
  start demo bin/pointsman-demo --primary "127.0.0.1:$primary" --replica "127.0.0.1:$replica"
  await demo accepts "$primary"
  await demo accepts "$replica"
fi

echo "Starting the decision server and the gateway."
start decision bin/pointsman serve --listen "127.0.0.1:$decision" --admin "127.0.0.1:$decision_admin" --data-dir "$state/decision"
# The first statements shall go by the rules on a busy machine, too, which may take longer than 5 ms to decide.
start gateway bin/pointsman-gateway --listen "127.0.0.1:$gateway" --admin "127.0.0.1:$gateway_admin" --decision-timeout 1s \
  --decision "127.0.0.1:$decision" --state-dir "$state/gateway"

# The copy is the user's: it is made once, with the ports in use.
split=$state/split.yaml
if [[ ! -e $split ]]; then
  text=$(<deploy/quickstart/split.yaml)
  text=${text//6101/$primary}
  printf '%s\n' "${text//6102/$replica}" >"$split"
fi
ctl=(bin/pointsmanctl --server "127.0.0.1:$decision")
await decision "${ctl[@]}" generations
current=$("${ctl[@]}" generations --limit 1 | awk 'NR == 2 { print $1 }')
if [[ -z $current ]]; then
  "${ctl[@]}" publish --expected-generation 0 --author quickstart --note "read/write split" "$split"
  current=1
else
  echo "Generation $current is published already and stays; to start afresh, stop this and remove $state."
fi
await decision responds "$decision_admin" /readyz
await gateway responds "$gateway_admin" /readyz

command -v mariadb >/dev/null && client="mariadb --skip-ssl" || client=mysql
if ((port_shift == 0)); then
  ctl=(bin/pointsmanctl)
fi
cat <<TEXT

READY after $SECONDS s. Connect with any MySQL client (user demo, password demo), for instance:

  $client -h 127.0.0.1 -P $gateway -u demo -pdemo demo

Try there:

  SELECT @@server_id;                  -- 2: reads go to the replica
  SELECT @@server_id FOR UPDATE;       -- 1: locking reads go to the primary, and so do writes:
  INSERT INTO notes (text, written_by) VALUES ('hello', @@server_id);
  SELECT * FROM notes;                 -- written by 1, read from 2
  BEGIN; SELECT @@server_id; COMMIT;   -- 1: a transaction stays on its server

Stay connected, and in another terminal send all reads to the primary; the next SELECT @@server_id gives 1:

  ${ctl[*]} get | sed 's/destination_hostgroup: 20/destination_hostgroup: 10/' | ${ctl[*]} publish -
  ${ctl[*]} rollback $current

Ask why a statement goes where it goes:

  ${ctl[*]} route --user demo "SELECT * FROM notes FOR UPDATE"

The configuration to edit and publish: $split
Metrics: http://127.0.0.1:$gateway_admin/metrics and http://127.0.0.1:$decision_admin/metrics. Logs: $logs
Ctrl-C stops everything.
TEXT
ready=yes
while sleep 0.5; do
  watch
done
