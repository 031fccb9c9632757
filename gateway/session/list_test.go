package session

import (
	"net"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/pool"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// TestList has a session in each state.
func TestList(t *testing.T) {
	f := startFake(t, "a")
	g := startGateway(t, gatewayOptions{servers: []*configv1.Server{
		server(writer, f.addr), server(reader, f.addr),
	}})
	silent, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", g.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	g.dial(t, "app", "shop")
	open := g.dial(t, "app", "shop")
	open.exec(t, "BEGIN")
	pinnedOne := g.dial(t, "loose", "other")
	pinnedOne.exec(t, "SET @x = 'hidden'")
	running := g.dial(t, "app", "shop")
	running.send(t, mysql.ComQuery, []byte("HANG")...)
	waiting := g.dial(t, "loose", "")
	others := &pool.Want{By: newSession(t, g)}
	for range 1000 {
		if _, ok := g.pool.Take(pool.Row{Hostgroup: reader, Addr: f.addr}, 1000, others); !ok {
			t.Fatal("server is full")
		}
	}
	waiting.send(t, mysql.ComQuery, []byte("SELECT 1 FROM t WHERE a = 'hidden'")...)
	for _, tt := range []struct {
		filter Filter
		id     uint32
		want   Info // what is not empty counts
	}{
		{Filter{State: "login"}, 0, Info{Listener: "default"}},
		{Filter{State: "idle", User: "app"}, 0, Info{User: "app", Schema: "shop"}},
		{Filter{State: "in transaction"}, open.ThreadID, Info{Schema: "shop", Server: f.addr, ServerThread: 1, Hostgroup: new(writer), DigestText: "BEGIN", Statements: 1, Command: "query"}},
		{Filter{State: "pinned"}, pinnedOne.ThreadID, Info{User: "loose", Held: "USER_VARIABLE", DigestText: "SET @x = ?"}},
		{Filter{State: "pinned: USER_VARIABLE", Hostgroup: new(writer)}, pinnedOne.ThreadID, Info{User: "loose"}},
		{Filter{State: "running"}, running.ThreadID, Info{User: "app", DigestText: "HANG", Statements: 1}},
		{Filter{State: "waiting for connection"}, waiting.ThreadID, Info{User: "loose", Command: "query"}},
	} {
		var list []Info
		eventually(t, "one session: "+tt.filter.State, func() bool {
			list = g.List(tt.filter)
			return len(list) == 1 && list[0].Statements >= tt.want.Statements
		})
		got := list[0]
		if tt.id != 0 && got.ID != tt.id || tt.want.User != "" && got.User != tt.want.User || got.Listener != "default" ||
			tt.want.Schema != "" && got.Schema != tt.want.Schema || tt.want.Server != "" && got.Server != tt.want.Server ||
			tt.want.ServerThread != got.ServerThread && tt.want.ServerThread != 0 || tt.want.Held != "" && got.Held != tt.want.Held ||
			tt.want.DigestText != "" && got.DigestText != tt.want.DigestText || tt.want.Command != "" && got.Command != tt.want.Command ||
			tt.want.Hostgroup != nil && (got.Hostgroup == nil || *got.Hostgroup != *tt.want.Hostgroup) {
			t.Errorf("%+v:\n%+v\nwant %+v", tt.filter, got, tt.want)
		}
		if got.Received == 0 && got.State != "login" || got.Sent == 0 || got.Seconds < 0 || !strings.HasPrefix(got.Client, "127.0.0.1:") {
			t.Errorf("%+v", got)
		}
		if (got.TransactionSeconds > 0) != (got.State == "in transaction") {
			t.Errorf("transaction: %+v", got)
		}
	}
	all := g.List(Filter{})
	if len(all) != 6 {
		t.Errorf("%d sessions", len(all))
	}
	for i := range all {
		if strings.Contains(all[i].DigestText, "hidden") {
			t.Errorf("literal shown: %+v", all[i])
		}
		if i > 0 && all[i-1].Seconds < all[i].Seconds {
			t.Error("not sorted by time")
		}
	}
	if n := len(g.List(Filter{User: "nobody"})); n != 0 {
		t.Errorf("%d sessions of nobody", n)
	}
	received, sent := g.Traffic()
	_ = open.nc.Close()
	eventually(t, "session has ended", func() bool { return len(g.List(Filter{})) == 5 })
	if r, s := g.Traffic(); r < received || s < sent {
		t.Errorf("bytes of ended sessions are lost: %d of %d, %d of %d", r, received, s, sent)
	}
	if n := g.metric(t, "disconnects_total"); n != 1 {
		t.Errorf("%v disconnects", n)
	}
}
