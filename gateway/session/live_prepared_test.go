package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/gateway/mysql"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

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
