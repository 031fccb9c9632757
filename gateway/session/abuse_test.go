package session

import (
	"net"
	"runtime"
	"testing"
)

// TestAbuseBeforeLogin keeps a thousand connections open that never log in, of which most have announced a large packet: they
// cost little, and others get in.
func TestAbuseBeforeLogin(t *testing.T) {
	const clients, limit = 1000, 64 << 20
	g := startGateway(t, gatewayOptions{maxConnections: clients + 10})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range clients {
		nc, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", g.addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = nc.Close() })
		if _, err := nc.Write([][]byte{nil, {0xff, 0xff, 0, 1, 'x'}, {0xff, 0xff, 0xff, 1}, {0x20, 0, 0, 1, 0x85}}[i%4]); err != nil {
			t.Fatal(err)
		}
	}
	g.dial(t, "app", "")
	runtime.ReadMemStats(&after)
	used := int64(after.HeapInuse+after.StackInuse) - int64(before.HeapInuse+before.StackInuse)
	t.Logf("%d KiB for %d connections, both ends", used>>10, clients)
	if used > limit {
		t.Errorf("%d bytes, more than %d", used, limit)
	}
}
