package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"testing"

	mysql "github.com/go-sql-driver/mysql"

	"github.com/pointsman/pointsman/gateway/mysqltest"
)

// The users of the tests, on the servers and in testdata/split.yaml.
const (
	schema   = "e2e"
	password = "Secret-1"
	appUser  = "app"    // Reads go to the replica.
	ctlUser  = "script" // Reads of the table fixed alone go to the replica.
)

// databases are a primary with @@server_id 1 and its read-only replica with @@server_id 2.
type databases struct{ primary, replica *mysqltest.Server }

// startDatabases starts both and fills them.
func startDatabases(t *testing.T) *databases {
	t.Helper()
	need(t, "MariaDB", mysqltest.Installed())
	common := []string{"--log-bin=binlog", "--binlog-format=ROW", "--gtid-strict-mode", "--local-infile=1", "--secure-file-priv=/dev/null"}
	d := &databases{
		primary: mysqltest.Start(t, append(common, "--server-id=1")...),
		replica: mysqltest.Start(t, "--server-id=2", "--read-only", "--slave-parallel-threads=0", "--local-infile=1"),
	}
	d.primary.Exec(t,
		"CREATE USER replication@'127.0.0.1' IDENTIFIED BY 'replication'",
		"GRANT REPLICATION SLAVE ON *.* TO replication@'127.0.0.1'",
		"CREATE DATABASE "+schema,
		"CREATE DATABASE e2e_other",
		"CREATE TABLE e2e.one (id INT PRIMARY KEY)",
		"INSERT INTO e2e.one VALUES (1)",
		"CREATE TABLE e2e.written (id INT AUTO_INCREMENT PRIMARY KEY, note VARCHAR(100) NOT NULL, written_by INT NOT NULL)",
		"CREATE TABLE e2e.fixed (id INT PRIMARY KEY, word VARCHAR(50), at TIMESTAMP NULL, data VARBINARY(300))",
		"SET time_zone = '+00:00'",
		"INSERT INTO e2e.fixed VALUES (1, 'räksmörgås', '2024-02-29 12:00:00', x'00ff8027225c0a'), (2, 'two', '1999-12-31 23:59:59', ''), (3, NULL, NULL, NULL)",
	)
	for _, user := range []string{appUser, ctlUser} {
		d.primary.Exec(t,
			fmt.Sprintf("CREATE USER %s@'127.0.0.1' IDENTIFIED BY '%s'", user, password),
			fmt.Sprintf("GRANT ALL ON e2e.* TO %s@'127.0.0.1'", user),
			fmt.Sprintf("GRANT ALL ON e2e_other.* TO %s@'127.0.0.1'", user))
	}
	d.replica.Exec(t,
		fmt.Sprintf("CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = %d, MASTER_USER = 'replication', "+
			"MASTER_PASSWORD = 'replication', MASTER_CONNECT_RETRY = 1, MASTER_USE_GTID = slave_pos", d.primary.Port),
		"START SLAVE")
	d.sync(t)
	return d
}

// sync waits until the replica has what the primary has.
func (d *databases) sync(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var position string
	if err := d.primary.DB.QueryRowContext(ctx, "SELECT @@gtid_binlog_pos").Scan(&position); err != nil {
		t.Fatalf("primary's position: %v", err)
	}
	var reached int
	if err := d.replica.DB.QueryRowContext(ctx, "SELECT MASTER_GTID_WAIT(?, ?)", position, patience.Seconds()).Scan(&reached); err != nil || reached != 0 {
		t.Fatalf("the replica does not reach %s: %d, %v", position, reached, err)
	}
}

// clean drops what the scripts of clients leave behind.
func (d *databases) clean(t *testing.T) {
	t.Helper()
	d.primary.Exec(t,
		"DROP TABLE IF EXISTS e2e.cli, e2e.cli_large, e2e.cli_load, e2e.go_script, e2e.py, e2e.py_load, e2e.node, e2e.node_load",
		"DROP PROCEDURE IF EXISTS e2e.cli_signal", "DROP PROCEDURE IF EXISTS e2e.cli_results")
}

// split is the configuration of the read/write split, with the hostgroup that reads go to: 20 is the replica.
func (d *databases) split(t *testing.T, reads int) string {
	t.Helper()
	return configuration(t, "split.yaml", map[string]any{
		"Primary": d.primary.Port, "Replica": d.replica.Port, "Reads": reads, "Password": password,
	})
}

// fleet is a decision server and a gateway in front of the databases.
type fleet struct {
	*databases
	server  *pointsman
	gateway *gateway
}

// newFleet starts a fleet with the read/write split as generation 1.
func newFleet(t *testing.T, d *databases) *fleet {
	t.Helper()
	f := &fleet{databases: d, server: newPointsman(t)}
	if got := f.server.publish(t, d.split(t, 20)); got != 1 {
		t.Fatalf("the first generation is %d, want 1", got)
	}
	f.gateway = newGateway(t, f.server)
	return f
}

// dsn is go-sql-driver's data source name for a server or a gateway.
func dsn(user, address string) string {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = user, password, "tcp", address, schema
	c.Timeout, c.ReadTimeout, c.WriteTimeout = patience, patience, patience
	c.MultiStatements, c.MaxAllowedPacket = true, 64<<20
	return c.FormatDSN()
}

// open makes a pool of connections that is closed with the test.
func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// session logs in to the gateway. The connection is never replaced: a lost one is an error.
func (f *fleet) session(t *testing.T) *sql.Conn {
	t.Helper()
	conn, err := open(t, dsn(appUser, f.gateway.address)).Conn(t.Context())
	if err != nil {
		t.Fatalf("log in to the gateway: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// querier is a connection or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// number runs a query for one number, as a rule @@server_id.
func number(t *testing.T, q querier, query string, args ...any) int {
	t.Helper()
	var id int
	if err := q.QueryRowContext(t.Context(), query, args...).Scan(&id); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return id
}

// do runs a statement for its effect.
func do(t *testing.T, conn *sql.Conn, statement string, args ...any) {
	t.Helper()
	if _, err := conn.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// wantServer checks which server answers a query.
func wantServer(t *testing.T, q querier, want int, query string, args ...any) {
	t.Helper()
	if got := number(t, q, query, args...); got != want {
		t.Errorf("%s: answered by server %s, want %d", query, strconv.Itoa(got), want)
	}
}
