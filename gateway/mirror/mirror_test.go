package mirror_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pointsman/pointsman/gateway/mirror"
	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/pool"
)

// patience bounds every wait of these tests.
const patience = 30 * time.Second

// database is a MySQL server that keeps what it is told. It answers WAIT when it is let, and BAD with an error.
type database struct {
	addr string
	let  chan struct{}

	mu     sync.Mutex
	told   []string
	logins int
	now    int // commands under way
	most   int
}

func startDatabase(t *testing.T) *database {
	t.Helper()
	auth, err := mysql.NewAuthenticator()
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &database{addr: l.Addr().String(), let: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var all sync.WaitGroup
	all.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				stop := context.AfterFunc(ctx, func() { _ = nc.Close() })
				defer stop()
				d.serve(ctx, nc, auth)
				_ = nc.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		cancel()
		all.Wait()
	})
	return d
}

func (d *database) serve(ctx context.Context, nc net.Conn, auth *mysql.Authenticator) {
	c := mysql.NewConn(nc)
	greeting := mysql.Greeting{ServerVersion: "9.9.9", ConnectionID: 1, Capabilities: mysql.OfferedCapabilities(), Charset: 45, Status: mysql.StatusAutocommit}
	known := func(string) (mysql.Credential, bool) { return mysql.ParseCredential("secret"), true }
	if _, err := auth.Handshake(ctx, c, greeting, known); err != nil {
		return
	}
	d.mu.Lock()
	d.logins++
	d.mu.Unlock()
	for err := c.WriteOK(mysql.OK{Status: mysql.StatusAutocommit}); err == nil; {
		var cmd *mysql.Command
		if cmd, err = c.ReadCommand(); err != nil || cmd.Code == mysql.ComQuit {
			return
		}
		text := string(cmd.Arg())
		d.note(cmd.Code, text)
		if text == "WAIT" {
			select {
			case <-d.let:
			case <-ctx.Done():
				return
			}
		}
		d.mu.Lock()
		d.now--
		d.mu.Unlock()
		if text == "BAD" {
			err = c.WriteError(mysql.NewError(1064, "42000", "near 'a literal'"))
			continue
		}
		err = c.WriteOK(mysql.OK{Status: mysql.StatusAutocommit})
	}
}

func (d *database) note(code byte, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch code {
	case mysql.ComInitDB:
		text = "schema " + text
	case mysql.ComResetConnection:
		text = "reset"
	}
	d.told = append(d.told, text)
	d.now++
	d.most = max(d.most, d.now)
}

func (d *database) heard() (told []string, logins, most int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.told), d.logins, d.most
}

func (d *database) copy(text string) mirror.Copy {
	return mirror.Copy{
		Text: []byte(text), Timeout: patience,
		Target: pool.Target{Addr: d.addr, User: "app", Secret: mysql.ClearSecret("secret"), DB: "shop", ConnectTimeout: patience},
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-deadline:
			t.Fatalf("not in time: %s", what)
		case <-tick.C:
		}
	}
}

func newMirror(t *testing.T) (*mirror.Mirror, *strings.Builder) {
	t.Helper()
	var log strings.Builder
	m := mirror.New(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(m.Close)
	return m, &log
}

// A connection is used again, and nothing of a copy is left in its session for the next.
func TestCopies(t *testing.T) {
	d := startDatabase(t)
	m, _ := newMirror(t)
	one := mirror.Limits{Running: 1, Waiting: 100}
	for i := range 3 {
		m.Send(d.copy(fmt.Sprintf("INSERT %d", i)), one)
	}
	m.Send(d.copy("BAD"), one)
	m.Send(d.copy("SELECT 1"), one)
	eventually(t, "all are done", func() bool { return m.Sent() == 4 && m.Failed() == 1 })
	eventually(t, "the last reset", func() bool { told, _, _ := d.heard(); return len(told) == 15 })
	told, logins, _ := d.heard()
	want := strings.Fields("schema_shop INSERT_0 reset schema_shop INSERT_1 reset schema_shop INSERT_2 reset schema_shop BAD reset schema_shop SELECT_1 reset")
	if got := strings.ReplaceAll(strings.Join(told, "|"), " ", "_"); got != strings.Join(want, "|") || logins != 1 {
		t.Errorf("%d logins, %s", logins, got)
	}
}

// What does not fit is dropped at once, and no more run at once than may.
func TestBounds(t *testing.T) {
	d := startDatabase(t)
	m, _ := newMirror(t)
	limits := mirror.Limits{Running: 3, Waiting: 4}
	for range 20 {
		m.Send(d.copy("WAIT"), limits)
	}
	if n := m.Dropped(); n != 13 {
		t.Errorf("%d dropped", n)
	}
	eventually(t, "three run", func() bool { told, _, _ := d.heard(); return strings.Count(strings.Join(told, " "), "WAIT") == 3 })
	if n := m.Waiting(); n != 4 {
		t.Errorf("%d wait", n)
	}
	close(d.let)
	eventually(t, "all are done", func() bool { return m.Sent() == 7 && m.Waiting() == 0 })
	if _, _, most := d.heard(); most > 3 {
		t.Errorf("%d at once", most)
	}
	big := d.copy("WAIT")
	big.Text = make([]byte, 65<<20)
	m.Send(big, limits)
	if n := m.Dropped(); n != 14 {
		t.Errorf("%d dropped", n)
	}
}

func TestFailures(t *testing.T) {
	d := startDatabase(t)
	m, log := newMirror(t)
	limits := mirror.Limits{Running: 1, Waiting: 10}
	gone := d.copy("SELECT 1")
	gone.Target.Addr = "127.0.0.1:1"
	m.Send(gone, limits)
	late := d.copy("WAIT")
	late.Timeout = 50 * time.Millisecond
	m.Send(late, limits)
	m.Send(d.copy("BAD"), limits)
	m.Send(d.copy("SELECT 1"), limits)
	eventually(t, "all are done", func() bool { return m.Failed() == 3 && m.Sent() == 1 })
	m.Close()
	if n := strings.Count(log.String(), "mirrored statement failed"); n != 1 || strings.Contains(log.String(), "literal") {
		t.Errorf("log: %s", log)
	}
	told, _, _ := d.heard()
	if !slices.Contains(told, "KILL QUERY 1") {
		t.Errorf("a copy that took too long goes on: %q", told)
	}
}

// Close waits for nothing that hangs.
func TestClose(t *testing.T) {
	d := startDatabase(t)
	m, _ := newMirror(t)
	for range 3 {
		m.Send(d.copy("WAIT"), mirror.Limits{Running: 1, Waiting: 2})
	}
	eventually(t, "one runs", func() bool { told, _, _ := d.heard(); return slices.Contains(told, "WAIT") })
	m.Close()
	m.Send(d.copy("SELECT 1"), mirror.Limits{Running: 1, Waiting: 2})
	if m.Sent() != 0 || m.Dropped() != 3 || m.Failed() != 1 || m.Waiting() != 0 {
		t.Errorf("%d sent, %d dropped, %d failed", m.Sent(), m.Dropped(), m.Failed())
	}
}
