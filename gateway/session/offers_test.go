package session

import (
	"context"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/pool"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// modern is what a server of MySQL 8 offers of what the gateway mirrors.
const modern = mysql.BaseCapabilities | mysql.MirroredCapabilities

// startOffering serves with these capabilities.
func startOffering(t *testing.T, name string, caps uint32) *fakeServer {
	t.Helper()
	f := &fakeServer{name: name, addr: "127.0.0.1:0", caps: caps}
	f.start(t)
	t.Cleanup(f.stop)
	return f
}

// TestOffers gets to know servers and offers clients what all of them can do.
func TestOffers(t *testing.T) {
	a, b, old := startOffering(t, "a", modern), startOffering(t, "b", modern|mysql.CapSessionTrack), startOffering(t, "old", modern&^(mysql.CapDeprecateEOF|mysql.CapLocalFiles))
	gone := startOffering(t, "gone", mysql.BaseCapabilities)
	gone.stop()
	off := server(reader, "127.0.0.1:1")
	off.Status = new("OFFLINE_HARD")
	hashed := []*configv1.User{{Username: "app", Password: new("*14E65567ABDB5135D0CFD9A70B3032C179A49EE7"), DefaultHostgroup: writer}}
	for _, tt := range []struct {
		name    string
		servers []*configv1.Server
		users   []*configv1.User
		want    uint32
		known   int
		refused bool
	}{
		{"both modern", []*configv1.Server{server(writer, a.addr), server(reader, b.addr)}, nil, modern, 2, false},
		{"an old one", []*configv1.Server{server(writer, a.addr), server(reader, old.addr), server(writer, old.addr)}, nil, modern &^ (mysql.CapDeprecateEOF | mysql.CapLocalFiles), 2, false},
		{"one is gone", []*configv1.Server{server(writer, a.addr), server(reader, gone.addr), off}, nil, modern, 1, false},
		{"all are gone", []*configv1.Server{server(writer, gone.addr)}, nil, mysql.OfferedCapabilities(), 0, false},
		{"no login is known", []*configv1.Server{server(writer, a.addr)}, hashed, mysql.OfferedCapabilities(), 0, false},
		{"the login is refused", []*configv1.Server{server(writer, a.addr)}, []*configv1.User{{Username: "app", Password: new("secret"), BackendPassword: new("wrong"), DefaultHostgroup: writer}}, modern, 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := startGateway(t, gatewayOptions{servers: tt.servers, users: tt.users})
			if got := g.greeting(1); got.Capabilities != mysql.OfferedCapabilities() || got.ServerVersion != "8.0.30" {
				t.Errorf("before: %+v", got)
			}
			snap := g.Snapshots.Current()
			g.getToKnow(t.Context(), snap)
			got := g.greeting(1)
			if got.Capabilities != tt.want || tt.known > 0 && got.ServerVersion != "9.9.9" {
				t.Errorf("offered %#x, want %#x, version %s", got.Capabilities, tt.want, got.ServerVersion)
			}
			g.offers.mu.Lock()
			known, paused := len(g.offers.known), len(g.offers.paused)
			g.offers.mu.Unlock()
			if known != tt.known || tt.refused && paused != 1 {
				t.Errorf("%d known, %d paused", known, paused)
			}
			if again := len(g.offers.review(snap, g.began)); again != 0 && tt.users == nil {
				t.Errorf("%d servers are asked again", again)
			}
		})
	}
}

// TestOffersAreOneLogin counts the logins that getting to know a server takes: one, whatever it has in sessions and rows.
func TestOffersAreOneLogin(t *testing.T) {
	f := startOffering(t, "a", modern)
	g := startGateway(t, gatewayOptions{servers: []*configv1.Server{server(writer, f.addr), server(reader, f.addr)}})
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() { g.WatchServers(ctx) })
	eventually(t, "server known", func() bool { return g.offers.offer.Load() != nil })
	g.getToKnow(ctx, g.Snapshots.Current())
	cancel()
	watching.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.logins != 1 {
		t.Errorf("%d logins", f.logins)
	}
}

// TestOffersFollowServers has a server come back without what its sessions were promised: they get a clear error, and those
// that come after are not promised it.
func TestOffersFollowServers(t *testing.T) {
	f := startOffering(t, "a", modern)
	g := startGateway(t, gatewayOptions{
		servers: []*configv1.Server{server(writer, f.addr)}, settings: &configv1.Settings{ConnectRetriesOnFailure: proto.Uint32(0)},
	})
	g.getToKnow(t.Context(), g.Snapshots.Current())
	promised, err := pool.Dial(t.Context(), pool.Target{Addr: g.addr, User: "app", Secret: mysql.ClearSecret("secret"), ClientFlags: mysql.CapDeprecateEOF, ConnectTimeout: wait})
	if err != nil {
		t.Fatal(err)
	}
	defer promised.Conn.Close()
	f.stop()
	f.caps = modern &^ mysql.CapDeprecateEOF
	f.start(t)
	t.Cleanup(f.stop)
	if _, err := promised.Exec(t.Context(), "UPDATE t"); err == nil || !strings.Contains(err.Error(), "lacks a capability that the client negotiated") {
		t.Errorf("error %v", err)
	}
	if got := g.greeting(1); got.Capabilities&mysql.CapDeprecateEOF != 0 {
		t.Error("still offered")
	}
	if _, err := pool.Dial(t.Context(), pool.Target{Addr: g.addr, User: "app", Secret: mysql.ClearSecret("secret"), ConnectTimeout: wait}); err != nil {
		t.Error(err)
	}
}
