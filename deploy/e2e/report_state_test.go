package e2e

import (
	"database/sql"
	"strconv"
	"strings"
	"testing"

	gomysql "github.com/go-mysql-org/go-mysql/mysql"
)

// onBoth are the ends of a SELECT that send it to the reader and the writer.
var onBoth = []string{"", " FOR UPDATE"}

// proxysql #3000, #2033, #1832: what one session sets is not seen by another one, at the same time or later.
func (r *reports) Test16(t *testing.T) {
	const state = "SELECT CONCAT_WS('|', @@sql_mode, @@sql_safe_updates, @@timestamp > 1e6, @@group_concat_max_len, COALESCE(@v, 'none'))"
	clean := r.wire(t, appUser).run(state).value()
	check := func(who string) {
		t.Helper()
		w := r.wire(t, appUser)
		for _, end := range onBoth {
			if got := w.run(state + end).value(); got != clean {
				t.Errorf("%s sees %s, want %s", who, got, clean)
			}
		}
		if res := w.run("SELECT * FROM mine"); res.err == nil || res.err.Code != gomysql.ER_NO_SUCH_TABLE {
			t.Errorf("%s sees another's temporary table: %v", who, res)
		}
		if res := w.run("SELECT IS_FREE_LOCK('lock16') FOR UPDATE"); who != "a session at the same time" && res.value() != "1" {
			t.Errorf("%s: the lock is held: %v", who, res)
		}
	}
	for range 5 {
		w := r.wire(t, appUser)
		w.do("SET sql_mode = 'ANSI', sql_safe_updates = 1, group_concat_max_len = 4321", "SET timestamp = 1000", "SET @v = 'mine'",
			"CREATE TEMPORARY TABLE mine (a INT)", "SELECT GET_LOCK('lock16', 10)")
		if got := w.run(state).value(); got == clean || !strings.HasSuffix(got, "|ON|0|4321|mine") {
			t.Errorf("the session itself sees %s", got)
		}
		check("a session at the same time")
		w.send(gomysql.COM_QUIT)
		w.wantEnd()
		check("a later session")
	}
}

// proxysql #4512: wait_timeout is no empty promise.
func (r *reports) Test17(t *testing.T) {
	w := r.wire(t, appUser)
	w.do("SET SESSION wait_timeout = 2")
	for _, end := range onBoth {
		w.want("SELECT @@wait_timeout"+end, "2")
	}
	w.sequence = 1
	w.wantEnd() // Error 4031 in front of it is fine.
}

// isolation tells a session's isolation level by what its next transaction sees of another one, on the same server.
func isolation(t *testing.T, w *wire, other *sql.Conn) string {
	t.Helper()
	const read = "SELECT v FROM levels WHERE a = 1"
	w.do("BEGIN")
	before := w.run(read).value()
	defer w.do("COMMIT")
	do(t, other, "BEGIN")
	if _, err := other.ExecContext(t.Context(), "SELECT * FROM e2e.levels FOR UPDATE NOWAIT"); err != nil {
		do(t, other, "ROLLBACK")
		return "SERIALIZABLE"
	}
	do(t, other, "UPDATE e2e.levels SET v = v + 1")
	uncommitted := w.run(read).value()
	do(t, other, "COMMIT")
	committed := w.run(read).value()
	switch before {
	case committed:
		return "REPEATABLE READ"
	case uncommitted:
		return "READ COMMITTED"
	default:
		return "READ UNCOMMITTED"
	}
}

// vitess #19318: how long an isolation level holds. The gateway gives what the server gives.
func (r *reports) Test18(t *testing.T) {
	r.writer.Exec(t, "CREATE TABLE e2e.levels (a INT PRIMARY KEY, v INT)", "INSERT INTO e2e.levels VALUES (1, 1)")
	other, err := r.writer.DB.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	const once, kept = true, false
	direct, through := dialWire(t, r.writer.Addr, appUser), r.wire(t, appUser)
	lasting := "REPEATABLE READ"
	for _, tt := range []struct {
		statement, level string
		once             bool
	}{
		{"DO 1", "REPEATABLE READ", kept},
		{"SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SERIALIZABLE", kept},
		{"SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", "READ UNCOMMITTED", once},
		{"SET SESSION tx_isolation = 'READ-COMMITTED'", "READ COMMITTED", kept},
		{"SET @@tx_isolation = 'SERIALIZABLE'", "SERIALIZABLE", once},
	} {
		if !tt.once {
			lasting = tt.level
		}
		for name, w := range map[string]*wire{"the server": direct, "the gateway": through} {
			w.do(tt.statement)
			first, second := isolation(t, w, other), isolation(t, w, other)
			if first != tt.level || second != lasting {
				t.Errorf("%s after %s: %s, then %s; want %s, then %s", name, tt.statement, first, second, tt.level, lasting)
			}
		}
	}
}

// vitess #21063, MXS-5032: state that is set where no parser of texts looks.
func (r *reports) Test19(t *testing.T) {
	const get = "SELECT @@group_concat_max_len"
	r.writer.Exec(t, "CREATE PROCEDURE e2e.remember() SET SESSION group_concat_max_len = 4321")
	for _, set := range []string{
		"CALL remember()",
		"PREPARE s FROM 'SET group_concat_max_len = 4321'; EXECUTE s",
		"/*!50000 SET group_concat_max_len = 4321 */",
		"BEGIN NOT ATOMIC SET group_concat_max_len = 4321; END",
	} {
		w := r.wire(t, appUser)
		w.query(set)
		for more := true; more; {
			res := w.result()
			if res.err != nil {
				t.Fatalf("%s: %v", set, res.err)
			}
			more = res.more()
		}
		for _, end := range onBoth {
			if got := w.run(get + end).value(); got != "4321" {
				t.Errorf("%s: then %s%s is %s", set, get, end, got)
			}
		}
	}
	r.writer.Exec(t, "CREATE TABLE e2e.kept19 (a INT)")
	w := r.wire(t, appUser)
	w.do("PREPARE s FROM 'SET autocommit = 0'", "EXECUTE s", "INSERT INTO kept19 VALUES (1)")
	w.want("SELECT @@server_id", "1")
	w.want("SELECT COUNT(*) FROM kept19", "1")
	w.do("ROLLBACK")
	r.want(t, "SELECT COUNT(*) FROM e2e.kept19", "0")
}

// want checks a value on the writer, past the gateway.
func (r *reports) want(t *testing.T, query, want string) {
	t.Helper()
	var got string
	if err := r.writer.DB.QueryRowContext(t.Context(), query).Scan(&got); err != nil || got != want {
		t.Errorf("%s: %s (%v), want %s", query, got, err, want)
	}
}

// proxysql #3587, #948: autocommit=0 and savepoints keep the session where its writes are.
func (r *reports) Test20(t *testing.T) {
	r.writer.Exec(t, "CREATE TABLE e2e.kept20 (a INT)")
	w := r.wire(t, appUser)
	w.do("SET autocommit = 0", "SAVEPOINT early", "INSERT INTO kept20 VALUES (1)", "SAVEPOINT a", "INSERT INTO kept20 VALUES (2)")
	w.want("SELECT COUNT(*) FROM kept20", "2")
	w.want("SELECT @@server_id", "1")
	w.do("ROLLBACK TO a")
	w.want("SELECT COUNT(*) FROM kept20", "1")
	r.want(t, "SELECT COUNT(*) FROM e2e.kept20", "0")
	w.do("RELEASE SAVEPOINT a")
	w.want("SELECT @@server_id", "1")
	w.do("COMMIT", "SET autocommit = 1")
	r.want(t, "SELECT COUNT(*) FROM e2e.kept20", "1")
	w.want("SELECT @@server_id", "2")
}

// proxysql #4181: whether a transaction is open after an error is for the server to say.
func (r *reports) Test21(t *testing.T) {
	r.writer.Exec(t, "CREATE TABLE e2e.kept21 (a INT PRIMARY KEY)")
	w := r.wire(t, appUser)
	w.do("BEGIN", "INSERT INTO kept21 VALUES (1)")
	for _, bad := range []string{"nonsense", "INSERT INTO kept21 VALUES (1)", "SELECT * FROM nowhere"} {
		if res := w.run(bad); res.err == nil {
			t.Fatalf("%s: %v", bad, res)
		}
		if res := w.run("SELECT @@server_id"); res.value() != "1" || !res.inTransaction() {
			t.Errorf("in a transaction after %s: %v from server %s", bad, res, res.value())
		}
	}
	w.send(gomysql.COM_PING)
	if res := w.result(); !res.inTransaction() {
		t.Errorf("ping in a transaction: %v", res)
	}
	w.do("ROLLBACK")
	r.want(t, "SELECT COUNT(*) FROM e2e.kept21", "0")
	for range 2 {
		if res := w.run("INSERT INTO nowhere VALUES (1)"); res.err == nil {
			t.Fatal("no error")
		}
		if res := w.run("SELECT @@server_id"); res.value() != "2" || res.inTransaction() {
			t.Errorf("without a transaction, after an error: %v from server %s", res, res.value())
		}
	}
}

// vitess #4915, #13020: LAST_INSERT_ID() is that of the session's own last insert.
func (r *reports) Test22(t *testing.T) {
	r.writer.Exec(t, "CREATE TABLE e2e.ids (id INT AUTO_INCREMENT PRIMARY KEY, a INT)")
	a, b := r.wire(t, appUser), r.wire(t, appUser)
	for i := range 3 {
		mine := a.run("INSERT INTO ids (a) VALUES (1)").insertID
		other := b.run("INSERT INTO ids (a) VALUES (2), (2)").insertID
		if mine == 0 || other <= mine {
			t.Fatalf("ids %d and %d", mine, other)
		}
		a.want("SELECT 'something else'", "something else")
		a.want("SELECT LAST_INSERT_ID()", strconv.FormatUint(mine, 10))
		b.want("SELECT LAST_INSERT_ID()", strconv.FormatUint(other, 10))
		a.do("UPDATE ids SET a = LAST_INSERT_ID(" + strconv.Itoa(1000+i) + ") WHERE id = 1")
		a.want("SELECT LAST_INSERT_ID()", strconv.Itoa(1000+i))
		a.want("SELECT @@last_insert_id", strconv.Itoa(1000+i))
	}
}

// proxysql #445, #887, go-mysql #1188: whether an UPDATE counts rows that it found or that it changed is for the client to say.
func (r *reports) Test23(t *testing.T) {
	r.writer.Exec(t, "CREATE TABLE e2e.same (a INT)", "INSERT INTO e2e.same VALUES (1), (1), (2)")
	clients := map[int64]*sql.DB{
		0: open(t, dsn(appUser, r.gateway.address)),
		2: open(t, dsn(appUser, r.gateway.address)+"&clientFoundRows=true"),
	}
	for range 3 {
		for want, db := range clients {
			db.SetMaxIdleConns(0) // A session each time.
			res, err := db.ExecContext(t.Context(), "UPDATE same SET a = 1 WHERE a = 1")
			if err != nil {
				t.Fatal(err)
			}
			if got, err := res.RowsAffected(); err != nil || got != want {
				t.Errorf("%d rows affected (%v), want %d", got, err, want)
			}
		}
	}
}
