package e2e

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// traffic are sessions that read, and now and then write a row in a transaction. Each keeps to its one connection.
type traffic struct {
	sessions []*trafficSession
	stop     context.CancelFunc
	running  sync.WaitGroup
}

type trafficSession struct {
	statements atomic.Int64
	lastRead   atomic.Int64 // The server that answered the last read.
	lost       atomic.Pointer[error]
}

// trafficPause keeps the traffic of one session small: what is tested is how many live on, not how fast they are.
const trafficPause = 25 * time.Millisecond

// startTraffic logs n sessions in and starts them.
func (f *fleet) startTraffic(t *testing.T, n int) *traffic {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	tr := &traffic{stop: stop}
	t.Cleanup(tr.end)
	db := open(t, dsn(appUser, f.gateway.address))
	for range n {
		conn, err := db.Conn(ctx)
		if err != nil {
			t.Fatalf("log in to the gateway: %v", err)
		}
		s := &trafficSession{}
		tr.sessions = append(tr.sessions, s)
		tr.running.Go(func() {
			defer func() { _ = conn.Close() }()
			pace := time.NewTicker(trafficPause)
			defer pace.Stop()
			for i := 1; ; i++ {
				select {
				case <-pace.C:
				case <-ctx.Done():
					return
				}
				if err := s.step(context.WithoutCancel(ctx), conn, i); err != nil {
					s.lost.Store(&err)
					return
				}
			}
		})
	}
	return tr
}

// step is one read or, every tenth time, one transaction, which must be on the primary.
func (s *trafficSession) step(ctx context.Context, conn *sql.Conn, i int) error {
	var id int64
	if i%10 != 0 {
		if err := conn.QueryRowContext(ctx, "SELECT @@server_id").Scan(&id); err != nil {
			return fmt.Errorf("read %d: %w", i, err)
		}
		s.lastRead.Store(id)
		s.statements.Add(1)
		return nil
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin %d: %w", i, err)
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO written (note, written_by) VALUES ('traffic', @@server_id)")
	if err == nil {
		err = tx.QueryRowContext(ctx, "SELECT @@server_id").Scan(&id)
	}
	if err == nil && id != 1 {
		err = fmt.Errorf("a transaction is on server %d", id)
	}
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		return fmt.Errorf("transaction %d: %w", i, errors.Join(err, tx.Rollback()))
	}
	s.statements.Add(1)
	return nil
}

func (tr *traffic) end() {
	tr.stop()
	tr.running.Wait()
}

// check fails the test if a session was lost.
func (tr *traffic) check(t *testing.T) {
	t.Helper()
	for i, s := range tr.sessions {
		if err := s.lost.Load(); err != nil {
			t.Fatalf("session %d is lost: %v", i, *err)
		}
	}
}

// goOn waits until each session has got so many answers more.
func (tr *traffic) goOn(t *testing.T, statements int64) {
	t.Helper()
	before := make([]int64, len(tr.sessions))
	for i, s := range tr.sessions {
		before[i] = s.statements.Load()
	}
	eventually(t, "all sessions go on", patience, func() (bool, string) {
		tr.check(t)
		for i, s := range tr.sessions {
			if got := s.statements.Load() - before[i]; got < statements {
				return false, fmt.Sprintf("session %d: %d statements", i, got)
			}
		}
		return true, ""
	})
}

// read waits until all sessions read from a server.
func (tr *traffic) read(t *testing.T, want int64) {
	t.Helper()
	eventually(t, fmt.Sprintf("all sessions read from server %d", want), patience, func() (bool, string) {
		tr.check(t)
		for i, s := range tr.sessions {
			if got := s.lastRead.Load(); got != want {
				return false, fmt.Sprintf("session %d: server %d", i, got)
			}
		}
		return true, ""
	})
}

// TestServerKilled: without the decision server no session is lost; when it is back, its generations are followed.
func (d *databases) TestServerKilled(t *testing.T) {
	f := newFleet(t, d)
	idle := f.session(t)
	wantServer(t, idle, 2, "SELECT @@server_id")
	tr := f.startTraffic(t, 50)
	tr.goOn(t, 12)
	tr.read(t, 2)

	store := f.server.store(t)
	f.server.kill(t)
	tr.goOn(t, 80)
	tr.read(t, 2) // As decided before.
	eventually(t, "the gateway sees that the decision server is gone", patience, func() (bool, string) {
		up := f.gateway.metric(t, "pointsman_gateway_decision_connected")
		return up == 0, fmt.Sprint("pointsman_gateway_decision_connected ", up)
	})
	wantServer(t, idle, 2, "SELECT @@server_id")
	wantServer(t, idle, 1, "SELECT @@server_id FROM one WHERE 'this was' <> 'never decided'")
	wantServer(t, f.session(t), 2, "SELECT @@server_id")
	eventually(t, "the store ends with its server", patience, func() (bool, string) {
		return !alive(store), fmt.Sprint("process ", store)
	})

	f.server.start(t)
	f.server.awaitHealth(t, "")
	f.server.awaitHealth(t, "pointsman.config.v1.ConfigService")
	if got := f.server.publish(t, d.split(t, 10)); got != 2 {
		t.Errorf("publish after the restart: generation %d, want 2", got)
	}
	tr.read(t, 1)
	f.server.publish(t, d.split(t, 20))
	tr.read(t, 2)
	wantServer(t, idle, 2, "SELECT @@server_id")
	tr.goOn(t, 10)
	tr.end()
	tr.check(t)
}

// TestStoreKilled: decisions need no store, and it comes back. A server that finds none at its start has its copy.
func (d *databases) TestStoreKilled(t *testing.T) {
	f := newFleet(t, d)
	const decided = "generation 1, hostgroup 20, REASON_RULE"
	route := func() string { return f.server.route(t, schema, "SELECT 1") }
	if got := route(); got != decided {
		t.Fatalf("decision: %s, want %s", got, decided)
	}
	tr := f.startTraffic(t, 5)
	tr.goOn(t, 5)

	killed := f.server.store(t)
	if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := route(); got != decided {
		t.Errorf("decision without the store: %s, want %s", got, decided)
	}
	eventually(t, "another store runs", patience, func() (bool, string) {
		pid := f.server.store(t)
		return pid != killed, fmt.Sprint("process ", pid)
	})
	eventually(t, "publishing works again", patience, func() (bool, string) {
		stdout, stderr, code := f.server.ctl(t, "publish", d.split(t, 10), "--expected-generation", "1")
		return code == 0, stdout + stderr
	})
	tr.read(t, 1)
	tr.goOn(t, 2)

	f.server.stop(t)
	f.server.start(t, "--store", "etcd", "--etcd-endpoints", "http://"+freeAddress(t))
	f.server.awaitHealth(t, "")
	if got, want := route(), "generation 2, hostgroup 10, REASON_RULE"; got != want {
		t.Errorf("decision after a restart without the store: %s, want %s", got, want)
	}
	if stdout, stderr, code := f.server.ctl(t, "publish", d.split(t, 20)); code != 2 || !strings.Contains(stderr, "store") {
		t.Errorf("publish without the store: exit status %d, want 2\n%s%s", code, stdout, stderr)
	}
	eventually(t, "the gateway is connected again", patience, func() (bool, string) { return get(t, f.gateway.admin, "/readyz") })
	wantServer(t, f.session(t), 1, "SELECT @@server_id FROM one WHERE 'this was' <> 'never decided'")
	tr.goOn(t, 2)
	tr.end()
	tr.check(t)
}

// TestGatewayAlone: a gateway that finds no decision server at its start has the users and servers of before.
func (d *databases) TestGatewayAlone(t *testing.T) {
	f := newFleet(t, d)
	wantServer(t, f.session(t), 2, "SELECT @@server_id")
	f.server.kill(t)
	f.gateway.kill(t)
	f.gateway.start(t)
	eventually(t, "the gateway listens", patience, func() (bool, string) {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", f.gateway.address)
		if err != nil {
			return false, err.Error()
		}
		return c.Close() == nil, ""
	})
	wantServer(t, f.session(t), 1, "SELECT @@server_id") // The default hostgroup: nothing was decided yet.
	f.server.start(t)
	f.server.awaitHealth(t, "")
	conn := f.session(t)
	eventually(t, "decisions are asked for again", patience, func() (bool, string) {
		got := number(t, conn, "SELECT @@server_id")
		return got == 2, fmt.Sprint("server ", got)
	})
}

// TestStop: SIGTERM ends the programs in good order; a transaction may end before.
func (d *databases) TestStop(t *testing.T) {
	f := newFleet(t, d)
	idle, busy := f.session(t), f.session(t)
	wantServer(t, idle, 2, "SELECT @@server_id")
	tx, err := busy.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "INSERT INTO written (note, written_by) VALUES ('draining', @@server_id)"); err != nil {
		t.Fatal(err)
	}
	f.gateway.signal(t, syscall.SIGTERM)
	eventually(t, "the gateway drains", patience, func() (bool, string) {
		_, text := get(t, f.gateway.admin, "/readyz")
		return strings.Contains(text, "draining"), text
	})
	if err := tx.Commit(); err != nil {
		t.Errorf("commit while the gateway drains: %v", err)
	}
	if code := f.gateway.wait(t); code != 0 {
		t.Errorf("gateway: exit status %d, want 0", code)
	}
	if err := idle.PingContext(t.Context()); err == nil {
		t.Error("an idle session outlives the gateway")
	}
	rows := 0
	if err := d.primary.DB.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM e2e.written WHERE note = 'draining'").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("%d rows of the transaction, %v, want 1", rows, err)
	}

	store := f.server.store(t)
	f.server.stop(t)
	if alive(store) {
		t.Errorf("the store, process %d, outlives its server", store)
	}
}
