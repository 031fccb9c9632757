package pool

import (
	"context"
	"crypto/sha1"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/mysqltest"
)

// TestLive runs its parts against one MariaDB.
func TestLive(t *testing.T) {
	s := startServer(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *mysqltest.Server)
	}{
		{"SameAsDirect", liveSameAsDirect},
		{"Sizes", liveSizes},
		{"BackendConn", liveBackendConn},
		{"Commands", liveCommands},
		{"KillQuery", liveKillQuery},
		{"Clients", liveClients},
		{"ClientGoesAway", liveClientGoesAway},
		{"StatementTooLarge", liveStatementTooLarge},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, s) })
	}
}

// startServer starts a MariaDB with a user "app" who has every right and the password "secret".
func startServer(t *testing.T) *mysqltest.Server {
	t.Helper()
	s := mysqltest.Start(t, "--local-infile=1")
	s.Exec(t, "CREATE DATABASE shop", "CREATE USER app@'127.0.0.1' IDENTIFIED BY 'secret'", "GRANT ALL ON *.* TO app@'127.0.0.1'",
		"CREATE TABLE shop.t (id INT PRIMARY KEY AUTO_INCREMENT, s LONGTEXT, b LONGBLOB, d DECIMAL(10,3), f DOUBLE, ts DATETIME(6))")
	return s
}

// startRelay starts the smallest gateway there can be: one backend connection for each client.
func startRelay(t *testing.T, s *mysqltest.Server, cred mysql.Credential, track bool) (addr string) {
	t.Helper()
	a := testAuth(t)
	info, err := Probe(t.Context(), Target{Addr: s.Addr, User: "app", Secret: mysql.ClearSecret("secret"), ConnectTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	find := func(user string) (mysql.Credential, bool) { return cred, user == "app" }
	return serve(t, func(nc net.Conn) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		client := mysql.NewConn(nc)
		client.SetWriteTimeout(time.Minute)
		login, err := a.Handshake(ctx, client, mysql.Greeting{
			ServerVersion: info.Version, ConnectionID: 1, Capabilities: mysql.OfferedCapabilities(info.Capabilities), Charset: info.Charset, Status: mysql.StatusAutocommit,
		}, find)
		if err != nil {
			return
		}
		dial := func() (*BackendConn, error) {
			return Dial(ctx, Target{
				Addr: s.Addr, User: login.User, Secret: login.Secret, DB: login.Schema, ClientFlags: login.Capabilities,
				SessionTrack: track, Charset: login.Charset, MaxPacket: login.MaxPacket, Attrs: login.Attrs, ConnectTimeout: 10 * time.Second,
			})
		}
		b, err := dial()
		if err != nil {
			_ = client.WriteError(ClientError(err))
			return
		}
		defer func() { _ = b.Close() }()
		_ = client.WriteOK(mysql.OK{Status: b.Status})
		for {
			cmd, err := client.ReadCommand()
			if err != nil || cmd.Code == mysql.ComQuit {
				return
			}
			if cmd.Code == mysql.ComChangeUser {
				if login, err = a.ChangeUser(ctx, client, login, find); err != nil {
					return
				}
				_ = b.Close()
				if b, err = dial(); err != nil {
					_ = client.WriteError(ClientError(err))
					return
				}
				_ = client.WriteOK(mysql.OK{Status: b.Status})
				continue
			}
			_, err = mysql.Relay(client, b.Conn, mysql.Request{})
			if errors.Is(err, mysql.ErrUnsupported) {
				_ = client.WriteError(mysql.NewError(mysql.CodeUnknownCommand, "08S01", "Unknown command"))
				continue
			}
			if err != nil {
				t.Logf("relay: %v", err)
				return
			}
		}
	})
}

func open(t *testing.T, addr, params string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", "app:secret@tcp("+addr+")/shop?multiStatements=true&maxAllowedPacket=67108864&"+params)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// rowsOf reads all results of a query as text.
func rowsOf(db *sql.DB, query string, args ...any) (all []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for {
		columns, err := rows.Columns()
		if err != nil {
			return all, err
		}
		types, err := rows.ColumnTypes()
		if err != nil {
			return all, err
		}
		for i, c := range columns {
			all = append(all, c+" "+types[i].DatabaseTypeName())
		}
		for rows.Next() {
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new(sql.RawBytes)
			}
			if err := rows.Scan(values...); err != nil {
				return all, err
			}
			for _, v := range values {
				all = append(all, fmt.Sprintf("%q/%v", *v.(*sql.RawBytes), *v.(*sql.RawBytes) == nil))
			}
		}
		if !rows.NextResultSet() {
			return all, rows.Err()
		}
	}
}

// liveSameAsDirect runs one script directly and through the relay, for each way of logging in.
func liveSameAsDirect(t *testing.T, s *mysqltest.Server) {
	t.Helper()
	stage1 := sha1.Sum([]byte("secret"))
	native := fmt.Sprintf("*%X", sha1.Sum(stage1[:]))
	file := filepath.Join(t.TempDir(), "rows.txt")
	if err := os.WriteFile(file, []byte(strings.Repeat("\x02row\n", 5000)), 0o600); err != nil {
		t.Fatal(err)
	}
	driver.RegisterLocalFile(file)
	defer driver.DeregisterLocalFile(file)

	script := []struct {
		query string
		args  []any
	}{
		{query: "TRUNCATE t"},
		{query: "INSERT INTO t (s, b, d, f, ts) VALUES ('äöü€😀', x'00ff00fe', 12.345, 1e300, '2024-02-29 12:34:56.789012'), (NULL, NULL, NULL, NULL, NULL)"},
		{query: "SELECT * FROM t"},
		{query: "SELECT * FROM t WHERE id >= ?", args: []any{0}},
		{query: "UPDATE t SET d = d WHERE id = 1"},
		{query: "SELECT LAST_INSERT_ID(), ROW_COUNT(), @@character_set_client, @@collation_connection, DATABASE()"},
		{query: "SELECT 1 a; SELECT 2 b, NULL c; SET @x = 5; SELECT @x"},
		{query: "SELECT 1; SELECT no_such_column; SELECT 3"},
		{query: "SELECT * FROM no_such_table"},
		{query: "SELECT ''"},
		{query: "SELECT seq FROM seq_1_to_10000"},
		{query: "SELECT seq, REPEAT('x', 200) FROM seq_1_to_3000 WHERE seq > ?", args: []any{10}},
		{query: "LOAD DATA LOCAL INFILE '" + file + "' INTO TABLE t (s)"},
		{query: "SELECT COUNT(*), MIN(HEX(s)) FROM t WHERE s LIKE '%row'"},
		{query: "BEGIN; INSERT INTO t (s) VALUES ('in'); ROLLBACK; SELECT COUNT(*) FROM t WHERE s = 'in'"},
		{query: "SIGNAL SQLSTATE '45001' SET MESSAGE_TEXT = 'own', MYSQL_ERRNO = 30001"},
		{query: "SELECT ?, ?, ?", args: []any{"a", nil, []byte{0, 1, 2}}},
		{query: "USE mysql"},
		{query: "SELECT DATABASE()"},
		{query: "USE shop"},
	}
	run := func(addr, params string) (results []string) {
		db := open(t, addr, params)
		for _, step := range script {
			rows, err := rowsOf(db, step.query, step.args...)
			results = append(results, fmt.Sprintf("%s: %v %v", step.query, rows, err))
		}
		return results
	}
	for _, track := range []bool{false, true} {
		for name, cred := range map[string]mysql.Credential{"clear": mysql.ParseCredential("secret"), "native hash": mysql.ParseCredential(native)} {
			addr := startRelay(t, s, cred, track)
			for _, params := range []string{"", "clientFoundRows=true&interpolateParams=true&collation=latin1_swedish_ci"} {
				want, got := run(s.Addr, params), run(addr, params)
				for i := range want {
					if got[i] != want[i] {
						t.Errorf("%s, tracked %v, %q:\nrelayed %.500s\ndirect  %.500s", name, track, params, got[i], want[i])
					}
				}
			}
		}
	}
}

func liveSizes(t *testing.T, s *mysqltest.Server) {
	t.Helper()
	addr := startRelay(t, s, mysql.ParseCredential("secret"), true)
	db := open(t, addr, "")
	for size := 16777210; size <= 16777216; size++ {
		// The packet has one byte for the command, or a header of the value, more.
		head, tail := "SELECT LENGTH('", "')"
		query := head + strings.Repeat("x", size-len(head)-len(tail)) + tail
		var n int
		if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil || n != size-len(head)-len(tail) {
			t.Errorf("statement of %d bytes: %d, %v", size, n, err)
		}
		for back := range 6 {
			var value string
			if err := db.QueryRowContext(t.Context(), "SELECT REPEAT('y', ?)", size-back).Scan(&value); err != nil || len(value) != size-back {
				t.Errorf("value of %d bytes: %d, %v", size-back, len(value), err)
			}
		}
		if err := db.QueryRowContext(t.Context(), "SELECT LENGTH(?)", strings.Repeat("z", size)).Scan(&n); err != nil || n != size {
			t.Errorf("parameter of %d bytes: %d, %v", size, n, err)
		}
	}
	if _, err := db.ExecContext(t.Context(), strings.Repeat("x", 16777214)); err == nil || !strings.Contains(err.Error(), "1064") {
		t.Errorf("prepare or query of 16777215 bytes: %.200v", err)
	}
}

func liveStatementTooLarge(t *testing.T, s *mysqltest.Server) {
	t.Helper()
	s.Exec(t, "SET GLOBAL max_allowed_packet = 1048576")
	defer s.Exec(t, "SET GLOBAL max_allowed_packet = 67108864")
	addr := startRelay(t, s, mysql.ParseCredential("secret"), false)
	for _, to := range []string{s.Addr, addr} {
		db := open(t, to, "")
		_, err := db.ExecContext(t.Context(), "SELECT '"+strings.Repeat("x", 20<<20)+"'")
		var told *driver.MySQLError
		switch {
		case err == nil:
			t.Errorf("%s: accepted", to)
		case errors.As(err, &told) && told.Number != mysql.CodePacketTooLarge:
			t.Errorf("%s: %v", to, err)
		default:
			t.Logf("%s: %v", to, err)
		}
		// The connection is closed after that error, the server is well.
		if err := open(t, to, "").PingContext(t.Context()); err != nil {
			t.Errorf("%s: afterwards %v", to, err)
		}
	}
}

func liveBackendConn(t *testing.T, s *mysqltest.Server) {
	t.Helper()
	stage1 := sha1.Sum([]byte("secret"))
	for name, secret := range map[string]mysql.Secret{"password": mysql.ClearSecret("secret"), "proof": mysql.NativeSecret(stage1)} {
		for _, flags := range []uint32{0, mysql.CapDeprecateEOF | mysql.CapMultiStatements | mysql.CapMultiResults} {
			target := Target{Addr: s.Addr, User: "app", Secret: secret, ClientFlags: flags, SessionTrack: true, ConnectTimeout: 10 * time.Second, Attrs: map[string]string{"program_name": "live"}}
			b, err := Dial(t.Context(), target)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			out, err := b.InitDB(t.Context(), "shop")
			if err != nil || out.Track == nil || out.Track.Schema == nil || *out.Track.Schema != "shop" {
				t.Errorf("%s: init db %+v, %v", name, out, err)
			}
			out, err = b.Exec(t.Context(), "SET autocommit = 0")
			if err != nil || out.Status&mysql.StatusAutocommit != 0 || out.Track == nil || !reflect.DeepEqual(out.Track.Variables, []mysql.Variable{{Name: "autocommit", Value: "OFF"}}) {
				t.Errorf("%s: set %+v %+v, %v", name, out, out.Track, err)
			}
			if out, err = b.Exec(t.Context(), "SELECT * FROM mysql.user, seq_1_to_100"); err != nil || out.Rows < 100 || !out.StatusKnown || !out.InTransaction() {
				t.Errorf("%s: select %+v, %v", name, out, err)
			}
			if flags != 0 {
				if out, err = b.Exec(t.Context(), "SELECT 1; SELECT 2; SELECT 3"); err != nil || out.Results != 3 || out.Rows != 3 {
					t.Errorf("%s: multi-results %+v, %v", name, out, err)
				}
			}
			var told *mysql.Error
			if out, err = b.Exec(t.Context(), "SELECT no_such"); !errors.As(err, &told) || told.Code != 1054 || out.StatusKnown {
				t.Errorf("%s: error %+v, %v", name, out, err)
			}
			if out, err = b.Ping(t.Context()); err != nil || !out.StatusKnown {
				t.Errorf("%s: ping %+v, %v", name, out, err)
			}
			if _, err = b.Exec(t.Context(), "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE t (s)"); !errors.As(err, &told) {
				t.Errorf("%s: load data %v", name, err)
			}
			if out, err = b.ResetConnection(t.Context()); err != nil || out.Status&mysql.StatusAutocommit == 0 {
				t.Errorf("%s: reset %+v, %v", name, out, err)
			}
			if !b.Alive() {
				t.Errorf("%s: not alive", name)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			if _, err := b.Exec(ctx, "SELECT SLEEP(60)"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: sleep %v", name, err)
			}
			cancel()
			if err := Kill(t.Context(), target, b.ThreadID, false); err != nil {
				t.Errorf("%s: kill %v", name, err)
			}
			_ = b.Conn.Close()
			if err := Kill(t.Context(), target, 1<<30, true); err != nil {
				t.Errorf("%s: kill of nobody %v", name, err)
			}
		}
	}
	_, err := Dial(t.Context(), Target{Addr: s.Addr, User: "app", Secret: mysql.ClearSecret("secret"), DB: "no_such", ConnectTimeout: 10 * time.Second})
	if got := ClientError(err); got.Code != 1049 || got.State != "42000" {
		t.Errorf("unknown schema: %v", got)
	}
}

// liveCommands sends every kind of command that can be relayed, whose responses must end where the server ends them.
func liveCommands(t *testing.T, s *mysqltest.Server) {
	t.Helper()
	for _, flags := range []uint32{0, mysql.CapDeprecateEOF | mysql.CapPSMultiResults | mysql.CapMultiResults} {
		b, err := Dial(t.Context(), Target{Addr: s.Addr, User: "app", Secret: mysql.ClearSecret("secret"), DB: "shop", ClientFlags: flags, ConnectTimeout: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		do := func(code byte, arg string) mysql.Outcome {
			t.Helper()
			out, err := b.Conn.Exec(code, []byte(arg))
			if err != nil {
				t.Errorf("flags %#x, command %#x: %v", flags, code, err)
			}
			if !b.Alive() {
				t.Errorf("flags %#x, command %#x: more came than was read", flags, code)
			}
			return out
		}
		do(mysql.ComStatistics, "")
		do(mysql.ComProcessInfo, "")
		do(mysql.ComDebug, "")
		do(mysql.ComSetOption, "\x00\x00")
		if out := do(mysql.ComFieldList, "t\x00"); out.Rows != 6 {
			t.Errorf("field list: %+v", out)
		}
		if p := do(mysql.ComStmtPrepare, "INSERT INTO t (s, b) VALUES (?, ?)").Prepared; p.Params != 2 || p.Columns != 0 {
			t.Errorf("prepare an insert: %+v", p)
		}
		p := do(mysql.ComStmtPrepare, "SELECT seq, ? FROM seq_1_to_25").Prepared
		if !p.OK || p.Params != 1 || p.Columns != 2 {
			t.Errorf("prepare: %+v", p)
		}
		id := string(binary.LittleEndian.AppendUint32(nil, p.ID))
		do(mysql.ComStmtSendLongData, id+"\x00\x00long ")
		do(mysql.ComStmtSendLongData, id+"\x00\x00data")
		const params = "\x01\x00\x00\x00\x00\x01\xfd\x00"
		if out := do(mysql.ComStmtExecute, id+"\x00"+params); out.Rows != 25 {
			t.Errorf("execute: %+v", out)
		}
		do(mysql.ComStmtReset, id)
		out := do(mysql.ComStmtExecute, id+"\x01\x01\x00\x00\x00\x00\x01\xfd\x00\x01x")
		if out.Status&mysql.StatusCursorExists == 0 || out.Rows != 0 {
			t.Errorf("open a cursor: %+v", out)
		}
		for i, want := range []uint64{20, 5} {
			out := do(mysql.ComStmtFetch, id+"\x14\x00\x00\x00")
			if out.Rows != want || i == 1 && out.Status&mysql.StatusLastRowSent == 0 {
				t.Errorf("fetch %d: %+v", i, out)
			}
		}
		do(mysql.ComStmtClose, id)
		if _, err := b.Conn.Exec(mysql.ComStmtExecute, []byte(id+"\x00"+params)); err == nil {
			t.Error("execute after close succeeded")
		}
		do(mysql.ComPing, "")
		if flags&mysql.CapMultiResults != 0 {
			do(mysql.ComQuery, "CREATE OR REPLACE PROCEDURE p() BEGIN SELECT 1; SELECT 2, 3; END")
			if out := do(mysql.ComQuery, "CALL p()"); out.Results != 3 || out.Rows != 2 {
				t.Errorf("call: %+v", out)
			}
			p := do(mysql.ComStmtPrepare, "CALL p()").Prepared
			if out := do(mysql.ComStmtExecute, string(binary.LittleEndian.AppendUint32(nil, p.ID))+"\x00\x01\x00\x00\x00"); out.Results != 3 || out.Rows != 2 {
				t.Errorf("execute a call: %+v", out)
			}
		}
		do(mysql.ComResetConnection, "")
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

func liveKillQuery(t *testing.T, s *mysqltest.Server) {
	t.Helper()
	target := Target{Addr: s.Addr, User: "app", Secret: mysql.ClearSecret("secret"), ConnectTimeout: 10 * time.Second}
	b, err := Dial(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	done := make(chan error, 1)
	go func() {
		_, err := b.Exec(t.Context(), "SELECT SLEEP(60) FROM mysql.user")
		done <- err
	}()
	deadline := time.Now().Add(20 * time.Second)
	for running := 0; running == 0; {
		if time.Now().After(deadline) {
			t.Fatal("the query does not run")
		}
		err := s.DB.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.processlist WHERE id = ? AND info LIKE '%SLEEP%'", b.ThreadID).Scan(&running)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := Kill(t.Context(), target, b.ThreadID, true); err != nil {
		t.Fatal(err)
	}
	var told *mysql.Error
	if err := <-done; !errors.As(err, &told) || told.Code != 1317 {
		t.Errorf("the query ended with %v", err)
	}
	if !b.Alive() {
		t.Error("the connection is gone")
	}
}

// liveClients runs real clients through the relay.
func liveClients(t *testing.T, s *mysqltest.Server) {
	t.Helper()
	host, port, err := net.SplitHostPort(startRelay(t, s, mysql.ParseCredential(sha2OfSecret), true))
	if err != nil {
		t.Fatal(err)
	}
	nativeHost, nativePort, err := net.SplitHostPort(startRelay(t, s, mysql.ParseCredential("secret"), true))
	if err != nil {
		t.Fatal(err)
	}
	const sqlText = "SELECT 1 AS a, NULL AS b; SELECT @@version_comment; SELECT * FROM shop.no_such"
	pymysql := `
import pymysql, sys
c = pymysql.connect(host=sys.argv[1], port=int(sys.argv[2]), user="app", password="secret", database="shop", client_flag=65536)
cur = c.cursor()
cur.execute("SELECT 1 AS a, NULL AS b, x'00ff'; SELECT 2")
print(cur.fetchall(), cur.nextset(), cur.fetchall())
cur.execute("INSERT INTO t (s) VALUES (%s)", ("x" * 20000000,))
cur.execute("SELECT LENGTH(s), s FROM t WHERE id = LAST_INSERT_ID()")
r = cur.fetchone()
print(r[0], len(r[1]))
c.ping()
print(c.stat()[:6] if hasattr(c, "stat") else "Uptime")
try:
    cur.execute("SELECT no_such")
except Exception as e:
    print(e.args)
c.close()`
	for _, tt := range []struct {
		name       string
		host, port string
		command    []string
		want       []string
	}{
		{"mariadb by native", nativeHost, nativePort, []string{"mariadb", "--no-defaults", "-uapp", "-psecret", "-e", sqlText}, []string{"1\tNULL", "1146 (42S02)"}},
		{"mariadb by caching_sha2", host, port, []string{"mariadb", "--no-defaults", "-uapp", "-psecret", "-e", sqlText}, []string{"1\tNULL", "1146 (42S02)"}},
		{"mariadb-admin", nativeHost, nativePort, []string{"mariadb-admin", "--no-defaults", "-uapp", "-psecret", "status", "ping", "processlist"}, []string{"Uptime", "alive", "app"}},
		{"mariadb-dump", nativeHost, nativePort, []string{"mariadb-dump", "--no-defaults", "--single-transaction", "-uapp", "-psecret", "shop"}, []string{"CREATE TABLE `t`", "Dump completed"}},
		{"wrong password", nativeHost, nativePort, []string{"mariadb", "--no-defaults", "-uapp", "-pwrong", "-e", sqlText}, []string{"1045 (28000): Access denied for user 'app'@'127.0.0.1' (using password: YES)"}},
		{"pymysql", nativeHost, nativePort, []string{"/usr/bin/python3", "-c", pymysql}, []string{"((1, None, b'\\x00\\xff'),) True ((2,),)", "20000000 20000000", "(1054,"}},
		{"pymysql by caching_sha2", host, port, []string{"/usr/bin/python3", "-c", pymysql}, []string{"((1, None, b'\\x00\\xff'),) True ((2,),)", "20000000 20000000", "(1054,"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := exec.LookPath(tt.command[0]); err != nil {
				t.Skipf("%s is not installed", tt.command[0])
			}
			args := tt.command[1:]
			if tt.command[0] == "/usr/bin/python3" {
				if exec.CommandContext(t.Context(), tt.command[0], "-c", "import pymysql").Run() != nil {
					t.Skip("python3-pymysql is not installed")
				}
				args = append(args, tt.host, tt.port)
			} else {
				args = append([]string{args[0], "--protocol=tcp", "-h" + tt.host, "-P" + tt.port}, args[1:]...)
			}
			out, err := exec.CommandContext(t.Context(), tt.command[0], args...).CombinedOutput()
			for _, want := range tt.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("no %q in %v\n%.2000s", want, err, out)
				}
			}
		})
	}
}

// sha2OfSecret is a caching_sha2_password hash of "secret".
const sha2OfSecret = "$A$005$abcdefghijklmnopqrstYy1cVJ5jT.fk4HyAGlowRhOkI55As4SAesbspXHQvFD"

func liveClientGoesAway(t *testing.T, s *mysqltest.Server) {
	t.Helper()
	addr := startRelay(t, s, mysql.ParseCredential("secret"), false)
	nc, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadFull(nc, make([]byte, 10))
	_ = nc.Close()
	db := open(t, addr, "")
	if err := db.PingContext(t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
