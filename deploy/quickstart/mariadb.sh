#!/usr/bin/env bash
# Two real servers for the quick start: a MariaDB primary and a read-only replica that follows it by GTID. To be sourced
# after processes.sh.

# has_mariadb says whether all is there that the servers need. They know their administrator by the name of the system's
# account.
has_mariadb() {
  command -v mariadbd && command -v mariadb-install-db && command -v mariadb && id -un
} >/dev/null 2>&1

# start_mariadb DIR PRIMARY_PORT REPLICA_PORT starts both, on the data in DIR, and waits until the replica follows.
start_mariadb() {
  local dir=$1
  if [[ ! -e $dir/complete ]]; then
    rm -rf "$dir" # What an interrupted first start has left.
    mkdir "$dir"
  fi
  start_server "$dir" primary "$2" 1
  start_server "$dir" replica "$3" 2 --read-only
  await primary administer "$dir/primary" --execute="SELECT 1"
  await replica administer "$dir/replica" --execute="SELECT 1"
  if [[ ! -e $dir/complete ]]; then
    fill "$dir" "$2"
  fi
  await replica follows "$dir"
  : >"$dir/complete"
}

# start_server DIR NAME PORT SERVER_ID OPTION... starts one server. The path of its socket is relative to its data,
# because an absolute one may be too long.
start_server() {
  local dir=$1 name=$2 port=$3 id=$4 as=()
  shift 4
  if ((EUID == 0)); then
    as=(--user=root) # It does not run as root unasked.
  fi
  if [[ ! -d $dir/$name ]]; then
    attend "install-$name" install_data "$dir" "$name" ${as[@]+"${as[@]}"}
  fi
  start "$name" mariadbd --no-defaults ${as[@]+"${as[@]}"} --datadir="$dir/$name" --socket=mariadb.sock \
    --pid-file=mariadb.pid --bind-address=127.0.0.1 --port="$port" --skip-name-resolve --server-id="$id" \
    --log-bin=binlog --relay-log=relay --binlog-format=ROW --log-slave-updates --gtid-strict-mode --innodb-buffer-pool-size=32M \
    --innodb-log-file-size=8M --innodb-flush-log-at-trx-commit=2 --max-allowed-packet=64M --secure-file-priv=/dev/null \
    --character-set-server=utf8mb4 --collation-server=utf8mb4_general_ci "$@"
}

# install_data DIR NAME OPTION... makes the data of a new server. The program takes no path with a space.
install_data() (
  cd "$1" || return
  name=$2
  shift 2
  mariadb-install-db --no-defaults "$@" --datadir="./$name" --auth-root-authentication-method=socket \
    --auth-root-socket-user="$(id -un)" --skip-test-db --skip-name-resolve --innodb-log-file-size=8M
)

# administer DATADIR OPTION... is the client, logged in as the administrator of the server on these data.
administer() (
  cd "$1" || return
  shift
  mariadb --no-defaults --skip-ssl --socket=mariadb.sock --user="$(id -un)" --batch --skip-column-names "$@"
)

# fill DIR PRIMARY_PORT makes the demo's data on the new primary and lets the new replica follow.
fill() {
  local dir=$1 port=$2 secret
  secret=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  administer "$dir/primary" <<SQL
CREATE DATABASE demo;
CREATE TABLE demo.notes (id INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(200) NOT NULL, written_by INT NOT NULL);
CREATE USER demo@'127.0.0.1' IDENTIFIED BY 'demo';
GRANT ALL ON demo.* TO demo@'127.0.0.1';
CREATE USER replication@'127.0.0.1' IDENTIFIED BY '$secret';
GRANT REPLICATION SLAVE ON *.* TO replication@'127.0.0.1';
SQL
  administer "$dir/replica" <<SQL
CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = $port, MASTER_USER = 'replication',
  MASTER_PASSWORD = '$secret', MASTER_SSL = 0, MASTER_CONNECT_RETRY = 1, MASTER_USE_GTID = slave_pos;
START SLAVE;
SQL
}

# follows DIR says whether the replica has all that the primary has.
follows() {
  local position reached
  position=$(administer "$1/primary" --execute="SELECT @@gtid_binlog_pos") &&
    reached=$(administer "$1/replica" --execute="SELECT MASTER_GTID_WAIT('$position', 1)") &&
    [[ $reached == 0 ]]
}
