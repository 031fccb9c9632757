package session

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/gateway/mysql"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

func TestKillTarget(t *testing.T) {
	for _, tt := range []struct {
		text      string
		id        uint32
		query, ok bool
	}{
		{"KILL 5", 5, false, true},
		{" kill connection 5;", 5, false, true},
		{"KILL QUERY 5", 5, true, true},
		{"KILL HARD 5", 5, false, true},
		{"KILL SOFT QUERY 4294967295", 4294967295, true, true},
		{"/* a */ KILL /* 7 */ QUERY\n5 -- 6", 5, true, true},
		{"KILL 5 # 6", 5, false, true},
		{"KILL 4294967296", 4294967295, false, false},
		{"KILL QUERY ID 5", 0, false, false},
		{"KILL USER app", 0, false, false},
		{"KILL USER 5", 0, false, false},
		{"KILL 2 + 3", 0, false, false},
		{"KILL -5", 0, false, false},
		{"KILL", 0, false, false},
		{"SELECT 5", 0, false, false},
	} {
		id, query, ok := killTarget(tt.text)
		if ok != tt.ok || ok && (id != tt.id || query != tt.query) {
			t.Errorf("%s: %d, query %t, %t", tt.text, id, query, ok)
		}
	}
}

// TestKillOfOneThatWaits ends a session that waits for a connection.
func TestKillOfOneThatWaits(t *testing.T) {
	g := startGateway(t, gatewayOptions{servers: []*configv1.Server{{HostgroupId: writer, Hostname: "h", Status: new("SHUNNED"), Weight: proto.Int64(0)}}})
	victim, by := g.dial(t, "app", ""), g.dial(t, "app", "")
	victim.send(t, mysql.ComQuery, []byte("DO 1")...)
	eventually(t, "session waits", func() bool { return len(g.List(Filter{State: "waiting for connection"})) == 1 })
	by.send(t, mysql.ComProcessKill, id32(victim.ThreadID)...)
	by.readOK(t)
	victim.expectEnd(t)
	eventually(t, "session is gone", func() bool { return len(g.List(Filter{})) == 1 })
}

// TestClientGoneWhileItWaits hangs up on a gateway that looks for a connection for it.
func TestClientGoneWhileItWaits(t *testing.T) {
	g := startGateway(t, gatewayOptions{
		servers:  []*configv1.Server{{HostgroupId: writer, Hostname: "h", Status: new("SHUNNED"), Weight: proto.Int64(0)}},
		settings: &configv1.Settings{ConnectTimeoutServerMax: proto.Uint32(3_600_000)},
	})
	r := g.dial(t, "app", "")
	r.send(t, mysql.ComQuery, []byte("DO 1")...)
	eventually(t, "session waits", func() bool { return len(g.List(Filter{State: "waiting for connection"})) == 1 })
	_ = r.nc.Close()
	eventually(t, "session is gone", func() bool { return len(g.List(Filter{})) == 0 })
}
