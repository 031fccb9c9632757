package e2e

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"

	gomysql "github.com/go-mysql-org/go-mysql/mysql"
)

// binaryText is the first value of a binary row, a text.
func binaryText(res response) string {
	if len(res.rows) == 0 {
		return "no rows: " + res.String()
	}
	row := res.rows[0]
	if row[1]&4 != 0 {
		return "NULL"
	}
	value, _, _, err := gomysql.LengthEncodedString(row[1+(res.columns+9)/8:])
	if err != nil {
		return err.Error()
	}
	return string(value)
}

// proxysql #3593, kingshard #576: mysqli and others send the types of parameters with the first execute only.
func (r *reports) Test08(t *testing.T) {
	w := r.wire(t, appUser)
	id, _, _ := w.prepare("SELECT CONCAT_WS(':', @@server_id, ?, ?)")
	integer := func(n byte) []byte { return []byte{n, 0, 0, 0, 0, 0, 0, 0} }
	const noNull, firstNull = 0, 1
	types := []byte{longlongType, 0, textType, 0}
	check := func(want string, rest ...byte) {
		t.Helper()
		w.execute(id, 0, rest...)
		if got := binaryText(w.result()); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	join := func(parts ...[]byte) (b []byte) {
		for _, p := range parts {
			b = append(b, p...)
		}
		return b
	}
	check("2:7:ab", join([]byte{noNull, 1}, types, integer(7), []byte("\x02ab"))...)
	check("2:8:cde", join([]byte{noNull, 0}, integer(8), []byte("\x03cde"))...)
	check("2:f", firstNull, 0, 1, 'f')
	w.do("BEGIN") // On the writer the statement is prepared only now.
	check("1:9:g", join([]byte{noNull, 0}, integer(9), []byte("\x01g"))...)
	w.do("COMMIT")
	check("2:10:", join([]byte{noNull, 0}, integer(10), []byte("\x00"))...)
}

// MXS-1808, MXS-2521: long data goes where its statement is executed.
func (r *reports) Test09(t *testing.T) {
	w := r.wire(t, appUser)
	id, _, _ := w.prepare("INSERT INTO blobs (b) VALUES (?)")
	w.longData(id, "begin ")
	w.longData(id, strings.Repeat("middle ", 20_000))
	w.run("SELECT @@server_id") // In between, wherever it goes.
	w.longData(id, "end")
	w.execute(id, 0, 0, 1, blobType, 0)
	long := w.result()
	w.execute(id, 0, 0, 1, blobType, 0, 5, 's', 'h', 'o', 'r', 't')
	short := w.result()
	if long.err != nil || long.affected != 1 || short.err != nil || short.affected != 1 {
		t.Fatalf("%v, %v", long, short)
	}
	want := "begin " + strings.Repeat("middle ", 20_000) + "end"
	for id, want := range map[uint64]string{long.insertID: want, short.insertID: "short"} {
		var got string
		if err := r.writer.DB.QueryRowContext(t.Context(), "SELECT b FROM e2e.blobs WHERE id = ?", id).Scan(&got); err != nil || got != want {
			t.Errorf("row %d holds %d bytes (%v), want %d", id, len(got), err, len(want))
		}
	}
	w.want("SELECT @@server_id", "2")
}

// MXS-1824: two cursors are open at once.
func (r *reports) Test10(t *testing.T) {
	w := r.wire(t, appUser)
	up, _, _ := w.prepare("SELECT a FROM n ORDER BY a")
	down, _, _ := w.prepare("SELECT a FROM n ORDER BY a DESC")
	for _, id := range []uint32{up, down} {
		w.execute(id, 1)
		if res := w.result(); res.err != nil || len(res.rows) != 0 {
			t.Fatalf("open a cursor: %v", res)
		}
	}
	fetch := func(id uint32, n byte, want ...int32) {
		t.Helper()
		var got []int32
		for _, row := range w.fetch(id, n).rows {
			got = append(got, int32(binary.LittleEndian.Uint32(row[2:])))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("fetched %v, want %v", got, want)
		}
	}
	fetch(up, 2, 1, 2)
	fetch(down, 1, 5)
	w.want("SELECT @@server_id FROM n WHERE a = 1 FOR UPDATE", "1")
	fetch(up, 1, 3)
	fetch(down, 2, 4, 3)
	w.send(gomysql.COM_STMT_CLOSE, number32(up)...)
	fetch(down, 9, 2, 1)
}

// proxysql #1574, #5550: columns of a prepared statement after ALTER TABLE.
func (r *reports) Test11(t *testing.T) {
	const table, query = "e2e.altered", "SELECT * FROM altered FOR UPDATE"
	r.writer.Exec(t, "CREATE TABLE "+table+" (a VARCHAR(10))", "INSERT INTO "+table+" VALUES ('a')")
	old := r.wire(t, appUser)
	id, _, columns := old.prepare(query)
	check := func(want int, first string) {
		t.Helper()
		old.execute(id, 0)
		if res := old.result(); res.columns != want || binaryText(res) != first {
			t.Errorf("re-executed: %v, first value %s, want %d columns and %s", res, binaryText(res), want, first)
		}
		fresh := r.wire(t, appUser)
		id, _, columns := fresh.prepare(query)
		fresh.execute(id, 0)
		if res := fresh.result(); columns != want || res.columns != want || binaryText(res) != first {
			t.Errorf("new client: %d columns prepared, %v, want %d", columns, res, want)
		}
		if res := fresh.run(query); res.columns != want {
			t.Errorf("as text: %v, want %d columns", res, want)
		}
	}
	if columns != 1 {
		t.Errorf("%d columns, want 1", columns)
	}
	check(1, "a")
	r.writer.Exec(t, "ALTER TABLE "+table+" ADD COLUMN z VARCHAR(10) DEFAULT 'z' FIRST")
	check(2, "z")
	r.writer.Exec(t, "ALTER TABLE "+table+" DROP COLUMN z")
	check(1, "a")
}

// proxysql #4475: statements that nobody prepared.
func (r *reports) Test12(t *testing.T) {
	w := r.wire(t, appUser)
	w.execute(77, 0)
	w.wantError(gomysql.ER_UNKNOWN_STMT_HANDLER)
	id, _, _ := w.prepare("SELECT @@server_id")
	w.longData(78, "nobody's")
	w.send(gomysql.COM_STMT_CLOSE, number32(79)...)
	w.send(gomysql.COM_STMT_RESET, number32(80)...)
	w.wantError(gomysql.ER_UNKNOWN_STMT_HANDLER)
	w.send(gomysql.COM_STMT_FETCH, append(number32(81), 1, 0, 0, 0)...)
	w.wantError(gomysql.ER_UNKNOWN_STMT_HANDLER)
	w.send(gomysql.COM_STMT_CLOSE, number32(id)...)
	w.execute(id, 0)
	w.wantError(gomysql.ER_UNKNOWN_STMT_HANDLER)
	w.send(gomysql.COM_STMT_EXECUTE, 1, 2) // Not even an id.
	if res := w.result(); res.err == nil {
		t.Errorf("half an EXECUTE: %v", res)
	}
	w.want("SELECT @@server_id", "2")
}

// pipeline sends commands in one go, before any of their responses is read.
func (w *wire) pipeline(commands ...[]byte) {
	w.t.Helper()
	var all []byte
	for _, c := range commands {
		all = append(append(all, header(len(c), 0)...), c...)
	}
	if err := w.write(all); err != nil {
		w.t.Fatal(err)
	}
}

// next begins the response of a pipelined command.
func (w *wire) next() *wire {
	w.sequence = 1
	return w
}

// MXS-2490, MXS-4420: the last prepared statement by the id -1, before its true id is known, and 50 queries unread.
func (r *reports) Test13(t *testing.T) {
	w := r.wire(t, appUser)
	last := append(number32(0xFFFFFFFF), 0, 1, 0, 0, 0)
	prepare := func(text string) []byte { return append([]byte{gomysql.COM_STMT_PREPARE}, text...) }
	execute := append([]byte{gomysql.COM_STMT_EXECUTE}, last...)
	w.pipeline(prepare("SELECT CONCAT('one ', @@server_id)"), execute, prepare("SELECT CONCAT('two ', @@server_id) FOR UPDATE"), execute)
	for _, want := range []string{"one 2", "two 1"} {
		w.next().prepared()
		if got := binaryText(w.next().result()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}

	var queries [][]byte
	for i := range 50 {
		text := fmt.Sprintf("SELECT %d * 10 + @@server_id", i)
		if i%2 == 1 {
			text += " FOR UPDATE" // The other server.
		}
		queries = append(queries, append([]byte{gomysql.COM_QUERY}, text...))
	}
	w.pipeline(queries...)
	for i := range 50 {
		if got, want := w.next().result().value(), strconv.Itoa(i*10+2-i%2); got != want {
			t.Fatalf("query %d: %s, want %s", i, got, want)
		}
	}
}

// mysql-nio #15: the statement is closed before the answer to its execution is read.
func (r *reports) Test14(t *testing.T) {
	w := r.wire(t, appUser)
	for _, text := range []string{"DO 1", "SELECT CONCAT('x', @@server_id)"} {
		id, _, _ := w.prepare(text)
		w.pipeline(
			append(append([]byte{gomysql.COM_STMT_EXECUTE}, number32(id)...), 0, 1, 0, 0, 0),
			append([]byte{gomysql.COM_STMT_CLOSE}, number32(id)...),
			append([]byte{gomysql.COM_QUERY}, "SELECT @@server_id"...))
		if res := w.next().result(); res.err != nil {
			t.Errorf("%s: %v", text, res)
		}
		if got := w.next().result().value(); got != "2" {
			t.Errorf("after %s: %s, want 2", text, got)
		}
	}
}

// MXS-5302: many prepared statements, of which none is lost with the connection they were prepared on.
func (r *reports) Test15(t *testing.T) {
	const statements = 200
	w := r.wire(t, "u15")
	ids := make([]uint32, statements)
	for i := range ids {
		ids[i], _, _ = w.prepare(fmt.Sprintf("SELECT CONCAT('%d:', ?)", i))
	}
	check := func(value byte) {
		t.Helper()
		for i, id := range ids {
			w.execute(id, 0, 0, 1, textType, 0, 1, value)
			if got, want := binaryText(w.result()), fmt.Sprintf("%d:%c", i, value); got != want {
				t.Fatalf("statement %d: %s, want %s", i, got, want)
			}
		}
	}
	check('a')
	r.own["u15"].writer.cut()
	check('b')
}
