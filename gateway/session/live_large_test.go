package session

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"

	"github.com/pointsman/pointsman/gateway/mysql"
)

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
		_, b := s.current()
		return b != nil
	})
}
