package e2e

import (
	"bytes"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// link is a network between a gateway and a server that can break. All connections go through it.
type link struct {
	address string // What the gateway connects to.

	target   string
	listener net.Listener
	running  sync.WaitGroup
	accepted atomic.Int64

	mu     sync.Mutex
	thawed *sync.Cond
	frozen bool
	fatal  []byte
	conns  map[*linked]bool
}

// linked is one connection through a link.
type linked struct {
	near, far net.Conn    // The gateway's side and the server's.
	dying     atomic.Bool // The server's next answer ends it.
}

// newLink listens in front of a server until the test ends.
func newLink(t *testing.T, target string) *link {
	t.Helper()
	l := &link{target: target, conns: map[*linked]bool{}}
	l.thawed = sync.NewCond(&l.mu)
	var err error
	if l.listener, err = new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	l.address = l.listener.Addr().String()
	l.running.Go(func() {
		for {
			near, err := l.listener.Accept()
			if err != nil {
				return
			}
			l.accepted.Add(1)
			l.join(near)
		}
	})
	t.Cleanup(func() {
		_ = l.listener.Close()
		l.freeze(false)
		l.cut()
		l.running.Wait()
	})
	return l
}

func (l *link) join(near net.Conn) {
	far, err := net.Dial("tcp", l.target) //nolint:noctx // On loopback.
	if err != nil {
		_ = near.Close()
		return
	}
	c := &linked{near: near, far: far}
	l.mu.Lock()
	l.conns[c] = true
	l.mu.Unlock()
	l.running.Go(func() {
		l.pass(c, near, far, func(b []byte) bool {
			if len(l.fatal) > 0 && bytes.Contains(b, l.fatal) {
				c.dying.Store(true)
			}
			return true
		})
	})
	l.running.Go(func() { l.pass(c, far, near, func([]byte) bool { return !c.dying.Load() }) })
}

// pass copies bytes one way until a side ends or may, which is called under the lock, says no. Then both sides end.
func (l *link) pass(c *linked, from, to net.Conn, may func([]byte) bool) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		l.mu.Lock()
		for l.frozen {
			l.thawed.Wait()
		}
		goOn := may(buf[:n])
		l.mu.Unlock()
		if err != nil || !goOn {
			break
		}
		if _, err := to.Write(buf[:n]); err != nil {
			break
		}
	}
	_, _ = c.near.Close(), c.far.Close()
	l.mu.Lock()
	delete(l.conns, c)
	l.mu.Unlock()
}

// freeze lets nothing pass any more, or all again. Connections are accepted all the same.
func (l *link) freeze(frozen bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.frozen = frozen
	l.thawed.Broadcast()
}

// loseAnswerTo breaks connections once the server has answered what contains the text, and before the answer is back.
func (l *link) loseAnswerTo(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fatal = []byte(text)
}

// cut breaks all connections; the gateway's sides are reset.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		_ = c.near.(*net.TCPConn).SetLinger(0)
		_, _ = c.near.Close(), c.far.Close()
	}
}
