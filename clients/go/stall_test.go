package client_test

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// freezer lets a server's connections hang, as SIGSTOP does: they stay open, new ones are taken, and nothing is answered.
type freezer struct {
	net.Listener
	mu    sync.Mutex
	until chan struct{} // nil: not frozen
}

func (f *freezer) freeze() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.until = make(chan struct{})
}

func (f *freezer) thaw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.until != nil {
		close(f.until)
		f.until = nil
	}
}

func (f *freezer) wait() {
	f.mu.Lock()
	until := f.until
	f.mu.Unlock()
	if until != nil {
		<-until
	}
}

func (f *freezer) Accept() (net.Conn, error) {
	nc, err := f.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &frozenConn{nc, f}, nil
}

type frozenConn struct {
	net.Conn
	f *freezer
}

func (c *frozenConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.f.wait()
	return n, err
}

func (c *frozenConn) Write(b []byte) (int, error) {
	c.f.wait()
	return c.Conn.Write(b)
}

// A frozen server is left for the other one, and taken again when that one dies.
func TestFrozenServer(t *testing.T) {
	servers := []*fakeServer{{number: 1, freezer: &freezer{}}, {number: 2, freezer: &freezer{}}}
	var addrs []string
	var stops []func()
	for _, f := range servers {
		addr, stop := start(t, f, "127.0.0.1:0")
		addrs, stops = append(addrs, addr), append(stops, stop)
		t.Cleanup(f.freezer.thaw)
	}
	c := run(t, addrs...)
	first := waitAnswer(t, c, 0)
	other := 3 - first
	servers[first-1].freezer.freeze()
	waitAnswer(t, c, other)
	servers[first-1].freezer.thaw()
	waitAnswer(t, c, other) // there is no reason to leave it
	stops[other-1]()
	waitAnswer(t, c, first)
}

// A server that is slow with its questions, but answers, is not left.
func TestSlowServerIsKept(t *testing.T) {
	f := &fakeServer{number: 1}
	f.silent.Store(true) // but for the empty question
	addr, _ := start(t, f, "127.0.0.1:0")
	c := run(t, addr, addr)
	if err := c.WaitConnected(t.Context(), patience); err != nil {
		t.Fatal(err)
	}
	var got atomic.Int32
	var all sync.WaitGroup
	all.Go(func() {
		if resp, err := ask(t.Context(), c, "app"); err == nil {
			got.Store(resp.GetDestinationHostgroup())
		}
	})
	waitFor(t, "three signs of life", func() bool { return f.pings.Load() >= 3 })
	f.release()
	all.Wait()
	if got.Load() != 1 {
		t.Error("the question was given up")
	}
}
