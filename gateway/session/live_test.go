package session

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"
	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/mysqltest"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// fleet is a primary with server_id 1 and a replica with server_id 2. They do not replicate: what is written shows where.
type fleet struct {
	primary, replica *mysqltest.Server
}

func (f *fleet) servers() []*configv1.Server {
	return []*configv1.Server{server(writer, f.primary.Addr), server(reader, f.replica.Addr)}
}

func startFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{
		primary: mysqltest.Start(t, "--server-id=1", "--local-infile=1"),
		replica: mysqltest.Start(t, "--server-id=2", "--local-infile=1"),
	}
	for _, s := range []*mysqltest.Server{f.primary, f.replica} {
		s.Exec(t, "CREATE DATABASE shop", "CREATE DATABASE other")
		for _, u := range []string{"app", "loose", "fast", "few"} {
			s.Exec(t, "CREATE USER "+u+"@'127.0.0.1' IDENTIFIED BY 'secret'", "GRANT ALL ON *.* TO "+u+"@'127.0.0.1'")
		}
		s.Exec(t, "CREATE TABLE shop.t (id INT PRIMARY KEY AUTO_INCREMENT, s LONGTEXT)", "CREATE TABLE shop.big (b LONGBLOB)",
			"CREATE TABLE shop.n (a INT)", "INSERT INTO shop.n VALUES (1),(2),(3),(4),(5)",
			"CREATE PROCEDURE shop.two() BEGIN SELECT 1; SELECT 2; END", "CREATE PROCEDURE shop.remember() SET @remembered = 7")
	}
	return f
}

// reset empties what tests write.
func (f *fleet) reset(t *testing.T) {
	t.Helper()
	for _, s := range []*mysqltest.Server{f.primary, f.replica} {
		s.Exec(t, "TRUNCATE shop.t", "TRUNCATE shop.big")
	}
}

// TestLive runs its parts against two MariaDB servers.
func TestLive(t *testing.T) {
	f := startFleet(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *fleet)
	}{
		{"Split", liveSplit},
		{"Transaction", liveTransaction},
		{"AutocommitOff", liveAutocommitOff},
		{"NotPersistent", liveNotPersistent},
		{"Variables", liveVariables},
		{"Pins", livePins},
		{"MultiplexKeepsConnection", liveMultiplex},
		{"FastForward", liveFastForward},
		{"LockTables", liveLockTables},
		{"SetTransaction", liveSetTransaction},
		{"Schema", liveSchema},
		{"LastStatement", liveLastStatement},
		{"Prepared", livePrepared},
		{"PreparedTypes", livePreparedTypes},
		{"PreparedUnknown", livePreparedUnknown},
		{"Cursor", liveCursor},
		{"LongData", liveLongData},
		{"Reset", liveReset},
		{"ChangeUser", liveChangeUser},
		{"SetOption", liveSetOption},
		{"Kill", liveKill},
		{"Timeout", liveTimeout},
		{"Effects", liveEffects},
		{"Rewrite", liveRewrite},
		{"MultiResults", liveMultiResults},
		{"LocalInfile", liveLocalInfile},
		{"Large", liveLarge},
		{"ClientGone", liveClientGone},
		{"Drain", liveDrain},
		{"MaxConnections", liveMaxConnections},
		{"NewConfiguration", liveNewConfiguration},
		{"ServerDies", liveServerDies}, // last: it restarts servers
	} {
		t.Run(part.name, func(t *testing.T) {
			f.reset(t)
			part.run(t, f)
		})
	}
}

const (
	whoRead  = "SELECT @@server_id"
	whoWrite = "SELECT @@server_id FOR UPDATE"
)

func liveSplit(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	c := g.connect(t, "app")
	c.expect(t, whoRead, "2")
	c.expect(t, whoWrite, "1")
	c.exec(t, "INSERT INTO t (s) VALUES ('x')")
	c.expect(t, "SELECT COUNT(*) FROM t", "0")
	c.expect(t, "SELECT COUNT(*) FROM t FOR UPDATE", "1")
	c.expect(t, whoRead, "2")
	if pins := g.metric(t, "pins_total"); pins != 0 {
		t.Errorf("%v pins", pins)
	}
	if g.decider.last(t, whoRead).GetSession().GetSchemaname() != "shop" {
		t.Error("schema not told")
	}
	// The next greeting bears the servers' version.
	if r := g.dial(t, "app", ""); !strings.Contains(r.ServerVersion, "MariaDB") {
		t.Errorf("version %s", r.ServerVersion)
	}
}

func liveTransaction(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	c := g.connect(t, "app")
	for _, end := range []string{"COMMIT", "ROLLBACK"} {
		c.exec(t, "BEGIN")
		c.expect(t, whoRead, "1")
		c.expectError(t, "SELECT nothing FROM t", 1054, "nothing") // the state is unknown until asked for
		c.expect(t, whoRead, "1")
		c.exec(t, "SAVEPOINT a", "ROLLBACK TO a", "INSERT INTO t (s) VALUES ('x')")
		c.expect(t, whoRead, "1")
		c.exec(t, end)
		c.expect(t, whoRead, "2")
	}
	c.exec(t, "BEGIN", "CREATE TABLE IF NOT EXISTS ddl (a INT)") // commits
	c.expect(t, whoRead, "2")
	c.expect(t, "SELECT COUNT(*) FROM t FOR UPDATE", "1")
	c.exec(t, "BEGIN; SELECT 1")
	c.expect(t, whoRead, "1")
	c.exec(t, "COMMIT")
}

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
		{"PREPARE p FROM 'SELECT 1'", "1"},
		{"HANDLER n OPEN", "1"},
		{"CALL remember()", "1"},
		{"SET timestamp=1000", "1"},
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
	for range 10 {
		c.exec(t, "SET TRANSACTION READ ONLY", "BEGIN")
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

func livePrepared(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	c := connect(t, g.open(t, "app", "")) // without interpolation: the driver prepares
	stmt, err := c.PrepareContext(t.Context(), "SELECT CONCAT(@@server_id, ?)")
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	expect := func(arg any, want string) {
		t.Helper()
		var got string
		if err := stmt.QueryRowContext(t.Context(), arg).Scan(&got); err != nil || got != want {
			t.Errorf("%s (%v), want %s", got, err, want)
		}
	}
	expect("a", "2a")
	c.exec(t, "BEGIN")
	expect("b", "1b")
	expect(7, "17")
	c.exec(t, "COMMIT")
	expect("c", "2c")
	c.exec(t, "USE other")
	expect("d", "2d")
	c.exec(t, "SET @x = 1")
	expect("e", "1e")

	// Names of a statement that moves are looked up where they were.
	c = connect(t, g.open(t, "app", ""))
	unqualified, err := c.PrepareContext(t.Context(), "SELECT CONCAT(COUNT(*), ' on ', @@server_id) FROM n")
	if err != nil {
		t.Fatal(err)
	}
	defer unqualified.Close()
	c.exec(t, "USE other", "BEGIN")
	for _, want := range []string{"5 on 1", "5 on 2"} {
		var got string
		if err := unqualified.QueryRowContext(t.Context()).Scan(&got); err != nil || got != want {
			t.Errorf("%s (%v), want %s", got, err, want)
		}
		c.expect(t, "SELECT DATABASE()", "other")
		c.exec(t, "COMMIT")
	}
	if _, err := c.PrepareContext(t.Context(), "KILL 1"); err == nil || !strings.Contains(err.Error(), "1295") {
		t.Errorf("KILL prepared: %v", err)
	}

	c = connect(t, g.open(t, "app", ""))
	insert, err := c.PrepareContext(t.Context(), "INSERT INTO t (s) VALUES (?)")
	if err != nil {
		t.Fatal(err)
	}
	defer insert.Close()
	for i := range 5 {
		res, err := insert.ExecContext(t.Context(), fmt.Sprint("row ", i))
		if err != nil {
			t.Fatal(err)
		}
		if id, _ := res.LastInsertId(); id != int64(i+1) {
			t.Errorf("id %d", id)
		}
	}
	if _, err := c.PrepareContext(t.Context(), "SELECT nonsense FROM"); err == nil {
		t.Error("nonsense prepared")
	}
	c.expect(t, "SELECT COUNT(*) FROM t FOR UPDATE", "5")
	if req := g.decider.last(t, "INSERT INTO t (s) VALUES (?)"); req.GetStatement().GetCommand() != decisionv1.Command_COMMAND_EXECUTE {
		t.Errorf("command %v", req.GetStatement().GetCommand())
	}
	// The reader leaves the configuration: the statement moves.
	g.push(t, &configv1.WatchGatewayConfigResponse{Generation: 1, Sequence: 2, Servers: &configv1.ServerList{
		Servers: []*configv1.Server{server(writer, f.primary.Addr), server(reader, f.primary.Addr)},
	}})
	eventually(t, "statement on the primary", func() bool { return c.value(t, "SELECT CONCAT(@@server_id, ?)", "z") == "1z" })
}

// livePreparedTypes sends the types of parameters only once, as PHP and Perl do.
func livePreparedTypes(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	r := g.dial(t, "app", "shop")
	id := r.prepare(t, "SELECT CONCAT(@@server_id, ':', ?, ':', ?)")
	const longlong, varString = 8, 253
	execute := func(types []byte, values ...byte) string {
		t.Helper()
		arg := []byte{0} // no NULLs
		if types == nil {
			arg = append(arg, 0)
		} else {
			arg = append(append(arg, 1), types...)
		}
		r.send(t, mysql.ComStmtExecute, executeArg(id, 0, append(arg, values...)...)...)
		rows := r.readRows(t)
		return string(rows[0][3:]) // 0, bitmap of NULLs, length
	}
	intAndText := []byte{longlong, 0, varString, 0}
	textAndInt := []byte{varString, 0, longlong, 0}
	seven, ab := []byte{7, 0, 0, 0, 0, 0, 0, 0}, []byte{2, 'a', 'b'}
	check := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	check(execute(intAndText, append(seven, ab...)...), "2:7:ab")
	check(execute(nil, append(seven, ab...)...), "2:7:ab")
	r.exec(t, "BEGIN")
	check(execute(nil, append(seven, ab...)...), "1:7:ab") // prepared there only now
	check(execute(textAndInt, append(ab, seven...)...), "1:ab:7")
	r.exec(t, "COMMIT")
	check(execute(nil, append(ab, seven...)...), "2:ab:7") // the reader still had the first types
	check(execute(nil, append(ab, seven...)...), "2:ab:7")
}

func livePreparedUnknown(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	r := g.dial(t, "app", "shop")
	r.send(t, mysql.ComStmtExecute, executeArg(99, 0)...)
	r.readError(t, 1243)
	r.send(t, mysql.ComStmtExecute, 1)
	r.readError(t, 1243)
	r.send(t, mysql.ComStmtReset, id32(99)...)
	r.readError(t, 1243)
	r.send(t, mysql.ComStmtFetch, append(id32(99), 1, 0, 0, 0)...)
	r.readError(t, 1243)
	r.send(t, mysql.ComStmtSendLongData, append(id32(99), 0, 0, 'x')...) // no answer
	r.send(t, mysql.ComStmtClose, id32(99)...)                           // no answer
	id := r.prepare(t, "SELECT 5")
	r.send(t, mysql.ComStmtExecute, executeArg(0xFFFFFFFF, 0)...) // the last one, as MariaDB's clients say
	if rows := r.readRows(t); len(rows) != 1 {
		t.Errorf("%d rows", len(rows))
	}
	r.send(t, mysql.ComStmtClose, id32(id)...)
	r.send(t, mysql.ComStmtExecute, executeArg(id, 0)...)
	r.readError(t, 1243)
	for _, code := range []byte{mysql.ComSleep, mysql.ComShutdown, mysql.ComBinlogDump, mysql.ComRegisterReplica, 0x7f} {
		r.send(t, code)
		r.readError(t, 1047)
	}
	r.send(t, mysql.ComPing)
	r.readOK(t)
	r.send(t, mysql.ComStatistics)
	if p := r.read(t); !strings.HasPrefix(string(p), "Uptime") {
		t.Errorf("%q", p)
	}
	r.send(t, mysql.ComFieldList, []byte("n\x00")...)
	if defs := r.readMoreRows(t); len(defs) != 1 {
		t.Errorf("%d definitions", len(defs))
	}
}

func liveCursor(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	r := g.dial(t, "app", "shop")
	first := r.prepare(t, "SELECT a FROM n ORDER BY a")
	second := r.prepare(t, "SELECT -a FROM n ORDER BY a")
	fetch := func(id uint32, n byte, want ...int32) {
		t.Helper()
		r.send(t, mysql.ComStmtFetch, append(id32(id), n, 0, 0, 0)...)
		rows := r.readMoreRows(t)
		var got []int32
		for _, row := range rows {
			got = append(got, int32(int8(row[2])))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("fetched %v, want %v", got, want)
		}
	}
	r.send(t, mysql.ComStmtExecute, executeArg(first, 1)...)
	r.readRows(t)
	r.send(t, mysql.ComStmtExecute, executeArg(second, 1)...)
	r.readRows(t)
	fetch(first, 2, 1, 2)
	fetch(second, 1, -1)
	if got := r.query(t, whoWrite); got != "1" {
		t.Errorf("on server %s", got)
	}
	fetch(first, 2, 3, 4)
	fetch(second, 2, -2, -3)
	r.send(t, mysql.ComStmtReset, id32(first)...)
	r.readOK(t)
	r.send(t, mysql.ComStmtFetch, append(id32(first), 1, 0, 0, 0)...)
	if p := r.read(t); p[0] != 0xff {
		t.Errorf("fetched from a closed cursor: % x", p)
	}
	fetch(second, 9, -4, -5)
}

func liveLongData(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	r := g.dial(t, "app", "shop")
	id := r.prepare(t, "INSERT INTO t (s) VALUES (?)")
	long := func(part string) {
		r.send(t, mysql.ComStmtSendLongData, append(append(id32(id), 0, 0), part...)...)
	}
	execute := []byte{0, 1, 252, 0}
	long("abc")
	if got := r.query(t, whoRead); got != "1" { // long data ties the session to its server until the EXECUTE
		t.Errorf("on server %s", got)
	}
	long(strings.Repeat("d", 40_000))
	r.send(t, mysql.ComStmtExecute, executeArg(id, 0, execute...)...)
	r.readOK(t)
	if got := r.query(t, whoRead); got != "2" {
		t.Errorf("on server %s", got)
	}
	long("dropped")
	r.send(t, mysql.ComStmtReset, id32(id)...)
	r.readOK(t)
	if got := r.query(t, whoRead); got != "2" {
		t.Errorf("on server %s", got)
	}
	r.send(t, mysql.ComStmtExecute, executeArg(id, 0, append(execute, 1, 'e')...)...)
	r.readOK(t)
	if got := r.query(t, "SELECT GROUP_CONCAT(LENGTH(s) ORDER BY id) FROM t FOR UPDATE"); got != "40003,1" {
		t.Errorf("lengths %s", got)
	}
	// Long data that is lost with its server's connection must not make a half statement.
	long("lost")
	eventually(t, "connection killed", func() bool {
		var thread string
		if f.primary.DB.QueryRowContext(t.Context(), "SELECT id FROM information_schema.processlist WHERE user = 'app' LIMIT 1").Scan(&thread) != nil {
			return true
		}
		_, _ = f.primary.DB.ExecContext(t.Context(), "KILL "+thread)
		return false
	})
	r.send(t, mysql.ComStmtExecute, executeArg(id, 0, execute...)...)
	r.readError(t, 1158)
	r.expectEnd(t)
}

func liveReset(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers(), answer: func(text string, req *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse {
		a := split(text, req)
		if strings.Contains(text, "flag") {
			a.NextQueryFlagIn = proto.Int32(5)
		}
		return a
	}})
	r := g.dial(t, "app", "shop")
	r.exec(t, "SET sql_mode='ANSI'")
	r.exec(t, "SET autocommit=0")
	r.exec(t, "INSERT INTO t (s) VALUES ('x')")
	r.exec(t, "SET @x = 1")
	r.send(t, mysql.ComInitDB, []byte("other")...)
	r.readOK(t)
	r.query(t, "SELECT GET_LOCK('reset', 0) AS flag")
	id := r.prepare(t, "SELECT 1")
	if g.decider.last(t, "SELECT 1").GetSession().GetNextQueryFlagIn() != 5 {
		t.Error("flag not kept")
	}
	r.send(t, mysql.ComResetConnection)
	if status := r.readOK(t); status != mysql.StatusAutocommit {
		t.Errorf("status %#x", status)
	}
	// What the server held is free once the answer is there.
	if got := r.query(t, "SELECT IS_FREE_LOCK('reset') FOR UPDATE"); got != "1" {
		t.Errorf("lock is held: %s", got)
	}
	if got := r.query(t, whoRead); got != "2" {
		t.Errorf("on server %s", got)
	}
	for _, lock := range []string{"", " FOR UPDATE"} {
		if got := r.query(t, "SELECT CONCAT_WS(',', DATABASE(), @x, @@autocommit, @@sql_mode LIKE '%ANSI%', (SELECT COUNT(*) FROM shop.t))"+lock); got != "other,ON,0,0" {
			t.Errorf("state %s", got)
		}
	}
	if g.decider.last(t, whoRead).Session.NextQueryFlagIn != nil {
		t.Error("flag survives")
	}
	r.send(t, mysql.ComStmtExecute, executeArg(id, 0)...)
	r.readError(t, 1243)
	// Changes are still followed.
	r.exec(t, "SET sql_mode='ANSI'")
	for _, lock := range []string{"", " FOR UPDATE"} {
		if got := r.query(t, "SELECT @@sql_mode LIKE '%ANSI%'"+lock); got != "1" {
			t.Errorf("sql_mode is not followed")
		}
	}
}

func liveChangeUser(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	// change names a plugin that nobody has, so that the gateway asks anew, with its challenge.
	change := func(r *raw, user, password, schema string) {
		t.Helper()
		arg := append(append([]byte(user), 0, 0), schema...)
		arg = append(append(append(arg, 0, 45, 0), "none"...), 0)
		r.send(t, mysql.ComChangeUser, arg...)
		request, err := mysql.ParseAuthSwitch(r.read(t))
		if err != nil || request.Plugin != mysql.PluginNative {
			t.Fatalf("%+v, %v", request, err)
		}
		answer, _ := mysql.ClearSecret(password).NativeAnswer(request.Salt)
		if _, err := r.nc.Write(append([]byte{byte(len(answer)), 0, 0, 2}, answer...)); err != nil {
			t.Fatal(err)
		}
	}
	r := g.dial(t, "app", "shop")
	r.exec(t, "SET @x = 1")
	r.exec(t, "SET sql_mode = 'ANSI'")
	r.exec(t, "BEGIN")
	r.exec(t, "INSERT INTO t (s) VALUES ('x')")
	id := r.prepare(t, "SELECT 1")
	change(r, "loose", "secret", "other")
	r.readOK(t)
	for _, lock := range []string{"", " FOR UPDATE"} {
		query := "SELECT CONCAT_WS(',', CURRENT_USER(), DATABASE(), COALESCE(@x, 'none'), @@sql_mode LIKE '%ANSI%', @@server_id)" + lock
		want := "loose@127.0.0.1,other,none,0,2"
		if lock != "" {
			want = "loose@127.0.0.1,other,none,0,1"
		}
		if got := r.query(t, query); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if g.decider.last(t, query).GetSession().GetUsername() != "loose" {
			t.Error("rules look at another user")
		}
	}
	r.send(t, mysql.ComStmtExecute, executeArg(id, 0)...)
	r.readError(t, 1243)
	if got := g.connect(t, "app").value(t, "SELECT COUNT(*) FROM t FOR UPDATE"); got != "0" {
		t.Errorf("%s rows: the transaction was not rolled back", got)
	}
	change(r, "few", "secret", "")
	r.readOK(t)
	second := g.dial(t, "app", "")
	change(second, "few", "secret", "") // has one place only
	second.readError(t, 1203)
	second.expectEnd(t)
	change(r, "few", "secret", "") // its own place is free for itself
	r.readOK(t)
	change(r, "app", "wrong", "other")
	if e := r.readError(t, 1045); !strings.Contains(e.Message, "'app'@'127.0.0.1' (using password: YES)") {
		t.Error(e)
	}
	r.expectEnd(t)
	eventually(t, "places given back", func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.perUser["few"] == 0 && g.perUser["loose"] == 0
	})

	one := g.dial(t, "few", "shop")
	if _, err := g.tryDial(t, "few", ""); err == nil || !strings.Contains(err.Error(), "1203") {
		t.Errorf("second session of a user with one: %v", err)
	}
	_, _ = one.nc.Write([]byte{1, 0, 0, 0, mysql.ComQuit})
	one.expectEnd(t)
	var two *raw
	eventually(t, "place is free again", func() bool {
		var err error
		two, err = g.tryDial(t, "few", "")
		return err == nil
	})
	_ = two.nc.Close()
	if _, err := g.tryDial(t, "nopassword", ""); err == nil || !strings.Contains(err.Error(), "1045") {
		t.Errorf("user without a password: %v", err)
	}
}

func liveSetOption(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	r := g.dial(t, "app", "shop")
	r.query(t, whoRead)
	r.send(t, mysql.ComSetOption, 1, 0) // multi-statements off
	if p := r.read(t); p[0] != 0xfe {
		t.Fatalf("% x", p)
	}
	for range 2 {
		r.send(t, mysql.ComQuery, []byte("DO 1; DO 2")...) // on the primary, which has not seen the option
		r.readError(t, 1064)
	}
}

func liveKill(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	victim := g.dial(t, "app", "shop")
	c := g.connect(t, "app")
	running := func() {
		t.Helper()
		eventually(t, "statement runs", func() bool {
			var n int
			err := f.replica.DB.QueryRowContext(t.Context(),
				"SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%' AND user = 'app'").Scan(&n)
			return err == nil && n == 1
		})
	}
	victim.send(t, mysql.ComQuery, []byte("SELECT SLEEP(100)")...)
	running()
	c.exec(t, "KILL QUERY "+strconv.Itoa(int(victim.ThreadID)))
	for {
		p := victim.read(t)
		if p[0] == 0xff {
			if e := mysql.ParseError(p); e.Code != 1317 {
				t.Error(e)
			}
			break
		}
	}
	if got := victim.query(t, whoRead); got != "2" {
		t.Errorf("on server %s", got)
	}
	c.expectError(t, "KILL QUERY 999999", 1094, "999999")
	g.connect(t, "loose").expectError(t, "KILL "+strconv.Itoa(int(victim.ThreadID)), 1095, "owner")
	victim.send(t, mysql.ComQuery, []byte("SELECT SLEEP(100)")...)
	running()
	killer := g.dial(t, "app", "")
	killer.send(t, mysql.ComProcessKill, id32(victim.ThreadID)...)
	killer.readOK(t)
	for {
		if _, err := victim.tryRead(); err != nil {
			break
		}
	}
	killer.send(t, mysql.ComProcessKill, id32(victim.ThreadID+1000)...)
	killer.readError(t, 1094)
}

func liveTimeout(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers(), answer: func(text string, req *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse {
		a := split(text, req)
		if strings.Contains(text, "SLEEP") {
			a.TimeoutMs = proto.Uint32(100)
		}
		return a
	}})
	c := g.connect(t, "app")
	c.expectError(t, "SELECT SLEEP(100)", 1907, "query_timeout exceeded")
	c.expect(t, whoRead, "2")
	c.exec(t, "BEGIN")
	c.expectError(t, "SELECT SLEEP(100)", 1907, "query_timeout exceeded")
	c.expect(t, whoRead, "1") // the transaction goes on
	c.exec(t, "COMMIT")
	p := connect(t, g.open(t, "app", ""))
	var n int
	if err := p.QueryRowContext(t.Context(), "SELECT SLEEP(?)", 100).Scan(&n); err == nil || !strings.Contains(err.Error(), "1907") {
		t.Errorf("prepared: %v", err)
	}
}

func liveEffects(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers(), answer: func(text string, req *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse {
		a := split(text, req)
		switch {
		case strings.Contains(text, "both"):
			a.OkMsg, a.ErrorMsg = new("fine"), new("no")
		case strings.Contains(text, "refused"):
			a.DestinationHostgroup, a.ErrorMsg = nil, new("not today")
		case strings.Contains(text, "delayed"):
			a.DelayMs = proto.Uint32(30)
		case strings.Contains(text, "flagged"):
			a.NextQueryFlagIn = proto.Int32(7)
		case strings.Contains(text, "logged"):
			a.Log = new(true)
		case strings.Contains(text, "lost"):
			a.DestinationHostgroup = proto.Int32(99)
		case strings.Contains(text, "mirrored"):
			a.MirrorHostgroup, a.Mirror, a.CacheTtlMs = proto.Int32(3), &decisionv1.Mirror{}, proto.Uint32(5)
		}
		return a
	}})
	c := g.connect(t, "app")
	c.exec(t, "DELETE both")
	c.expectError(t, "SELECT 'refused'", 1148, "not today")
	c.expect(t, "SELECT 'delayed'", "delayed")
	c.expect(t, "SELECT 'flagged'", "flagged")
	c.expect(t, "SELECT 'logged'", "logged")
	if g.decider.last(t, "SELECT 'logged'").GetSession().GetNextQueryFlagIn() != 7 {
		t.Error("flag not sent")
	}
	if !strings.Contains(g.log.String(), "msg=statement") {
		t.Error("statement not logged")
	}
	c.expectError(t, "SELECT 'lost'", 9001, "Hostgroup 99 has no servers")
	c.expect(t, "SELECT 'mirrored'", "mirrored")
	if n := g.metric(t, "unsupported_effects_total"); n != 2 {
		t.Errorf("%v unsupported effects", n)
	}
	r := g.dial(t, "app", "shop")
	r.send(t, mysql.ComStmtPrepare, []byte("SELECT 'refused'")...)
	r.readError(t, 1148)
	id := r.prepare(t, "SELECT 'both'") // a PREPARE can't be answered by a plain OK
	r.send(t, mysql.ComStmtExecute, executeArg(id, 0)...)
	if p := r.read(t); p[0] != 0 || !bytes.HasSuffix(p, []byte("fine")) {
		t.Errorf("%q", p)
	}
}

func liveRewrite(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers(), answer: func(text string, req *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse {
		a := split(text, req)
		switch {
		case req.GetStatement().GetCommand() == decisionv1.Command_COMMAND_EXECUTE:
		case strings.HasPrefix(text, "SELECT old"):
			a.RewrittenText = new(strings.Replace(text, "old", "'new'", 1))
		case text == "REMEMBER":
			a.RewrittenText = new("SET @x = 4")
		case text == "BYTES":
			a.RawRewrittenText = []byte("SET @y = '\xff'")
		}
		return a
	}})
	c := g.connect(t, "app")
	c.expect(t, "SELECT old", "new")
	p := connect(t, g.open(t, "app", ""))
	var got string
	for range 2 {
		if err := p.QueryRowContext(t.Context(), "SELECT old WHERE 1 = ?", 1).Scan(&got); err != nil || got != "new" {
			t.Errorf("prepared: %s, %v", got, err)
		}
	}
	c.exec(t, "REMEMBER")
	c.expect(t, "SELECT @x", "4") // pinned by what was sent
	c.exec(t, "BYTES")
	c.expect(t, "SELECT HEX(@y)", "FF")
}

func liveMultiResults(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	c := g.connect(t, "app")
	for _, query := range []string{"SELECT 1; SELECT 2", "CALL two()"} {
		rows, err := c.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for more := true; more; more = rows.NextResultSet() {
			for rows.Next() {
				var n int
				if err := rows.Scan(&n); err != nil {
					t.Fatal(err)
				}
				got = append(got, n)
			}
		}
		if rows.Err() != nil || rows.Close() != nil || fmt.Sprint(got) != "[1 2]" {
			t.Errorf("%s: %v (%v)", query, got, rows.Err())
		}
	}
	c.expectError(t, "INSERT INTO t (s) VALUES ('a'); nonsense; INSERT INTO t (s) VALUES ('b')", 1064, "nonsense")
	c.expect(t, "SELECT COUNT(*) FROM t FOR UPDATE", "1")
}

func liveLocalInfile(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	driver.RegisterReaderHandler("rows", func() io.Reader { return strings.NewReader("\x02first\n" + strings.Repeat("x", 100_000) + "\nthird\n") })
	defer driver.DeregisterReaderHandler("rows")
	c := g.connect(t, "app")
	c.exec(t, "LOAD DATA LOCAL INFILE 'Reader::rows' INTO TABLE t (s)")
	c.expect(t, "SELECT GROUP_CONCAT(LENGTH(s) ORDER BY id) FROM t FOR UPDATE", "6,100000,5")
	c.expect(t, whoRead, "2")
}

func liveLarge(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	c := g.connect(t, "app")
	value := bytes.Repeat([]byte("0123456789abcdef\x00'\\\xff"), 1<<20) // 20 MiB
	sum := sha256.Sum256(value)
	if _, err := c.ExecContext(t.Context(), "INSERT INTO big VALUES (?)", value); err != nil { // in the text
		t.Fatal(err)
	}
	p := connect(t, g.open(t, "app", ""))
	if _, err := p.ExecContext(t.Context(), "INSERT INTO big VALUES (?)", value); err != nil { // as a parameter
		t.Fatal(err)
	}
	for _, conn := range []*client{c, p} {
		rows, err := conn.QueryContext(t.Context(), "SELECT b FROM big FOR UPDATE")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for rows.Next() {
			var got []byte
			if err := rows.Scan(&got); err != nil {
				t.Fatal(err)
			}
			if sha256.Sum256(got) != sum {
				t.Errorf("value %d differs", n)
			}
			n++
		}
		if err := rows.Close(); err != nil || n != 2 {
			t.Errorf("%d rows, %v", n, err)
		}
	}
	for _, size := range []int{32<<10 - 5, 32<<10 - 4, 32<<10 - 3, 1<<24 - 3, 1<<24 - 2, 1<<24 - 1, 1 << 24} {
		text := "SELECT '" + strings.Repeat("y", size-11) + "'"
		want := sha256.Sum256([]byte(text[8 : len(text)-1]))
		var got []byte
		if err := c.QueryRowContext(t.Context(), text).Scan(&got); err != nil || sha256.Sum256(got) != want {
			t.Errorf("statement of %d bytes: %d bytes back, %v", len(text)+1, len(got), err)
		}
	}
	r := g.dial(t, "app", "shop")
	go func() {
		chunk := bytes.Repeat([]byte{'z'}, 1<<20)
		for i := range 6 {
			_, _ = r.nc.Write([]byte{0xff, 0xff, 0xff, byte(i)})
			rest := mysql.MaxFragment
			if i == 0 {
				_, _ = r.nc.Write([]byte{mysql.ComQuery})
				rest--
			}
			for rest > 0 {
				n, err := r.nc.Write(chunk[:min(rest, len(chunk))])
				if err != nil {
					return
				}
				rest -= n
			}
		}
		_, _ = r.nc.Write([]byte{0, 0, 0, 6})
	}()
	r.readError(t, 1153)
	r.expectEnd(t)
}

// liveClientGone has a client that gives up in the middle of a statement.
func liveClientGone(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := g.connect(t, "app")
	count := func() (n int) {
		_ = f.replica.DB.QueryRowContext(t.Context(),
			"SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%' AND user = 'app'").Scan(&n)
		return n
	}
	done := make(chan error, 1)
	go func() {
		_, err := c.ExecContext(ctx, "SELECT SLEEP(1000)")
		done <- err
	}()
	eventually(t, "statement runs", func() bool { return count() == 1 })
	cancel()
	if err := <-done; err == nil {
		t.Error("no error")
	}
	eventually(t, "statement killed", func() bool { return count() == 0 })
	eventually(t, "session ended", func() bool { return g.Sessions() == 0 })
}

func liveDrain(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	idle, open, busy := g.dial(t, "app", "shop"), g.dial(t, "app", "shop"), g.dial(t, "app", "shop")
	idle.query(t, whoRead)
	open.exec(t, "BEGIN")
	busy.send(t, mysql.ComQuery, []byte("SELECT SLEEP(0.2)")...)
	g.awaitRunning(t, busy)
	g.Drain()
	idle.expectEnd(t)
	busy.readRows(t)
	busy.expectEnd(t)
	open.exec(t, "INSERT INTO t (s) VALUES ('x')")
	if got := open.query(t, whoRead); got != "1" {
		t.Errorf("on server %s", got)
	}
	open.exec(t, "COMMIT")
	open.expectEnd(t)
	late := g.dial(t, "app", "shop") // its login was under way
	late.expectEnd(t)
	eventually(t, "sessions ended", func() bool { return g.Sessions() == 0 })
}

// awaitRunning waits until a session waits for a server.
func (g *testGateway) awaitRunning(t *testing.T, r *raw) {
	t.Helper()
	eventually(t, "statement runs", func() bool {
		s := g.find(r.ThreadID)
		if s == nil {
			return false
		}
		_, b, _ := s.current()
		return b != nil
	})
}

func liveMaxConnections(t *testing.T, f *fleet) {
	t.Helper()
	servers := f.servers()
	servers[1].MaxConnections = proto.Int64(1)
	g := startGateway(t, gatewayOptions{servers: servers, maxConnections: 3, settings: &configv1.Settings{ConnectTimeoutServerMax: proto.Uint32(200)}})
	one, two := g.dial(t, "app", "shop"), g.connect(t, "app")
	one.query(t, whoRead)
	two.expectError(t, whoRead, 9001, "while reaching hostgroup 20") // the server takes one connection
	two.expect(t, whoWrite, "1")
	one.query(t, whoRead)
	g.dial(t, "app", "")
	if _, err := g.tryDial(t, "app", ""); err == nil || !strings.Contains(err.Error(), "1040") {
		t.Errorf("fourth client: %v", err)
	}
	_ = one.nc.Close()
	eventually(t, "place is free again", func() bool {
		var v string
		return two.QueryRowContext(t.Context(), whoRead).Scan(&v) == nil
	})
}

func liveNewConfiguration(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	c := g.connect(t, "app")
	c.expect(t, whoRead, "2")
	offline := f.servers()
	offline[1].Status = new("OFFLINE_SOFT")
	offline = append(offline, server(reader, f.primary.Addr))
	g.push(t, &configv1.WatchGatewayConfigResponse{Generation: 2, Sequence: 2, Servers: &configv1.ServerList{Servers: offline}})
	eventually(t, "reads on the primary", func() bool { return c.value(t, whoRead) == "1" })
	// A user that is gone keeps its sessions and gets no new ones.
	g.push(t, &configv1.WatchGatewayConfigResponse{Generation: 3, Sequence: 3, Users: &configv1.UserList{}})
	eventually(t, "login refused", func() bool {
		_, err := g.tryDial(t, "app", "")
		return err != nil && strings.Contains(err.Error(), "1045")
	})
	c.expect(t, whoRead, "1")
}

func liveServerDies(t *testing.T, f *fleet) {
	t.Helper()
	settings := &configv1.Settings{ConnectRetriesOnFailure: proto.Uint32(3), ConnectTimeoutServerMax: proto.Uint32(5000)}
	servers := append(f.servers(), server(reader, f.primary.Addr))
	g := startGateway(t, gatewayOptions{servers: servers, settings: settings})
	onReader := func() *client {
		t.Helper()
		for range 1000 {
			c := g.connect(t, "app")
			if c.value(t, whoRead) == "2" {
				return c
			}
			_ = c.Close()
		}
		t.Fatal("never on the reader")
		return nil
	}
	// Sessions without state on the server that dies.
	idle := onReader()
	slow := g.dial(t, "app", "shop")
	for {
		slow.send(t, mysql.ComQuery, []byte("SELECT @@server_id")...)
		if rows := slow.readRows(t); string(rows[0][1:]) == "2" {
			break
		}
	}
	f.replica.Kill(t)
	idle.expect(t, whoRead, "1")
	if got := slow.query(t, whoRead); got != "1" {
		t.Errorf("on server %s", got)
	}
	for range 5 {
		g.connect(t, "app").expect(t, whoRead, "1")
	}
	f.replica.Restart(t)

	// A transaction on the server that dies: one clear error, and the end.
	open := g.dial(t, "app", "shop")
	open.exec(t, "BEGIN")
	pinned := g.dial(t, "app", "shop")
	pinned.exec(t, "SET @x = 1")
	free := g.dial(t, "app", "shop")
	free.exec(t, "DO 1")
	f.primary.Kill(t)
	open.send(t, mysql.ComQuery, []byte("INSERT INTO t (s) VALUES ('x')")...)
	if e := open.readError(t, 1158); e.State != "08S01" {
		t.Error(e)
	}
	open.expectEnd(t)
	pinned.send(t, mysql.ComQuery, []byte(whoRead)...)
	pinned.readError(t, 1158)
	pinned.expectEnd(t)
	// Without state on it the session goes on; writes have no server.
	free.send(t, mysql.ComQuery, []byte("DO 1")...)
	e := free.readError(t, 9001)
	if !strings.Contains(e.Message, "while reaching hostgroup 10") {
		t.Error(e)
	}
	if got := free.query(t, whoRead); got != "2" {
		t.Errorf("on server %s", got)
	}
	f.primary.Restart(t)
	free.exec(t, "DO 1")

	// A write that was sent and not answered is not sent again.
	write := g.dial(t, "app", "shop")
	f.primary.Exec(t, "CREATE TABLE IF NOT EXISTS shop.w (a INT)", "DELETE FROM shop.w")
	write.send(t, mysql.ComQuery, []byte("INSERT INTO w SELECT SLEEP(100)")...)
	g.awaitRunning(t, write)
	f.primary.Kill(t)
	write.readError(t, 1158)
	write.expectEnd(t)
	f.primary.Restart(t)
	if err := f.primary.DB.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestLiveReadIsSentAgain has a server that dies while a read of many rows waits for a lock; nothing has reached the client.
func TestLiveReadIsSentAgain(t *testing.T) {
	f := startFleet(t)
	servers := f.servers()
	servers[1].Weight = proto.Int64(10_000_000)
	g := startGateway(t, gatewayOptions{servers: append(servers, server(reader, f.primary.Addr))})
	for _, tt := range []struct {
		prepare []string
		query   string
		want    string // empty: an error
	}{
		{nil, "SELECT COUNT(*) + @@server_id FROM t", "1"},
		{[]string{"SELECT @x := 1"}, "SELECT COUNT(*) FROM t", ""},
	} {
		c := g.connect(t, "app")
		c.exec(t, tt.prepare...)
		on := f.replica
		if c.value(t, whoRead) == "1" {
			on = f.primary
		}
		locker, err := on.DB.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := locker.ExecContext(t.Context(), "LOCK TABLES shop.t WRITE"); err != nil {
			t.Fatal(err)
		}
		type result struct {
			value string
			err   error
		}
		done := make(chan result, 1)
		go func() {
			var r result
			r.err = c.QueryRowContext(t.Context(), tt.query).Scan(&r.value)
			done <- r
		}()
		eventually(t, "read waits", func() bool {
			var n int
			err := locker.QueryRowContext(t.Context(),
				"SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'app' AND state LIKE 'Waiting for table%'").Scan(&n)
			return err == nil && n == 1
		})
		on.Kill(t)
		_ = locker.Close()
		r := <-done
		if (r.err == nil) != (tt.want != "") || r.value != tt.want {
			t.Errorf("%s: %s, %v", tt.query, r.value, r.err)
		}
		on.Restart(t)
	}
	if n := g.metric(t, "retries_total"); n != 1 {
		t.Errorf("%v retries", n)
	}
}

func TestLiveHashedPassword(t *testing.T) {
	f := startFleet(t)
	hash := "*" + strings.ToUpper(hex.EncodeToString(sha1sha1("secret")))
	g := startGateway(t, gatewayOptions{servers: f.servers(), users: []*configv1.User{
		{Username: "app", Password: new(hash), DefaultHostgroup: writer},
		{Username: "alias", Password: new("secret"), DefaultHostgroup: writer, BackendUsername: "app", BackendPassword: new("secret"), DefaultSchema: "other"},
	}})
	g.connect(t, "app").expect(t, "SELECT CURRENT_USER()", "app@127.0.0.1")
	r := g.dial(t, "alias", "")
	if got := r.query(t, "SELECT CONCAT(CURRENT_USER(), DATABASE())"); got != "app@127.0.0.1other" {
		t.Error(got)
	}
}
