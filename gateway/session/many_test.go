package session

import (
	"runtime"
	"sync"
	"testing"

	"github.com/pointsman/pointsman/gateway/mysql"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// TestManySessions keeps 2,000 sessions idle while 200 work: neither memory nor goroutines grow with what the 200 do, and all go in
// the end.
func TestManySessions(t *testing.T) {
	idle, busy := 2000, 200
	if testing.Short() {
		idle, busy = 200, 20
	}
	f := startFakeWith(t, &fakeServer{name: "a", silent: true})
	g := startGateway(t, gatewayOptions{servers: []*configv1.Server{server(writer, f.addr), server(reader, f.addr)}, maxConnections: idle + busy})
	before := runtime.NumGoroutine()
	clients := make([]*raw, idle+busy)
	for i := range clients {
		clients[i] = g.dial(t, "app", "shop")
	}
	work := func() (goroutines int, heap uint64) {
		var all sync.WaitGroup
		for _, r := range clients[idle:] {
			all.Go(func() {
				for range 10 {
					r.send(t, mysql.ComQuery, []byte("DO 1")...)
					r.readOK(t)
					r.query(t, "SELECT 1")
				}
			})
		}
		all.Wait()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return runtime.NumGoroutine(), m.HeapAlloc
	}
	goroutines, heap := work()
	if most := before + 2*len(clients) + 2*busy + 50; goroutines > most { // two a session, and one a connection of the fake server
		t.Errorf("%d goroutines, at most %d expected", goroutines, most)
	}
	if n := len(g.List(Filter{State: "idle"})); n != len(clients) {
		t.Errorf("%d idle sessions", n)
	}
	for range 3 {
		n, h := work()
		if n > goroutines+50 {
			t.Errorf("goroutines grow: %d, %d", goroutines, n)
		}
		if h > heap+heap/10+4<<20 {
			t.Errorf("memory grows: %d bytes, %d bytes", heap, h)
		}
	}
	for _, r := range clients {
		_ = r.nc.Close()
	}
	eventually(t, "all have ended", func() bool { return len(g.List(Filter{})) == 0 && runtime.NumGoroutine() <= before+50 })
}
