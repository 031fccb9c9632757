package e2e

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	gomysql "github.com/go-mysql-org/go-mysql/mysql"
)

// MXS-1110, MXS-1804, MXS-3588: sizes around the longest packet, where an empty one follows.
func (r *reports) Test07(t *testing.T) {
	w := r.wire(t, appUser)
	first := 16777210
	if raceDetector { // Which makes them slow.
		first = maxFragment - 1
	}
	for size := first; size <= 16777216; size++ {
		const before, after = "SELECT LENGTH('", "')"
		length := size - 1 - len(before) - len(after)
		text := append(append([]byte(before), bytes.Repeat([]byte{'x'}, length)...), after...)
		w.query(string(text))
		if got := w.result().value(); got != strconv.Itoa(length) {
			t.Errorf("statement of %d bytes: %s, want %d", size, got, length)
		}
		if size >= maxFragment-1 {
			id, _, _ := w.prepare(string(text))
			w.execute(id, 0)
			if res := w.result(); len(res.rows) != 1 || int(res.rows[0][2])|int(res.rows[0][3])<<8|int(res.rows[0][4])<<16 != length {
				t.Errorf("prepared statement of %d bytes: %v", size, res)
			}
			w.send(gomysql.COM_STMT_CLOSE, number32(id)...)
		}
		res := w.run(fmt.Sprintf("SELECT REPEAT('y', %d)", size-4)) // 4 bytes say how long it is.
		if len(res.rows) != 1 || len(res.rows[0]) != size || bytes.Count(res.rows[0], []byte{'y'}) < size-4 {
			t.Errorf("row of %d bytes: %v", size, res)
		}
	}
	w.want("SELECT @@server_id", "2")
}

// vitess #6747, MXS-4615: several statements in one stop at an error, and are never begun anew once a result is out.
func (r *reports) Test24(t *testing.T) {
	w := r.wire(t, appUser)
	w.query("SELECT 1; SELECT * FROM nowhere; SELECT 2")
	if res := w.result(); res.value() != "1" || !res.more() {
		t.Errorf("first result: %v", res)
	}
	w.wantError(gomysql.ER_NO_SUCH_TABLE)
	w.want("SELECT @@server_id", "2") // And no third result in front of this one.

	w = r.wire(t, "u24")
	w.query("SELECT 24; SELECT SLEEP(60) + 24")
	if res := w.result(); res.value() != "24" || !res.more() {
		t.Errorf("first result: %v", res)
	}
	thread := running(t, r.writer, "SELECT%SLEEP(60) + 24", 1)[0]
	connections := r.own["u24"].writer.accepted.Load()
	r.own["u24"].writer.cut()
	w.wantEnd()
	r.writer.Exec(t, "KILL "+strconv.Itoa(thread))
	running(t, r.writer, "SELECT%SLEEP(60) + 24", 0)
	if got := r.own["u24"].writer.accepted.Load(); got != connections {
		t.Errorf("%d further connections for a session that has ended", got-connections)
	}
}

// proxysql #833, #3500, MXS-1828, MXS-3218: LOAD DATA LOCAL reads the client's file, and data is no command.
func (r *reports) Test25(t *testing.T) {
	r.writer.Exec(t, "CREATE TABLE e2e.loaded (id INT AUTO_INCREMENT PRIMARY KEY, b LONGTEXT)")
	w := r.wire(t, appUser)
	content := func(parts ...string) {
		t.Helper()
		for _, p := range append(parts, "") {
			if err := w.write(append(header(len(p), w.sequence), p...)); err != nil {
				t.Fatal(err)
			}
			w.sequence++
		}
	}
	asked := func(want string) {
		t.Helper()
		if res := w.result(); res.infileName != want {
			t.Fatalf("asked for %q, want %q; %v", res.infileName, want, res)
		}
	}
	const quit, query, load = "\x01", "\x03DROP TABLE loaded", "LOAD DATA LOCAL INFILE '%s' INTO TABLE loaded (b)"
	long := strings.Repeat("x", 100_000)
	w.query(fmt.Sprintf(load+"; "+load+"; SELECT COUNT(*) FROM loaded", "first", "second"))
	asked("first")
	content("\x02first\n", quit, "\n"+query+"\n")
	if res := w.result(); res.affected != 3 || !res.more() {
		t.Errorf("first file: %v", res)
	}
	asked("second")
	content(long[:50_000], long[50_000:], "\n")
	if res := w.result(); res.affected != 1 || !res.more() {
		t.Errorf("second file: %v", res)
	}
	if got := w.result().value(); got != "4" {
		t.Errorf("%s rows, want 4", got)
	}
	r.want(t, "SELECT GROUP_CONCAT(LENGTH(b) ORDER BY id) FROM e2e.loaded", "6,1,18,100000")

	w.query(fmt.Sprintf(load, "/etc/hostname")) // There is such a file where the gateway runs.
	asked("/etc/hostname")
	content() // The client has none.
	if res := w.result(); res.err != nil || res.affected != 0 {
		t.Errorf("a file that the client refuses: %v", res)
	}
	w.want("SELECT @@server_id", "2")
}

// proxysql #1194, #983: a write to a read-only server is an error of the statement, not of the connection.
func (r *reports) Test29(t *testing.T) {
	w := r.wire(t, appUser)
	for range 3 {
		w.query("/* hostgroup=20 */ INSERT INTO n VALUES (29)")
		w.wantError(gomysql.ER_OPTION_PREVENTS_STATEMENT)
		w.want("SELECT @@server_id", "2")
	}
	w.do("BEGIN")
	w.want("SELECT @@server_id", "1")
	w.do("ROLLBACK")
}

// MXS-3267, MDEV-19893: no error between rows, and none with the number 0 to a client that waits for nothing.
func (r *reports) Test32(t *testing.T) {
	w := r.wire(t, "u32")
	w.query("SELECT REPEAT('x', 100000), SLEEP(IF(a = 4, 60, 0)) FROM n ORDER BY a")
	for range 4 { // Number of columns, columns, end of columns.
		if _, err := w.read(); err != nil {
			t.Fatal(err)
		}
	}
	if row, err := w.read(); err != nil || len(row) != 100_006 {
		t.Fatalf("first row: %d bytes, %v", len(row), err)
	}
	thread := running(t, r.writer, "SELECT REPEAT%SLEEP(IF(a = 4%", 1)[0]
	r.own["u32"].writer.cut()
	for rows := 1; ; rows++ {
		row, err := w.read()
		if err != nil {
			if isTimeout(err) {
				t.Errorf("after %d rows: %v, want the end of the connection", rows, err)
			}
			break
		}
		if len(row) != 100_006 || rows >= 3 {
			t.Errorf("row %d: % x", rows, row[:min(len(row), 60)])
			break
		}
	}
	r.writer.Exec(t, "KILL "+strconv.Itoa(thread))

	g := newGateway(t, r.server, r.flags...)
	idle := dialWire(t, g.address, appUser)
	idle.want("SELECT @@server_id", "2")
	idle.sequence = 1 // What comes now must not have the number of a command.
	g.stop(t)
	idle.wantEnd()
}
