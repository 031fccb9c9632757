package session

import (
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/decision/selection"
	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/pool"
	"github.com/pointsman/pointsman/gateway/snapshot"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// These tests need no server: nobody is logged in to one before the first statement.

func TestLoginWithoutConfiguration(t *testing.T) {
	g := startGateway(t, gatewayOptions{noConfig: true})
	_, err := g.tryDial(t, "app", "")
	if err == nil || !strings.Contains(err.Error(), "error 1053 (08S01): The gateway has no configuration") &&
		!strings.Contains(err.Error(), "The gateway has no configuration") {
		t.Errorf("login: %v", err)
	}
}

func TestLogin(t *testing.T) {
	inactive := users()
	inactive = append(inactive, &configv1.User{Username: "off", Password: new("secret"), Active: new(false)})
	g := startGateway(t, gatewayOptions{users: inactive})
	for user, want := range map[string]string{"app": "", "nobody": "1045", "off": "1045", "nopassword": "1045", "APP": "1045"} {
		if _, err := g.tryDial(t, user, ""); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", user, err, want)
		}
	}
	r := g.dial(t, "app", "")
	if r.ServerVersion != "8.0.30" {
		t.Errorf("version %s before any server is known", r.ServerVersion)
	}
	r.send(t, mysql.ComPing)
	if status := r.readOK(t); status != mysql.StatusAutocommit {
		t.Errorf("status %#x", status)
	}
	r.send(t, mysql.ComQuit)
	r.expectEnd(t)
	eventually(t, "places given back", func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.perUser["app"] <= 1 // the first client of the loop stays
	})
}

// TestSilentClients keeps many connections open that never answer the greeting: others still get in.
func TestSilentClients(t *testing.T) {
	g := startGateway(t, gatewayOptions{maxConnections: 200})
	for range 150 {
		nc, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", g.addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = nc.Close() })
	}
	g.dial(t, "app", "")
}

// TestFailedLoginsGiveTheirPlacesBack fails more logins than there are places.
func TestFailedLoginsGiveTheirPlacesBack(t *testing.T) {
	g := startGateway(t, gatewayOptions{maxConnections: 2})
	for range 10 {
		if _, err := g.tryDial(t, "nobody", ""); err == nil {
			t.Error("logged in")
		}
		eventually(t, "place is free again", func() bool {
			g.mu.Lock()
			defer g.mu.Unlock()
			return g.clients == 0
		})
	}
	g.dial(t, "app", "")
}

func TestNoServerReached(t *testing.T) {
	// Nobody listens on the first, and the second never answers.
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for _, tt := range []struct {
		name     string
		servers  []*configv1.Server
		settings *configv1.Settings
		want     string
	}{
		{"refused", []*configv1.Server{server(writer, "127.0.0.1:1")}, &configv1.Settings{ConnectRetriesOnFailure: proto.Uint32(2)}, "127.0.0.1:1"},
		{"silent", []*configv1.Server{server(writer, silent.Addr().String())}, &configv1.Settings{ConnectTimeoutServer: proto.Uint32(50), ConnectTimeoutServerMax: proto.Uint32(120)}, silent.Addr().String()},
		{
			"offline",
			[]*configv1.Server{{HostgroupId: writer, Hostname: "h", Status: new("OFFLINE_HARD")}},
			&configv1.Settings{ConnectTimeoutServerMax: proto.Uint32(100)}, "no server is eligible",
		},
		{"none", nil, nil, "Hostgroup 10 has no servers in generation 1"},
		{"no socket", []*configv1.Server{server(writer, "/nowhere/mysql.sock")}, &configv1.Settings{ConnectRetriesOnFailure: proto.Uint32(0)}, "/nowhere/mysql.sock"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := startGateway(t, gatewayOptions{servers: tt.servers, settings: tt.settings})
			r := g.dial(t, "app", "")
			for range 2 { // the session goes on
				r.send(t, mysql.ComQuery, []byte("DO 1")...)
				if e := r.readError(t, 9001); !strings.Contains(e.Message, tt.want) || e.State != "HY000" {
					t.Errorf("%v, want %q", e, tt.want)
				}
			}
			r.send(t, mysql.ComPing)
			r.readOK(t)
		})
	}
}

// TestOutage has a hostgroup of two servers, one of which never answers: only the first session waits for it.
func TestOutage(t *testing.T) {
	var o outages
	o.init()
	a := pool.Target{Addr: "a:1"}
	if o.out("a:1") || !o.begin(a) || o.begin(a) || !o.out("a:1") || !o.paused("a:1") || o.out("b:1") || o.paused("b:1") || !o.some() {
		t.Error("outage not kept")
	}
	if !o.end("a:1") || o.end("a:1") || o.out("a:1") || o.paused("a:1") || o.some() || !o.begin(a) {
		t.Error("outage has no end")
	}
	g := startGateway(t, gatewayOptions{})
	s := &session{Gateway: g.Gateway}
	hg := &snapshot.Hostgroup{
		ID: writer, MaxNumOnlineServers: 10, Servers: []snapshot.Server{{Addr: "a:1"}, {Addr: "b:1"}},
		Candidates: selection.NewList([]selection.Candidate{
			{Weight: 1, MaxConnections: 9, Status: selection.Online}, {Weight: 1, MaxConnections: 9, Status: selection.Online},
		}),
	}
	settings := &g.Snapshots.Current().Settings
	g.outages.begin(a)
	for range 50 {
		if i := s.draw(hg, settings, nil, nil); i != 1 {
			t.Fatalf("server %d drawn", i)
		}
	}
	var tried selection.Set
	tried.Add(1)
	if i := s.draw(hg, settings, tried, nil); i != 0 {
		t.Errorf("server %d drawn, when the other was tried", i)
	}
}

// TestProbe looks after servers that are out: one that takes the login, one that refuses this very user, one that is still
// gone, and one that the configuration does not name any more.
func TestProbe(t *testing.T) {
	f, gone := startFake(t, "there"), startFake(t, "gone")
	gone.stop()
	g := startGateway(t, gatewayOptions{servers: []*configv1.Server{server(writer, f.addr), server(writer, gone.addr)}})
	for _, tt := range []struct {
		name, addr, password string
		out                  bool
	}{
		{"there", f.addr, "secret", false},
		{"login refused", f.addr, "wrong", false},
		{"gone", gone.addr, "secret", true},
		{"unknown", "127.0.0.1:1", "secret", false},
	} {
		target := pool.Target{Addr: tt.addr, User: "app", Secret: mysql.ClearSecret(tt.password), ConnectTimeout: wait}
		g.outages.begin(target)
		g.probe(t.Context(), target)
		if g.outages.out(tt.addr) != tt.out {
			t.Errorf("%s: out %v, want %v", tt.name, !tt.out, tt.out)
		}
	}
}

func TestRouteLabels(t *testing.T) {
	m := NewMetrics(prometheus.NewRegistry())
	for i := range maxRoutes {
		if name := strconv.Itoa(i); m.routeLabel(name) != name {
			t.Errorf("route %s has no label", name)
		}
	}
	if m.routeLabel("more") != "other" || m.routeLabel("1") != "1" {
		t.Error("labels are not bounded")
	}
}

// TestSessionIsCut ends a session that waits for a server.
func TestSessionIsCut(t *testing.T) {
	g := startGateway(t, gatewayOptions{servers: []*configv1.Server{{HostgroupId: writer, Hostname: "h", Status: new("SHUNNED"), Weight: proto.Int64(0)}}})
	r := g.dial(t, "app", "")
	r.send(t, mysql.ComQuery, []byte("DO 1")...)
	eventually(t, "question asked", func() bool {
		g.decider.mu.Lock()
		defer g.decider.mu.Unlock()
		return len(g.decider.asked) == 1
	})
	// The cleanup of startGateway fails by timeout if the session does not end at once.
	_ = r.nc.SetDeadline(time.Now().Add(wait))
}

func TestDrainIdle(t *testing.T) {
	g := startGateway(t, gatewayOptions{})
	var clients []*raw
	for range 20 {
		clients = append(clients, g.dial(t, "app", ""))
	}
	g.Drain()
	for _, r := range clients {
		r.expectEnd(t)
	}
	g.dial(t, "app", "").expectEnd(t)
}
