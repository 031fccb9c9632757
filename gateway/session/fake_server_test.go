package session

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/pointsman/pointsman/gateway/mysql"
)

// fakeServer is a MySQL server that answers each SELECT with its name and all else with OK. It knows BEGIN, COMMIT and HANG.
type fakeServer struct {
	name string
	addr string
	caps uint32                                                                  // 0: what a gateway offers that knows no server
	on   func(nc net.Conn, c *mysql.Conn, text string) (handled bool, err error) // sees statements first, unless nil

	silent bool // keeps no statements

	mu       sync.Mutex
	logins   int
	got      []string // statements
	listener net.Listener
	conns    map[net.Conn]bool
	serving  sync.WaitGroup
}

// startFake serves until the test ends.
func startFake(t *testing.T, name string) *fakeServer {
	t.Helper()
	return startFakeWith(t, &fakeServer{name: name})
}

func startFakeWith(t *testing.T, f *fakeServer) *fakeServer {
	t.Helper()
	f.addr = "127.0.0.1:0"
	f.start(t)
	t.Cleanup(f.stop)
	return f
}

// start listens, on the old port after stop.
func (f *fakeServer) start(t *testing.T) {
	t.Helper()
	auth, err := newAuth()
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", f.addr)
	if err != nil {
		t.Fatal(err)
	}
	f.addr, f.listener, f.conns = l.Addr().String(), l, map[net.Conn]bool{}
	ctx := context.WithoutCancel(t.Context())
	f.serving.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			f.mu.Lock()
			f.conns[nc] = true
			f.mu.Unlock()
			f.serving.Go(func() {
				f.serve(ctx, nc, auth)
				f.mu.Lock()
				delete(f.conns, nc)
				f.mu.Unlock()
				_ = nc.Close()
			})
		}
	})
}

// stop ends the server as a crash would.
func (f *fakeServer) stop() {
	_ = f.listener.Close()
	f.mu.Lock()
	for nc := range f.conns {
		_ = nc.Close()
	}
	f.mu.Unlock()
	f.serving.Wait()
}

// count tells how often the server got a statement.
func (f *fakeServer) count(text string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, got := range f.got {
		if got == text {
			n++
		}
	}
	return n
}

func (f *fakeServer) serve(ctx context.Context, nc net.Conn, auth *mysql.Authenticator) {
	c := mysql.NewConn(nc)
	greeting := mysql.Greeting{ServerVersion: "9.9.9", ConnectionID: 1, Capabilities: mysql.OfferedCapabilities(), Charset: 45, Status: mysql.StatusAutocommit}
	if f.caps != 0 {
		greeting.Capabilities = f.caps
	}
	known := func(string) (mysql.Credential, bool) { return mysql.ParseCredential("secret"), true }
	if _, err := auth.Handshake(ctx, c, greeting, known); err != nil {
		return
	}
	f.mu.Lock()
	f.logins++
	f.mu.Unlock()
	status := mysql.StatusAutocommit
	for err := c.WriteOK(mysql.OK{Status: status}); err == nil; {
		var cmd *mysql.Command
		if cmd, err = c.ReadCommand(); err != nil || cmd.Code == mysql.ComQuit {
			return
		}
		text := string(cmd.Arg())
		if !f.silent {
			f.mu.Lock()
			f.got = append(f.got, text)
			f.mu.Unlock()
		}
		if f.on != nil {
			var handled bool
			if handled, err = f.on(nc, c, text); handled {
				continue
			}
		}
		switch {
		case strings.HasPrefix(text, "SELECT"):
			err = c.WriteResultset([]mysql.Column{{Name: "server"}}, [][][]byte{{[]byte(f.name)}}, status, 0)
			continue
		case text == "HANG":
			_, _ = nc.Read(make([]byte, 1)) // until the gateway hangs up
			return
		case text == "BEGIN":
			status |= mysql.StatusInTrans
		case text == "COMMIT":
			status &^= mysql.StatusInTrans
		}
		err = c.WriteOK(mysql.OK{Status: status})
	}
}
