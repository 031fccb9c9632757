package session

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/gateway/mysql"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

func liveAutocommitOff(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	c := g.connect(t, "app")
	c.expect(t, whoRead, "2")
	c.exec(t, "SET autocommit=0")
	for range 2 {
		c.expect(t, whoRead, "1") // where BEGIN would go
		c.exec(t, "INSERT INTO t (s) VALUES ('x')")
		c.expect(t, "SELECT COUNT(*) > 0 FROM t", "1")
		c.exec(t, "COMMIT")
	}
	c.exec(t, "COMMIT") // without a transaction
	c.expect(t, "SELECT @@autocommit", "0")
	c.exec(t, "ROLLBACK", "SET autocommit=1")
	c.expect(t, "SELECT @@autocommit", "1")
	c.expect(t, whoRead, "2")
	c.expect(t, "SELECT COUNT(*) FROM t FOR UPDATE", "2")
	// A statement that was prepared on the reader moves along.
	stmt, err := c.PrepareContext(t.Context(), whoRead)
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	for _, want := range []string{"2", "1"} {
		var got string
		if err := stmt.QueryRowContext(t.Context()).Scan(&got); err != nil || got != want {
			t.Errorf("prepared: %s (%v), want %s", got, err, want)
		}
		c.exec(t, "SET autocommit=0")
	}
}

func liveNotPersistent(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	c := g.connect(t, "loose")
	c.exec(t, "BEGIN", "INSERT INTO t (s) VALUES ('x')")
	c.expect(t, whoRead, "2")
	c.exec(t, "ROLLBACK")
	c.expect(t, "SELECT COUNT(*) FROM t FOR UPDATE", "0")
	// With autocommit off there is a transaction on each server; COMMIT ends them all.
	c.exec(t, "SET autocommit=0", "INSERT INTO t (s) VALUES ('x')")
	c.expect(t, "SELECT COUNT(*) FROM t", "0")
	c.exec(t, "COMMIT")
	other := g.connect(t, "app")
	other.expect(t, "SELECT COUNT(*) FROM t FOR UPDATE", "1")
	c.exec(t, "INSERT INTO t (s) VALUES ('y')")
	c.expect(t, "SELECT COUNT(*) FROM t", "0")
	c.exec(t, "SET autocommit=1")
	other.expect(t, "SELECT COUNT(*) FROM t FOR UPDATE", "2")
	c.exec(t, "SET autocommit=0", "INSERT INTO t (s) VALUES ('z')")
	c.expect(t, "SELECT COUNT(*) FROM t", "0")
	c.exec(t, "ROLLBACK")
	other.expect(t, "SELECT COUNT(*) FROM t FOR UPDATE", "2")
	commit, err := c.PrepareContext(t.Context(), "COMMIT")
	if err != nil {
		t.Fatal(err)
	}
	defer commit.Close()
	c.exec(t, "INSERT INTO t (s) VALUES ('w')")
	c.expect(t, "SELECT COUNT(*) FROM t", "0")
	if _, err := commit.ExecContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	other.expect(t, "SELECT COUNT(*) FROM t FOR UPDATE", "3")
}

func liveVariables(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	for _, tt := range []struct{ set, show, want string }{
		{"SET NAMES latin1", "@@character_set_client, '/', @@character_set_results, '/', @@collation_connection", "latin1/latin1/latin1_swedish_ci"},
		{"SET NAMES utf8mb4 COLLATE 'utf8mb4_bin'", "@@character_set_connection, '/', @@collation_connection", "utf8mb4/utf8mb4_bin"},
		{"set names utf8mb4 collate utf8mb4_unicode_ci /* why not */", "@@collation_connection", "utf8mb4_unicode_ci"},
		{"SET collation_connection=utf8mb4_bin; SET NAMES latin1", "@@collation_connection", "latin1_swedish_ci"},
		{"SET character_set_results=NULL", "COALESCE(@@character_set_results, 'none')", "none"},
		{"SET sql_mode='ANSI_QUOTES,NO_BACKSLASH_ESCAPES'", "@@sql_mode", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES"},
		{"SET sql_mode=''", "@@sql_mode", ""},
		{"SET time_zone='+02:00'", "@@time_zone", "+02:00"},
		{"SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", "@@tx_isolation", "SERIALIZABLE"},
		{"SET sql_safe_updates=1, max_statement_time=1.5", "@@sql_safe_updates, '/', @@max_statement_time", "ON/1.500000"},
		{"SET sql_select_limit=DEFAULT", "@@sql_select_limit", "18446744073709551615"},
		{"/*!40101 SET SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */", "@@sql_mode", "NO_AUTO_VALUE_ON_ZERO"},
		{"SELECT 1; SET foreign_key_checks=0", "@@foreign_key_checks", "OFF"},
		{"SET STATEMENT max_statement_time=3 FOR SELECT 1", "@@max_statement_time", "0.000000"},
		{"SET @@sql_mode='ANSI_QUOTES'", "@@sql_mode", "ANSI_QUOTES"},
		{"SET @@`time_zone` := '+03:00', sql_safe_updates=1, @@SQL_Select_Limit = 7", "@@time_zone, '/', @@sql_safe_updates, '/', @@sql_select_limit", "+03:00/ON/7"},
	} {
		t.Run(tt.set, func(t *testing.T) {
			c := g.connect(t, "app")
			c.expect(t, whoRead, "2") // the reader's connection is there before
			c.exec(t, tt.set)
			for _, lock := range []string{"", " FOR UPDATE"} {
				c.expect(t, "SELECT CONCAT('', "+tt.show+")"+lock, tt.want)
			}
			c.expect(t, whoRead, "2")
			c.expect(t, whoWrite, "1")
		})
	}
	if pins := g.metric(t, "pins_total"); pins != 0 {
		t.Errorf("%v pins", pins)
	}
	c := g.connect(t, "app")
	c.expectError(t, "SET nonsense=1", 1193, "nonsense")
	c.expect(t, whoRead, "2")
}

func livePins(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	for _, tt := range []struct {
		statement string
		where     string // the server that the session is pinned to; empty: it is not
	}{
		{"SET @x = 1", "1"},
		{"SELECT @x := 1", "1"}, // where BEGIN would go, so that writes can follow
		{"SELECT 1 INTO @x", "1"},
		{"SELECT GET_LOCK('a', 1)", "1"},
		{"CREATE TEMPORARY TABLE tmp (a INT)", "1"},
		{"CREATE OR REPLACE TEMPORARY TABLE tmp (a INT)", "1"},
		{"CREATE TEMPORARY TABLE tmp AS SELECT 1 AS a", "1"},
		{"SELECT 1; CREATE TEMPORARY TABLE tmp (a INT)", "2"}, // the rules see a SELECT
		{"CREATE TEMPORARY TABLE tmp LIKE n", "1"},
		{"/*!50003 CREATE TEMPORARY TABLE tmp (a INT) */", "1"},
		{"/*M!100000 SET @x = 1 */", "1"},
		{"SELECT GET_LOCK ('b', 1)", "1"},
		{"SELECT RELEASE_LOCK('b')", ""},
		{"CALL hide()", "1"},
		{"PREPARE p FROM 'SET sql_mode=?'; SET @m = ''; EXECUTE p USING @m", "1"},
		{"PREPARE p FROM 'SELECT 1'", "1"},
		{"HANDLER n OPEN", "1"},
		{"CALL remember()", "1"},
		{"SET timestamp=1000", "1"},
		{"SET @@timestamp=1000", "1"},
		{"SET insert_id=1000", "1"},
		{"SET session_track_system_variables=''; SET sql_mode=''", "1"},
		{"XA START 'pins'", "1"},
		{"SELECT @@server_id, @@version", ""},
		{"SELECT 'x @a := 1'", ""},
		{"UPDATE n SET a = 9 WHERE a = 9", ""},
		{"CALL two()", ""},
		{"DO 1", ""},
	} {
		t.Run(tt.statement, func(t *testing.T) {
			before := g.metric(t, "pins_total")
			c := g.connect(t, "app")
			c.expect(t, whoRead, "2")
			c.exec(t, tt.statement)
			for range 3 {
				read, write := "2", "1"
				if tt.where != "" {
					read, write = tt.where, tt.where
				}
				c.expect(t, whoRead, read)
				c.expect(t, whoWrite, write)
			}
			want := 0.0
			if tt.where != "" {
				want = 1
			}
			if got := g.metric(t, "pins_total") - before; got != want {
				t.Errorf("%v pins, want %v", got, want)
			}
		})
	}
	c := g.connect(t, "app")
	c.exec(t, "SET @x = 5")
	c.expect(t, "SELECT @x", "5")
	c.exec(t, "USE other")
	c.expect(t, "SELECT DATABASE()", "other")
	c.expect(t, "SELECT @x", "5")

	g = startGateway(t, gatewayOptions{servers: f.servers(), settings: &configv1.Settings{SetQueryLockOnHostgroup: proto.Uint32(0)}})
	c = g.connect(t, "app")
	c.exec(t, "SET @x = 5")
	c.expect(t, "SELECT @x", "NULL") // as in ProxySQL: it lives on the connection where it was set
	c.expect(t, "SELECT @x FOR UPDATE", "5")
}

// liveLockError locks a session by a SET that can't be followed.
func liveLockError(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers(), settings: &configv1.Settings{LockOnHostgroupError: new(true)}})
	c := g.connect(t, "app")
	c.exec(t, "SET sql_mode=''") // can be followed
	c.expect(t, whoRead, "2")
	c.exec(t, "SET @x = 1")
	const text = "connection is locked to hostgroup 10 but trying to reach hostgroup 20"
	for range 2 {
		c.expectError(t, whoRead, 9006, text)
		c.expect(t, whoWrite, "1")
	}
	if stmt, err := c.PrepareContext(t.Context(), whoRead); err == nil || !strings.Contains(err.Error(), "9006") {
		t.Errorf("prepared: %v, %v", stmt, err)
	}
	c.exec(t, "BEGIN")
	c.expect(t, whoRead, "1") // the transaction is there anyway
	c.exec(t, "COMMIT", "USE other")
	c.expectError(t, whoRead, 9006, text)
	c.expect(t, "SELECT ROW_COUNT()", "0") // asks about the statement before it
	r := g.dial(t, "app", "shop")
	r.exec(t, "SET @x = 1")
	r.send(t, mysql.ComQuery, []byte(whoRead)...)
	if e := r.readError(t, 9006); e.State != "Y0000" {
		t.Error(e)
	}
	r.send(t, mysql.ComResetConnection)
	r.readOK(t)
	if got := r.query(t, whoRead); got != "2" {
		t.Errorf("on server %s after the reset", got)
	}
	// What is no SET holds the session without locking it.
	other := g.connect(t, "app")
	other.exec(t, "SELECT @x := 1")
	other.expect(t, whoRead, "1")
}

// liveAutocommitSetting has autocommit_false_is_transaction off.
func liveAutocommitSetting(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers(), settings: &configv1.Settings{AutocommitFalseIsTransaction: new(false)}})
	c := g.connect(t, "app")
	c.exec(t, "SET autocommit=0")
	for range 2 {
		c.expect(t, whoRead, "2") // uses no table
		c.expect(t, whoWrite, "1")
		c.exec(t, "SAVEPOINT a")
		c.expect(t, whoRead, "1")
		c.exec(t, "ROLLBACK TO a", "ROLLBACK")
		c.expect(t, whoRead, "2")
		c.exec(t, "INSERT INTO t (s) VALUES ('x')")
		c.expect(t, whoRead, "1")
		c.exec(t, "COMMIT")
		c.expect(t, "SELECT COUNT(*) FROM n", "5") // by its own rule, and what follows is tied to it
		c.expect(t, whoWrite, "2")
		c.exec(t, "COMMIT")
	}
	c.expect(t, "SELECT COUNT(*) FROM t FOR UPDATE", "2")
}

// liveWaitTimeout has a client that sets its own limit.
func liveWaitTimeout(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	r := g.dial(t, "app", "shop")
	r.exec(t, "SET wait_timeout=1")
	r.exec(t, "BEGIN")
	r.exec(t, "INSERT INTO t (s) VALUES ('x')")
	r.readError(t, 4031)
	r.expectEnd(t)
	eventually(t, "transaction rolled back", func() bool {
		var n int
		err := f.primary.DB.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.innodb_trx").Scan(&n)
		return err == nil && n == 0
	})
}

// liveMultiplex has two servers in the reader hostgroup, between which the session would be drawn.
func liveMultiplex(t *testing.T, f *fleet) {
	t.Helper()
	servers := append(f.servers(), server(reader, f.primary.Addr))
	g := startGateway(t, gatewayOptions{servers: servers, answer: func(text string, req *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse {
		a := split(text, req)
		switch {
		case strings.Contains(text, "stay"):
			a.Multiplex = proto.Uint32(0)
		case strings.Contains(text, "leave"):
			a.Multiplex = proto.Uint32(1)
		}
		return a
	}})
	c := g.connect(t, "app")
	first := c.value(t, "SELECT @@server_id AS stay")
	for range 30 {
		c.expect(t, whoRead, first)
	}
	c.exec(t, "SELECT 1 AS `leave`")
	seen := map[string]bool{}
	for range 200 {
		seen[c.value(t, whoRead)] = true
	}
	if len(seen) != 2 {
		t.Errorf("served by %v", seen)
	}
}

func liveFastForward(t *testing.T, f *fleet) {
	t.Helper()
	servers := append(f.servers(), server(reader, f.primary.Addr))
	g := startGateway(t, gatewayOptions{servers: servers})
	c := g.connect(t, "fast")
	first := c.value(t, "SELECT CONNECTION_ID()")
	c.exec(t, "SET @x = 3")
	for range 20 {
		c.expect(t, "SELECT CONCAT(CONNECTION_ID(), @x)", first+"3")
	}
	if len(g.decider.asked) != 0 {
		t.Errorf("%d questions", len(g.decider.asked))
	}
}

func liveLockTables(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	c := g.connect(t, "app")
	c.exec(t, "LOCK TABLES t WRITE, n READ")
	c.expect(t, whoRead, "1")
	c.exec(t, "UNLOCK TABLES")
	c.expect(t, whoRead, "2")
	c.exec(t, "FLUSH TABLES WITH READ LOCK")
	c.expect(t, whoRead, "1")
	c.exec(t, "UNLOCK TABLES")
	c.expect(t, whoRead, "2")
	c.exec(t, "LOCK TABLES t WRITE", "SET @x = 1", "UNLOCK TABLES")
	c.expect(t, whoRead, "1") // the variable still pins
}

func liveSetTransaction(t *testing.T, f *fleet) {
	t.Helper()
	// Two writers: BEGIN must come to the one that has been told the isolation level.
	servers := append(f.servers(), server(writer, f.replica.Addr))
	g := startGateway(t, gatewayOptions{servers: servers})
	c := g.connect(t, "app")
	for i := range 20 {
		c.exec(t, []string{"SET TRANSACTION READ ONLY", "SET @@tx_read_only=1"}[i%2], "BEGIN")
		c.expectError(t, "INSERT INTO t (s) VALUES ('x')", 1792, "")
		c.exec(t, "ROLLBACK")
	}
}

func liveSchema(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	c := g.connect(t, "app")
	both := func(want string) {
		t.Helper()
		c.expect(t, "SELECT DATABASE()", want)
		c.expect(t, "SELECT DATABASE() FOR UPDATE", want)
	}
	both("shop")
	c.exec(t, "USE other")
	both("other")
	if got := g.decider.last(t, "SELECT DATABASE()").GetSession().GetSchemaname(); got != "other" {
		t.Errorf("rules look at schema %s", got)
	}
	c.exec(t, "use `shop`;")
	both("shop")
	c.expectError(t, "USE nowhere", 1049, "nowhere")
	both("shop")

	r := g.dial(t, "app", "")
	if got := r.query(t, "SELECT COALESCE(DATABASE(), 'none')"); got != "none" {
		t.Errorf("schema %s", got)
	}
	r.send(t, mysql.ComInitDB, []byte("nowhere")...)
	r.readError(t, 1049)
	r.send(t, mysql.ComInitDB, []byte("other")...)
	r.readOK(t)
	if got := r.query(t, "SELECT DATABASE()"); got != "other" {
		t.Errorf("schema %s", got)
	}
	// As in ProxySQL an unknown schema is no obstacle to the login, but to statements.
	r = g.dial(t, "app", "nowhere")
	r.send(t, mysql.ComQuery, []byte("SELECT 1")...)
	r.readError(t, 1049)
	r.send(t, mysql.ComInitDB, []byte("shop")...)
	r.readOK(t)
	if got := r.query(t, "SELECT DATABASE()"); got != "shop" {
		t.Errorf("schema %s", got)
	}
}

func liveLastStatement(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	c := g.connect(t, "app")
	c.exec(t, "INSERT INTO t (s) VALUES ('x')")
	c.expect(t, whoRead, "2")
	c.expect(t, "SELECT LAST_INSERT_ID()", "1")
	c.expect(t, "SELECT @@identity", "1")
	c.exec(t, "UPDATE t SET id = LAST_INSERT_ID(id + 41)")
	c.expect(t, whoRead, "2")
	c.expect(t, "SELECT LAST_INSERT_ID()", "42")
	c.expect(t, "SELECT LAST_INSERT_ID(77)", "77")
	c.expect(t, "SELECT LAST_INSERT_ID()", "77")
	c.expect(t, "SELECT @@server_id + 0 * LAST_INSERT_ID(5)", "2") // leaves an id on the reader
	c.exec(t, "UPDATE t SET id = LAST_INSERT_ID(id + 1)")          // goes by its rule all the same
	c.expect(t, "SELECT LAST_INSERT_ID()", "43")
	c.exec(t, "UPDATE t SET s = 'y'")
	c.expect(t, "SELECT ROW_COUNT()", "1")
	c.exec(t, "SELECT SQL_CALC_FOUND_ROWS a FROM n LIMIT 2")
	c.expect(t, "SELECT FOUND_ROWS()", "5")
	c.exec(t, "SET sql_mode=''", "INSERT INTO n VALUES ('x')")
	var level, message string
	var code int
	if err := c.QueryRowContext(t.Context(), "SHOW WARNINGS").Scan(&level, &code, &message); err != nil || code != 1366 {
		t.Errorf("warning %d %s (%v)", code, message, err)
	}
	c.exec(t, "DELETE FROM n WHERE a = 0")
}
