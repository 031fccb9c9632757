package e2e

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	mysql "github.com/go-sql-driver/mysql"
)

// monitorUser is whom the monitor logs in as.
const monitorUser = "monitor"

// TestTierStopped: when all servers of the first tier are gone, the next one takes over at once; when they are back, so is
// the traffic.
func (d *guidelineDatabases) TestTierStopped(t *testing.T) {
	f := d.newFleet(t, guideline(t, "tiers",
		to("rw", "$.router.routeName = 'rw'", "Canary", "Main"),
		to("batch", "$.session.user = 'batch'", "Remote", "Canary", "Main"), toMain))
	whole := login{listener: "rw"} // Reads and writes go to the same servers.
	split := login{user: "batch"}
	conn, idle, batch, busy, other := f.session(t, whole), f.session(t, whole), f.session(t, split), f.session(t, split), f.session(t, login{})
	wantServers(t, conn, 3, 3)
	wantServers(t, idle, 3, 3)
	wantServers(t, batch, 4, 3)
	wantServers(t, other, 2, 1)
	tx, err := busy.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	wantServer(t, tx, 3, readQuery)

	traffic := f.startReaders(t, whole, 8)
	traffic.read(t, 3)
	d.canary.Kill(t)
	d.remote.Kill(t)
	traffic.read(t, 1, 2)
	if got := number(t, f.session(t, whole), writeQuery); got != 1 && got != 2 {
		t.Errorf("a new session is on server %d, want 1 or 2", got)
	}
	wantServers(t, f.session(t, split), 2, 1)
	// A session may learn by an answer that its server is gone, and lives on.
	for _, c := range []*sql.Conn{conn, idle, batch} {
		for _, query := range []string{readQuery, writeQuery} {
			if _, refusal, lost := answer(t.Context(), c, query); lost != nil {
				t.Errorf("a session is lost with its server: %v", lost)
			} else if refusal != nil {
				t.Logf("answer: %v", refusal)
			}
		}
	}
	for _, c := range []*sql.Conn{conn, idle} {
		if got := number(t, c, readQuery); got != 1 && got != 2 {
			t.Errorf("the next tier's server is %d, want 1 or 2", got)
		}
	}
	wantServers(t, batch, 2, 1)
	wantServers(t, other, 2, 1)
	if _, err := tx.ExecContext(t.Context(), "DO 1"); err == nil {
		t.Error("a transaction goes on without its server")
	}
	_ = tx.Rollback() // What is answered does not matter.
	f.wantOperators(t, other)

	d.canary.Restart(t)
	d.remote.Restart(t)
	traffic.read(t, 3)
	d.canary.Kill(t)
	traffic.read(t, 1, 2)
	d.canary.Restart(t)
	traffic.read(t, 3)
	traffic.end()
	traffic.check(t, 2)
	moves(t, conn, 3)
	moves(t, idle, 3)
	moves(t, batch, 4)
	wantServers(t, conn, 3, 3)
	wantServers(t, f.session(t, whole), 3, 3)
	wantServers(t, f.session(t, split), 4, 3)
	wantServers(t, batch, 4, 3)
}

// readers are sessions that read without a pause. Each keeps to its one connection.
type readers struct {
	sessions []*readerSession
	end      func()
}

type readerSession struct {
	last     atomic.Int64 // The server that answered the last statement.
	refusals atomic.Int64 // Statements that were answered by an error.
	lost     atomic.Pointer[error]
}

// startReaders logs n sessions in and starts them.
func (f *guidelineFleet) startReaders(t *testing.T, l login, n int) *readers {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	r := &readers{end: func() { stop(); running.Wait() }}
	t.Cleanup(r.end)
	for range n {
		conn, s := f.session(t, l), &readerSession{}
		r.sessions = append(r.sessions, s)
		running.Go(func() {
			for ctx.Err() == nil {
				server, refusal, lost := answer(context.WithoutCancel(ctx), conn, readQuery)
				switch {
				case lost != nil:
					s.lost.Store(&lost)
					return
				case refusal != nil:
					s.refusals.Add(1)
				default:
					s.last.Store(server)
				}
			}
		})
	}
	return r
}

// read waits until all sessions read from one of those servers.
func (r *readers) read(t *testing.T, servers ...int64) {
	t.Helper()
	eventually(t, fmt.Sprintf("all sessions read from %v", servers), patience, func() (bool, string) {
		for i, s := range r.sessions {
			if lost := s.lost.Load(); lost != nil {
				t.Fatalf("session %d is lost: %v", i, *lost)
			}
			if got := s.last.Load(); !slices.Contains(servers, got) {
				return false, fmt.Sprintf("session %d: server %d, %d refusals", i, got, s.refusals.Load())
			}
		}
		return true, ""
	})
}

// check fails the test if a session was lost, or was refused more often than its server was killed: what ran on it may fail.
func (r *readers) check(t *testing.T, kills int64) {
	t.Helper()
	for i, s := range r.sessions {
		if lost := s.lost.Load(); lost != nil {
			t.Errorf("session %d is lost: %v", i, *lost)
		}
		if got := s.refusals.Load(); got > kills {
			t.Errorf("session %d was refused %d times by %d kills", i, got, kills)
		}
	}
}

// answer runs a query. refusal: it is answered by an error. lost: the connection is gone.
func answer(ctx context.Context, conn *sql.Conn, query string) (server int64, refusal *mysql.MySQLError, lost error) {
	err := conn.QueryRowContext(ctx, query).Scan(&server)
	if refusal, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return 0, refusal, nil
	}
	return server, nil, err
}

// TestRoles: the monitor reads from the servers who the primary is, and writes follow it.
func (d *guidelineDatabases) TestRoles(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "monitor")
	if err := os.WriteFile(secret, []byte(password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	document := `{"version": "1.1", "name": "roles", "destinations": [
			{"name": "Primary", "match": "$.server.memberRole = PRIMARY"},
			{"name": "Secondary", "match": "$.server.memberRole = SECONDARY"}],
		"routes": [{"name": "all", "match": "TRUE", "destinations": [
			{"classes": ["Primary"], "strategy": "first-available", "priority": 0},
			{"classes": ["Secondary"], "strategy": "round-robin", "priority": 1}]}]}`
	server := newPointsman(t, "--monitor-username", monitorUser, "--monitor-password-file", secret, "--monitor-interval", "100ms")
	server.publish(t, configuration(t, "guideline_roles.yaml", map[string]any{
		"Canary": d.canary.Port, "Remote": d.remote.Port, "Password": password, "Document": document,
	}))
	f := &guidelineFleet{guidelineDatabases: d, server: server, gateway: newGateway(t, server)}
	f.listeners = map[string]string{"": f.gateway.address}
	conn := f.session(t, login{})
	roles := func(reads, writes int) {
		t.Helper()
		eventually(t, fmt.Sprintf("writes go to server %d, reads to %d", writes, reads), patience, func() (bool, string) {
			gotReads, gotWrites := number(t, conn, readQuery), number(t, conn, writeQuery)
			return gotReads == reads && gotWrites == writes, fmt.Sprintf("writes to server %d, reads to %d", gotWrites, gotReads)
		})
		wantServers(t, f.session(t, login{}), reads, writes)
	}
	roles(4, 3)
	shows := func(words ...string) {
		t.Helper()
		eventually(t, fmt.Sprintf("guideline show tells %q", words), patience, func() (bool, string) {
			stdout, stderr, _ := server.ctl(t, "guideline", "show")
			line := func(line string) bool {
				return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) })
			}
			return slices.ContainsFunc(strings.Split(stdout, "\n"), line), stdout + stderr
		})
	}
	shows(d.canary.Addr, "PRIMARY", "monitor", "Primary")
	shows(d.remote.Addr, "SECONDARY", "monitor", "Secondary")
	d.canary.Exec(t, "SET GLOBAL read_only = 1")
	d.remote.Exec(t, "SET GLOBAL read_only = 0")
	roles(3, 4)
	d.remote.Exec(t, "SET GLOBAL read_only = 1")
	d.canary.Exec(t, "SET GLOBAL read_only = 0")
	roles(4, 3)

	d.remote.Kill(t)
	shows(d.remote.Addr, "SECONDARY", "monitor", "connection refused")
	wantServers(t, f.session(t, login{}), 3, 3)
	d.remote.Restart(t)
	roles(4, 3)
}

// TestDecisionsKilled: without the decision server sessions go where the guideline sends them, old and new ones.
func (d *guidelineDatabases) TestDecisionsKilled(t *testing.T) {
	f := d.newFleet(t, guideline(t, "kept", to("app", "$.session.user = 'app'", "Canary"), to("batch", "$.session.user = 'batch'", "Remote", "Main")))
	app, batch, tester := f.session(t, login{}), f.session(t, login{user: "batch"}), f.session(t, login{user: "tester"})
	const refusal = `no route of the routing guideline "kept" matches this session`
	wantServers(t, app, 3, 3)
	wantServers(t, batch, 4, 1)
	wantRefused(t, tester, readQuery, refusal)

	f.server.kill(t)
	eventually(t, "the gateway sees that the decision server is gone", patience, func() (bool, string) {
		up := f.gateway.metric(t, "pointsman_gateway_decision_connected")
		return up == 0, fmt.Sprint("pointsman_gateway_decision_connected ", up)
	})
	wantServers(t, app, 3, 3)
	wantServers(t, batch, 4, 1)
	wantServers(t, f.session(t, login{}), 3, 3)
	wantServers(t, f.session(t, login{user: "batch"}), 4, 1)
	wantRefused(t, tester, readQuery, refusal)
	// What was never decided goes to the default hostgroup, which is the writers', and so to the route's primaries.
	const undecided = "SELECT @@server_id WHERE 'this was' <> 'never decided'"
	wantServer(t, app, 3, undecided)
	wantServer(t, batch, 1, undecided)
	wantRefused(t, tester, undecided, refusal)
	wantServer(t, f.session(t, login{user: "apart"}), 2, undecided)

	// A gateway that has only its last good copy knows the guideline from there.
	f.gateway.kill(t)
	f.gateway.start(t)
	var conn *sql.Conn
	eventually(t, "the gateway lets in again", patience, func() (bool, string) {
		var err error
		conn, err = f.connect(t, login{})
		return err == nil, fmt.Sprint(err)
	})
	wantServers(t, conn, 3, 3)
	wantRefused(t, f.session(t, login{user: "tester"}), undecided, refusal)

	f.server.start(t)
	f.server.awaitHealth(t, "")
	batch = f.session(t, login{user: "batch"})
	moves(t, batch, 4)
	wantServers(t, conn, 3, 3)
}
