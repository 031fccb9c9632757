package e2e

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	mysql "github.com/go-sql-driver/mysql"
)

// followTime is how soon a connected session follows a publication. The race detector makes everything slow.
func followTime() time.Duration {
	if raceDetector {
		return 5 * time.Second
	}
	return time.Second
}

// TestSplit: reads on the replica, writes and locking reads on the primary, a transaction on one server.
func (d *databases) TestSplit(t *testing.T) {
	f := newFleet(t, d)
	conn := f.session(t)
	wantServer(t, conn, 2, "SELECT @@server_id")
	wantServer(t, conn, 2, "SELECT @@server_id FROM one WHERE id = 1")
	wantServer(t, conn, 1, "SELECT @@server_id FROM one WHERE id = 1 FOR UPDATE")
	wantServer(t, conn, 1, "select @@server_id from one lock in share mode")

	do(t, conn, "INSERT INTO written (note, written_by) VALUES ('plain', @@server_id)")
	do(t, conn, "INSERT INTO written (note, written_by) VALUES (?, @@server_id)", "prepared")
	do(t, conn, "UPDATE written SET written_by = @@server_id + 10 * (written_by <> 1)")
	d.sync(t)
	wantServer(t, conn, 2, "SELECT @@server_id FROM written WHERE note = 'plain' AND written_by = 1")
	wantServer(t, conn, 2, "SELECT @@server_id FROM written WHERE note = ? AND written_by = 1", "prepared")
	wantServer(t, conn, 2, "SELECT @@server_id FROM one WHERE id = ?", 1)
	wantServer(t, conn, 1, "SELECT @@server_id FROM one WHERE id = ? FOR UPDATE", 1)

	for _, tt := range []struct {
		name string
		end  func(*sql.Tx) error
		rows int
	}{
		{"rolled back", (*sql.Tx).Rollback, 0},
		{"committed", (*sql.Tx).Commit, 1},
	} {
		tx, err := conn.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		wantServer(t, tx, 1, "SELECT @@server_id")
		if _, err := tx.ExecContext(t.Context(), "INSERT INTO written (note, written_by) VALUES (?, @@server_id)", tt.name); err != nil {
			t.Fatal(err)
		}
		wantServer(t, tx, 1, "SELECT @@server_id FROM written WHERE note = ?", tt.name)
		wantServer(t, tx, 1, "SELECT COUNT(*) FROM written WHERE note = '"+tt.name+"'")
		if err := tt.end(tx); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		wantServer(t, conn, 2, "SELECT @@server_id")
		d.sync(t)
		if got := number(t, conn, "SELECT COUNT(*) FROM written WHERE note = ?", tt.name); got != tt.rows {
			t.Errorf("%s: %d rows on the replica, want %d", tt.name, got, tt.rows)
		}
	}

	var refused *mysql.MySQLError
	wrong := open(t, strings.Replace(dsn(appUser, f.gateway.address), password, "wrong", 1))
	if err := wrong.PingContext(t.Context()); !errors.As(err, &refused) || refused.Number != 1045 {
		t.Errorf("login with a wrong password: %v, want error 1045", err)
	}
	if _, err := conn.ExecContext(t.Context(), "INSERT INTO nowhere VALUES (1)"); !errors.As(err, &refused) || refused.Number != 1146 {
		t.Errorf("an unknown table: %v, want error 1146", err)
	}
	wantServer(t, conn, 2, "SELECT @@server_id")
}

// TestFollow: connected sessions follow publications and rollbacks; nobody publishes over another one unawares.
func (d *databases) TestFollow(t *testing.T) {
	f := newFleet(t, d)
	const read, prepared = "SELECT @@server_id", "SELECT @@server_id FROM one WHERE id = ?"
	text, binary := f.session(t), f.session(t)
	stmt, err := binary.PrepareContext(t.Context(), prepared)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stmt.Close() })
	follows := func(want int) {
		t.Helper()
		begin := time.Now()
		eventually(t, fmt.Sprintf("the session reads from server %d", want), followTime(), func() (bool, string) {
			got := number(t, text, read)
			return got == want, fmt.Sprintf("server %d", got)
		})
		t.Logf("followed after %v", time.Since(begin).Round(time.Millisecond))
		wantServer(t, binary, want, read)
		wantServer(t, binary, want, prepared, 1)
	}
	follows(2)
	if got := f.server.publish(t, d.split(t, 10), "--expected-generation", "1", "--note", "reads to the writer"); got != 2 {
		t.Errorf("publish: generation %d, want 2", got)
	}
	follows(1)

	stdout, stderr, code := f.server.ctl(t, "publish", d.split(t, 20), "--expected-generation", "1")
	if code == 0 || !strings.Contains(stderr, "1") || !strings.Contains(stderr, "2") || !strings.Contains(stderr, "generation") {
		t.Errorf("publish over another generation: exit status %d\n%s%s", code, stdout, stderr)
	}
	wantServer(t, text, 1, read)

	stdout, stderr, code = f.server.ctl(t, "rollback", "1", "--author", "somebody")
	if code != 0 || !strings.Contains(stdout, "published generation 3") {
		t.Errorf("rollback: exit status %d\n%s%s", code, stdout, stderr)
	}
	follows(2)

	stdout, stderr, code = f.server.ctl(t, "generations")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if code != 0 || len(lines) != 4 || !strings.HasPrefix(lines[1], "3 *") || !strings.Contains(lines[1], "rollback to 1") ||
		!strings.Contains(lines[1], "somebody") || !strings.Contains(lines[2], "reads to the writer") {
		t.Errorf("generations: exit status %d\n%s%s", code, stdout, stderr)
	}

	// What is printed can be published again: passwords stay, and nothing else changes.
	stdout, stderr, code = f.server.ctl(t, "get")
	if code != 0 || strings.Contains(stdout, password) {
		t.Fatalf("get: exit status %d, want no password in\n%s%s", code, stdout, stderr)
	}
	stdout, stderr, code = run(t, []byte(stdout), "pointsmanctl", "--server", f.server.address, "publish", "-")
	if code != 0 || !strings.Contains(stdout, "published generation 4") {
		t.Errorf("publish what was printed: exit status %d\n%s%s", code, stdout, stderr)
	}
	follows(2)
	wantServer(t, f.session(t), 2, read)
}
