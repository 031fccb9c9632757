package session

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/gateway/mysql"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// routes gives a document whose routes lead to one zone each.
func routes(all ...[3]string) string {
	const destination = `{"name":"ZONE","match":"$.server.tags.zone = '\"ZONE\"'"}`
	var text []string
	for _, r := range all {
		text = append(text, `{"name":"`+r[0]+`","match":"`+r[1]+`","destinations":[{"classes":["`+r[2]+`"],"strategy":"round-robin","priority":0}]}`)
	}
	return `{"version":"1.0","name":"zones","destinations":[` + strings.ReplaceAll(destination, "ZONE", "near") + `,` +
		strings.ReplaceAll(destination, "ZONE", "far") + `],"routes":[` + strings.Join(text, ",") + `]}`
}

// never is how long statements may wait for a server in tests that would fail if they waited to the end.
func never() *configv1.Settings {
	return &configv1.Settings{ConnectTimeoutServerMax: proto.Uint32(3_600_000)}
}

// TestWaitingFollows has statements that wait for a server when another configuration comes: they go where that one sends
// them, and nowhere else. What their answers say is of the old one.
func TestWaitingFollows(t *testing.T) {
	stuck := routes([3]string{"one", "TRUE", "near"})
	unbound := part(stuck)
	unbound.Binding = &configv1.GuidelineBinding{WriterHostgroup: new(int32(30)), ReaderHostgroup: new(int32(40))}
	for _, tt := range []struct {
		name      string
		guideline *configv1.GuidelinePart
		read      string // the server, or what the error says
		write     string
		code      uint16
	}{
		{"another route", part(routes([3]string{"two", "TRUE", "far"})), "far", "far primary", 0},
		{"the same route", part(routes([3]string{"one", "TRUE", "far"})), "far", "far primary", 0},
		{"a route before it", part(routes([3]string{"zero", "TRUE", "far"}, [3]string{"one", "TRUE", "near"})), "far", "far primary", 0},
		{"the route is somebody else's", part(routes([3]string{"one", "NOT TRUE", "near"}, [3]string{"two", "TRUE", "far"})), "far", "far primary", 0},
		{"refused", part(routes([3]string{"one", "NOT TRUE", "far"})), "no route of the routing guideline", "no route of the routing guideline", 1148},
		{"unbound", unbound, "plain", "plain primary", 0},
		{"no guideline", &configv1.GuidelinePart{}, "plain", "plain primary", 0},
		{"unusable", part(`{"version":"1.0","routes":[],"nonsense":1}`), "can't be used by this gateway", "can't be used by this gateway", 9001},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var servers []*configv1.Server
			for _, hostgroup := range []int32{writer, reader} {
				suffix := map[int32]string{writer: " primary"}[hostgroup]
				near := tagged(server(hostgroup, startFake(t, "near"+suffix).addr), "near")
				near.Status = new("OFFLINE_SOFT")
				servers = append(servers, near,
					tagged(server(hostgroup, startFake(t, "far"+suffix).addr), "far"), server(hostgroup, startFake(t, "plain"+suffix).addr))
			}
			// Without a guideline only plain servers are left.
			after := servers
			if tt.guideline.GetDocument() == "" || tt.guideline == unbound {
				after = []*configv1.Server{servers[2], servers[5]}
			}
			v := newService(t, stuck)
			g := startGateway(t, gatewayOptions{servers: servers, settings: never(), answer: v.answer, guideline: part(stuck)})
			read, write := g.dial(t, "app", "shop"), g.dial(t, "app", "shop")
			read.send(t, mysql.ComQuery, []byte(ask)...)
			write.send(t, mysql.ComQuery, []byte("SELECT GET_LOCK('a', 1)")...) // goes where BEGIN does
			eventually(t, "answers", func() bool { return g.decider.count() == 3 })
			g.push(t, &configv1.WatchGatewayConfigResponse{
				Generation: 2, Sequence: 2, Guideline: tt.guideline, Servers: &configv1.ServerList{Servers: after},
			})
			for _, waiting := range []struct {
				*raw
				want string
			}{{read, tt.read}, {write, tt.write}} {
				if tt.code != 0 {
					if e := waiting.readError(t, tt.code); !strings.Contains(e.Message, waiting.want) {
						t.Errorf("%v, want %q", e, waiting.want)
					}
					continue
				}
				rows := waiting.readRows(t)
				if got := string(rows[0][1:]); got != waiting.want {
					t.Errorf("at %s, want %s", got, waiting.want)
				}
			}
		})
	}
}

// TestAnswerBeforeConfiguration has answers of a configuration that the gateway has not got yet. The session's route there has
// a name that the old guideline gives to another one.
func TestAnswerBeforeConfiguration(t *testing.T) {
	near, far := startFake(t, "near"), startFake(t, "far")
	servers := []*configv1.Server{tagged(server(reader, near.addr), "near"), tagged(server(reader, far.addr), "far")}
	before := routes([3]string{"one", "TRUE", "near"}, [3]string{"two", "NOT TRUE", "near"})
	after := routes([3]string{"one", "NOT TRUE", "near"}, [3]string{"two", "TRUE", "far"})
	v := newService(t, before)
	g := startGateway(t, gatewayOptions{servers: servers, settings: never(), answer: v.answer, guideline: part(before)})
	r := g.dial(t, "app", "shop")
	if got := r.query(t, ask); got != "near" {
		t.Errorf("at %s", got)
	}
	v.publish(guideOf(t, before)) // changes nothing: the statement need not wait
	other := g.dial(t, "app", "other")
	if got := other.query(t, ask); got != "near" {
		t.Errorf("at %s", got)
	}
	v.publish(guideOf(t, after))
	asked := g.decider.count()
	r.send(t, mysql.ComQuery, []byte(ask+" + 1")...)
	eventually(t, "answer", func() bool { return g.decider.count() > asked })
	g.push(t, &configv1.WatchGatewayConfigResponse{Generation: 3, Sequence: 2, Guideline: part(after)})
	if rows := r.readRows(t); string(rows[0][1:]) != "far" {
		t.Errorf("at %s", rows[0][1:])
	}
}

// TestChoose makes choices by answers and snapshots of every age.
func TestChoose(t *testing.T) {
	document := routes([3]string{"one", "TRUE", "near"}, [3]string{"two", "TRUE", "far"})
	chosen := func(route string) *decisionv1.GuidelineChoice {
		c := &decisionv1.GuidelineChoice{Guideline: "zones", Route: route, Mode: decisionv1.GuidelineMode_GUIDELINE_MODE_READ}
		if route != "" {
			c.Pools = []string{"read:" + route, "write:" + route}
		}
		return c
	}
	const gone = "no longer so"
	one, two, writes := chosen("one").GetPools(), chosen("two").GetPools(), []string{"write:one"}
	for _, tt := range []struct {
		name       string
		generation uint64 // of the answer; the snapshot's is 5
		hostgroup  int32
		guideline  *decisionv1.GuidelineChoice
		want       place
	}{
		{"same", 5, reader, chosen("two"), place{hostgroup: reader, pools: two}},
		{"same, refused", 5, 0, chosen(""), place{hostgroup: writer, refusal: gone}},
		{"same, without", 5, reader, nil, place{hostgroup: reader}},
		{"older", 4, reader, chosen("two"), place{hostgroup: reader, pools: one}},
		{"older, without", 4, reader, nil, place{hostgroup: reader, pools: one}},
		{"older, unbound", 4, 30, chosen("two"), place{hostgroup: 30}},
		{"older, refused", 4, 0, chosen(""), place{hostgroup: writer, refusal: gone}},
		{"nobody was asked", 0, writer, nil, place{hostgroup: writer, pools: writes}},
		{"newer, like here", 6, reader, chosen("one"), place{hostgroup: reader, pools: one}},
		{"newer, another one", 6, reader, chosen("two"), place{hostgroup: reader, pools: two, awaited: 6}},
		{"newer, refused", 6, 0, chosen(""), place{hostgroup: writer, refusal: gone}},
		{"newer, without", 6, reader, nil, place{hostgroup: reader}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			near := startFake(t, "near")
			g := startGateway(t, gatewayOptions{servers: []*configv1.Server{tagged(server(reader, near.addr), "near")}, guideline: part(document)})
			g.push(t, &configv1.WatchGatewayConfigResponse{Generation: 5, Sequence: 2})
			eventually(t, "generation 5", func() bool { return g.Snapshots.Current().Generation == 5 })
			s := newSession(t, g)
			a := &decisionv1.RouteStatementResponse{Generation: tt.generation, DestinationHostgroup: new(tt.hostgroup), Guideline: tt.guideline}
			if tt.hostgroup == 0 {
				a.DestinationHostgroup, a.ErrorMsg = nil, new(gone)
			}
			st := &statement{answer: a}
			snap := g.Snapshots.Current()
			s.choose(t.Context(), st, snap)
			if at, want := &st.at, &tt.want; at.snap != snap || at.hostgroup != want.hostgroup || !slices.Equal(at.pools, want.pools) ||
				at.refusal != want.refusal || at.awaited != want.awaited {
				t.Errorf("%v, awaited %d, refusal %q; want %v, %d, %q", at, at.awaited, at.refusal, want, want.awaited, want.refusal)
			}
			// Under another snapshot the choice is made anew, but for what has no hostgroup.
			g.push(t, &configv1.WatchGatewayConfigResponse{Generation: 7, Sequence: 3, Guideline: &configv1.GuidelinePart{}})
			eventually(t, "generation 7", func() bool { return g.Snapshots.Current().Generation == 7 })
			at, err := s.destination(t.Context(), st)
			if tt.want.refusal != "" {
				if err == nil {
					t.Errorf("then %v", at)
				}
				return
			}
			if err != nil || at.snap != g.Snapshots.Current() || len(at.pools) > 0 || at.awaited > 0 {
				t.Errorf("then %v, %v", at, err)
			}
		})
	}
}

// TestPoolWithoutMembers: what can't be is said at once; what may be again is waited for.
func TestPoolWithoutMembers(t *testing.T) {
	primary, one := startFake(t, "primary"), startFake(t, "one")
	document := routes([3]string{"app", "$.session.user = 'app'", "near"}, [3]string{"none", "$.session.user = 'loose'", "far"},
		[3]string{"all", "TRUE", "near"})
	v := newService(t, document)
	runtime := func(state string) *configv1.RuntimeState {
		s := &configv1.ServerState{Server: primary.addr, MemberRole: state}
		if state == "" {
			s.Unavailable = "down"
		}
		return &configv1.RuntimeState{Servers: []*configv1.ServerState{s}}
	}
	servers := []*configv1.Server{tagged(server(reader, primary.addr), "near"), tagged(server(reader, one.addr), "near")}
	g := startGateway(t, gatewayOptions{servers: servers, settings: never(), answer: v.answer, guideline: part(document), runtime: runtime("SECONDARY")})
	fails := func(user, text, want string) {
		t.Helper()
		r := g.dial(t, user, "shop")
		r.send(t, mysql.ComQuery, []byte(text)...)
		if e := r.readError(t, 9001); !strings.Contains(e.Message, want) {
			t.Errorf("%v, want %q", e, want)
		}
		r.send(t, mysql.ComPing)
		r.readOK(t)
	}
	fails("app", change, `No server: route "app" of the routing guideline "zones" has no primary server for writes: none of its destinations matches one`)
	fails("loose", ask, `No server: route "none" of the routing guideline "zones" has no server: none of its destinations matches one`)
	fails("loose", change, `route "none" of the routing guideline "zones" has no primary server for writes`)

	// A primary by the configuration that is none for the moment, or is down.
	for i, state := range []string{"SECONDARY", ""} {
		sequence := uint64(2 + 2*i)
		servers[0].HostgroupId = writer
		g.push(t, &configv1.WatchGatewayConfigResponse{
			Generation: 1, Sequence: sequence, Servers: &configv1.ServerList{Servers: servers}, Runtime: runtime(state),
		})
		eventually(t, "no primary", func() bool { return g.Snapshots.Current().Serial == sequence-1 })
		r := g.dial(t, "app", "waits"+state)
		asked := g.decider.count()
		r.send(t, mysql.ComQuery, []byte(change)...)
		eventually(t, "answer", func() bool { return g.decider.count() > asked })
		g.push(t, &configv1.WatchGatewayConfigResponse{Generation: 1, Sequence: sequence + 1, Runtime: runtime("PRIMARY")})
		if rows := r.readRows(t); string(rows[0][1:]) != "primary" {
			t.Errorf("%q: at %s", state, rows[0][1:])
		}
	}
}

// TestPoolsOfWaiting tells in the end what was waited for.
func TestPoolsOfWaiting(t *testing.T) {
	one := startFake(t, "one")
	document := routes([3]string{"app", "TRUE", "near"})
	v := newService(t, document)
	servers := []*configv1.Server{tagged(server(writer, one.addr), "near")}
	demoted := &configv1.RuntimeState{Servers: []*configv1.ServerState{{Server: one.addr, MemberRole: "SECONDARY"}}}
	settings := &configv1.Settings{ConnectTimeoutServerMax: proto.Uint32(200)}
	g := startGateway(t, gatewayOptions{servers: servers, settings: settings, answer: v.answer, guideline: part(document), runtime: demoted})
	r := g.dial(t, "app", "shop")
	r.send(t, mysql.ComQuery, []byte(change)...)
	if e := r.readError(t, 9001); !strings.Contains(e.Message, `reaching pool "write:app" of the routing guideline after`) ||
		!strings.Contains(e.Message, `route "app" of the routing guideline "zones" has no primary server for writes`) {
		t.Errorf("%v", e)
	}
}
