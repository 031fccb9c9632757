package session

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/guideline"
	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/snapshot"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// tieredDocument sends app to near servers and, without one, to far ones; batch to far ones; and nobody else anywhere.
const tieredDocument = `{"version":"1.0","name":"tiered",
"destinations":[
  {"name":"near","match":"$.server.tags.zone = '\"near\"'"},
  {"name":"far","match":"$.server.tags.zone = '\"far\"'"}],
"routes":[
  {"name":"batch","match":"$.session.connectAttrs.program_name = 'batch' OR $.session.user = 'loose'","destinations":[
    {"classes":["far"],"strategy":"round-robin","priority":0}]},
  {"name":"app","match":"$.session.user IN ('app','fast') AND $.session.randomValue < 1 AND $.router.routeName = 'default'","destinations":[
    {"classes":["near"],"strategy":"round-robin","priority":0},
    {"classes":["far"],"strategy":"first-available","priority":1}]}]}`

// flippedDocument exchanges the tiers of tieredDocument's route app.
var flippedDocument = strings.NewReplacer(`["near"],"strategy":"round-robin"`, `["far"],"strategy":"round-robin"`,
	`["far"],"strategy":"first-available"`, `["near"],"strategy":"first-available"`).Replace(tieredDocument)

func binding() *configv1.GuidelineBinding {
	return &configv1.GuidelineBinding{WriterHostgroup: new(writer), ReaderHostgroup: new(reader)}
}

func part(document string) *configv1.GuidelinePart {
	return &configv1.GuidelinePart{Document: document, Binding: binding()}
}

func guideOf(t *testing.T, document string) *decision.Guide {
	t.Helper()
	return guideWith(t, part(document))
}

func guideWith(t *testing.T, p *configv1.GuidelinePart) *decision.Guide {
	t.Helper()
	b := p.GetBinding()
	guide, problems := decision.NewGuide(p.GetDocument(), &decision.GuidelineBinding{
		WriterHostgroup: b.WriterHostgroup, ReaderHostgroup: b.ReaderHostgroup, DefaultMode: b.DefaultMode,
	})
	if guide == nil {
		t.Fatalf("guideline: %v", problems)
	}
	return guide
}

// service is a decision service with a guideline: split, and then what the guideline says.
type service struct {
	guide      atomic.Pointer[decision.Guide]
	generation atomic.Uint64
}

func newService(t *testing.T, document string) *service {
	t.Helper()
	s := &service{}
	s.publish(guideOf(t, document))
	return s
}

func (v *service) publish(guide *decision.Guide) {
	v.guide.Store(guide)
	v.generation.Add(1)
}

func (v *service) answer(text string, req *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse {
	s := req.GetSession()
	a := split(text, req)
	a.Generation = v.generation.Load()
	var c decision.Choice
	facts := guideline.Facts{
		Router: &guideline.Router{RouteName: s.GetRouter().GetRouteName()},
		Session: &guideline.Session{
			User: s.GetUsername(), Schema: s.GetSchemaname(), ConnectAttrs: s.GetConnectAttrs(), RandomValue: s.GetRandomValue(),
		},
	}
	v.guide.Load().Choose(&c, &facts, decision.Listener{Name: s.GetRouter().GetRouteName()}, a.GetDestinationHostgroup())
	a.Reason = decisionv1.Reason_REASON_GUIDELINE
	a.Guideline = &decisionv1.GuidelineChoice{Guideline: c.Guideline, Route: c.Name, Mode: modes[c.Mode], Pools: c.Pools}
	if c.Refusal != "" {
		a.ErrorMsg, a.DestinationHostgroup = new(c.Refusal), nil
	}
	a.SessionAttributes = []string{"username", "schemaname", "connect_attrs.program_name", "router", "random_value"}
	a.Cookie = fmt.Append(nil, a.GetGeneration(), c.Name, s.GetUsername(), s.GetSchemaname())
	return a
}

// trio is a primary and two secondaries near the gateway, and a primary's stand-in far away.
type trio struct {
	primary, one, two, far *fakeServer
}

func startTrio(t *testing.T) *trio {
	t.Helper()
	return &trio{startFake(t, "primary"), startFake(t, "one"), startFake(t, "two"), startFake(t, "far")}
}

func tagged(v *configv1.Server, zone string) *configv1.Server {
	v.Tags = &structpb.Struct{Fields: map[string]*structpb.Value{"zone": structpb.NewStringValue(zone)}}
	return v
}

func (f *trio) servers() []*configv1.Server {
	return []*configv1.Server{
		tagged(server(writer, f.primary.addr), "near"), tagged(server(reader, f.one.addr), "near"),
		tagged(server(reader, f.two.addr), "near"), tagged(server(reader, f.far.addr), "far"),
	}
}

const ask, change = "SELECT 1", "SELECT 1 FOR UPDATE"

func TestGuidelinePlaces(t *testing.T) {
	f := startTrio(t)
	v := newService(t, tieredDocument)
	g := startGateway(t, gatewayOptions{servers: f.servers(), answer: v.answer, guideline: part(tieredDocument)})
	readers := map[string]int{}
	for range 10 {
		r := g.dial(t, "app", "shop")
		mine := r.query(t, ask)
		readers[mine]++
		for range 5 {
			if got := r.query(t, ask); got != mine {
				t.Errorf("session hops from %s to %s", mine, got)
			}
			if got := r.query(t, change); got != "primary" {
				t.Errorf("write at %s", got)
			}
		}
	}
	if readers["one"] != 5 || readers["two"] != 5 {
		t.Errorf("readers: %v", readers)
	}
	if questions := g.decider.count(); questions != 11 { // one of each session, and one about the second statement
		t.Errorf("%d questions: answers are not shared by cookie", questions)
	}
	q := g.decider.last(t, ask).GetSession()
	if q.GetRouter().GetRouteName() != "default" || q.GetRouter().GetBindAddress() != "127.0.0.1" || q.RandomValue == nil {
		t.Errorf("question: %v", q)
	}
	// A route without primaries has no place for writes; its reads go on.
	batch := g.dial(t, "loose", "shop")
	if got := batch.query(t, ask); got != "far" {
		t.Errorf("batch at %s", got)
	}
	// Attributes of the handshake; one of them is no UTF-8.
	db := g.open(t, "app", "connectionAttributes=program_name:batch,odd:%FF&interpolateParams=true")
	connect(t, db).expect(t, ask, "far")
	if odd := g.decider.last(t, ask).GetSession().GetConnectAttrs()["odd"]; odd != "\uFFFD" {
		t.Errorf("odd attribute asked as %q", odd)
	}
	for _, want := range []string{`route="app"`, `mode="read"`, `route="batch"`} {
		if !strings.Contains(g.choices(t), want) {
			t.Errorf("no metric with %s: %s", want, g.choices(t))
		}
	}
	if !strings.Contains(g.log.String(), `msg="session routed by the guideline"`) || !strings.Contains(g.log.String(), "route=app") {
		t.Error("route not logged")
	}
}

// TestGuidelineTiers stops the servers of the first tier, one by one, and starts them again.
func TestGuidelineTiers(t *testing.T) {
	f := startTrio(t)
	v := newService(t, tieredDocument)
	g := startGateway(t, gatewayOptions{servers: f.servers(), answer: v.answer, guideline: part(tieredDocument)})
	r := g.dial(t, "app", "shop")
	first, other := f.one, f.two
	if r.query(t, ask) == "two" {
		first, other = f.two, f.one
	}
	first.stop()
	if got := r.query(t, ask); got != other.name {
		t.Errorf("with its server gone the session reads at %s", got)
	}
	other.stop()
	if got := r.query(t, ask); got != "far" {
		t.Errorf("without a first tier the session reads at %s", got)
	}
	if got := r.query(t, ask); got != "far" {
		t.Errorf("then at %s", got)
	}
	if n := g.Unavailable(); n != 2 {
		t.Errorf("%d servers unavailable", n)
	}
	other.start(t)
	eventually(t, "back in the first tier", func() bool { return r.query(t, ask) == other.name })
	first.start(t)
	eventually(t, "all servers reached", func() bool { return g.Unavailable() == 0 })
	for range 10 { // a server that comes back to the same tier takes no session away
		if got := r.query(t, ask); got != other.name {
			t.Errorf("session hops to %s", got)
		}
	}
}

// TestGuidelineFull lets the first tier take one connection.
func TestGuidelineFull(t *testing.T) {
	f := startTrio(t)
	v := newService(t, tieredDocument)
	servers := f.servers()
	servers[1].MaxConnections, servers[2].Status = proto.Int64(1), new("OFFLINE_SOFT")
	g := startGateway(t, gatewayOptions{servers: servers, answer: v.answer, guideline: part(tieredDocument)})
	one, two := g.dial(t, "app", "shop"), g.dial(t, "app", "shop")
	for range 3 {
		if a, b := one.query(t, ask), two.query(t, ask); a != "one" || b != "far" {
			t.Errorf("at %s and %s", a, b)
		}
	}
	one.send(t, mysql.ComQuit)
	one.expectEnd(t)
	eventually(t, "in the first tier once there is a place", func() bool { return two.query(t, ask) == "one" })
}

// TestGuidelineChanges publishes another guideline: sessions follow at their next statement, open transactions stay.
func TestGuidelineChanges(t *testing.T) {
	f := startTrio(t)
	v := newService(t, tieredDocument)
	g := startGateway(t, gatewayOptions{servers: f.servers(), answer: v.answer, guideline: part(tieredDocument)})
	idle, open := g.dial(t, "app", "shop"), g.dial(t, "app", "shop")
	if got := idle.query(t, ask); got == "far" {
		t.Error("at far")
	}
	open.exec(t, "BEGIN")
	if got := open.query(t, ask); got != "primary" {
		t.Errorf("transaction at %s", got)
	}
	v.publish(guideOf(t, flippedDocument))
	g.push(t, &configv1.WatchGatewayConfigResponse{Generation: 2, Sequence: 2, Guideline: part(flippedDocument)})
	eventually(t, "generation 2", func() bool { return g.Snapshots.Current().Generation == 2 })
	if got := idle.query(t, ask); got != "far" {
		t.Errorf("after the change at %s", got)
	}
	if got := open.query(t, ask); got != "primary" {
		t.Errorf("transaction moved to %s", got)
	}
	open.exec(t, "COMMIT")
	if got := open.query(t, ask); got != "far" {
		t.Errorf("after the transaction at %s", got)
	}
	// The guideline goes: back to the hostgroups.
	removed := func(text string, req *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse {
		a := split(text, req)
		a.Generation = 3
		return a
	}
	g.decider.mu.Lock()
	g.decider.answer = removed
	g.decider.mu.Unlock()
	only := []*configv1.Server{server(writer, f.primary.addr), server(reader, f.two.addr)}
	g.push(t, &configv1.WatchGatewayConfigResponse{
		Generation: 3, Sequence: 3, Guideline: &configv1.GuidelinePart{}, Servers: &configv1.ServerList{Servers: only},
	})
	eventually(t, "generation 3", func() bool { return g.Snapshots.Current().Generation == 3 })
	if got := idle.query(t, ask); got != "two" {
		t.Errorf("without a guideline at %s", got)
	}
}

// TestGuidelineRuntime tells the gateway what a monitor found out.
func TestGuidelineRuntime(t *testing.T) {
	f := startTrio(t)
	v := newService(t, tieredDocument)
	g := startGateway(t, gatewayOptions{servers: f.servers(), answer: v.answer, guideline: part(tieredDocument)})
	r := g.dial(t, "app", "shop")
	if got := r.query(t, change); got != "primary" {
		t.Errorf("write at %s", got)
	}
	state := func(addr, role, unavailable string) *configv1.ServerState {
		return &configv1.ServerState{Server: addr, MemberRole: role, Unavailable: unavailable}
	}
	sequence := uint64(1)
	push := func(states ...*configv1.ServerState) {
		t.Helper()
		sequence++
		before := g.Snapshots.Current().Serial
		g.push(t, &configv1.WatchGatewayConfigResponse{Generation: 1, Sequence: sequence, Runtime: &configv1.RuntimeState{Servers: states}})
		eventually(t, "runtime state", func() bool { return g.Snapshots.Current().Serial > before })
	}
	push(state(f.primary.addr, "SECONDARY", ""), state(f.one.addr, "PRIMARY", ""), state(f.two.addr, "SECONDARY", ""))
	if got := r.query(t, change); got != "one" {
		t.Errorf("after a failover: write at %s", got)
	}
	if got := r.query(t, ask); got != "two" && got != "primary" {
		t.Errorf("after a failover: read at %s", got)
	}
	push(state(f.primary.addr, "", "down"), state(f.one.addr, "PRIMARY", ""), state(f.two.addr, "SECONDARY", "down"))
	if got := r.query(t, ask); got != "far" {
		t.Errorf("without a secondary nearby: read at %s", got)
	}
	if n := g.Unavailable(); n != 2 {
		t.Errorf("%d servers unavailable", n)
	}
	// No secondary anywhere: reads go to the primary.
	push(state(f.primary.addr, "", "down"), state(f.one.addr, "PRIMARY", ""), state(f.two.addr, "", "down"), state(f.far.addr, "", "down"))
	if got := r.query(t, ask); got != "one" {
		t.Errorf("without a secondary: read at %s", got)
	}
	push()
	if got := r.query(t, change); got != "primary" {
		t.Errorf("when nothing is known: write at %s", got)
	}
}

func TestGuidelineRefuses(t *testing.T) {
	f := startTrio(t)
	v := newService(t, tieredDocument)
	g := startGateway(t, gatewayOptions{servers: f.servers(), answer: v.answer, guideline: part(tieredDocument)})
	refused := func(r *raw, code byte, arg string) {
		t.Helper()
		r.send(t, code, []byte(arg)...)
		e := r.readError(t, 1148)
		if e.State != "42000" || !strings.Contains(e.Message, `no route of the routing guideline "tiered" matches`) {
			t.Errorf("refusal: %v", e)
		}
	}
	few := g.dial(t, "few", "shop")
	refused(few, mysql.ComQuery, ask)
	refused(few, mysql.ComStmtPrepare, ask)
	refused(few, mysql.ComInitDB, "other") // not routed by rules
	refused(few, mysql.ComQuery, "USE other")
	few.send(t, mysql.ComPing)
	few.readOK(t)
	// A transaction that is open when the route goes comes to its end.
	open := g.dial(t, "app", "shop")
	open.exec(t, "BEGIN")
	none := strings.ReplaceAll(tieredDocument, "'app'", "'nobody'")
	v.publish(guideOf(t, none))
	g.push(t, &configv1.WatchGatewayConfigResponse{Generation: 2, Sequence: 2, Guideline: part(none)})
	eventually(t, "generation 2", func() bool { return g.Snapshots.Current().Generation == 2 })
	if got := open.query(t, ask); got != "primary" {
		t.Errorf("transaction at %s", got)
	}
	open.exec(t, "COMMIT")
	refused(open, mysql.ComQuery, ask)
	if !strings.Contains(g.choices(t), `mode="refused"`) {
		t.Error("refusals not counted")
	}
}

// TestGuidelineWithoutService routes sessions by the guideline while nobody can be asked, and users and commands that
// nobody is asked about.
func TestGuidelineWithoutService(t *testing.T) {
	f := startTrio(t)
	settings := &configv1.Settings{ConnectTimeoutServerMax: proto.Uint32(300)}
	v := newService(t, tieredDocument)
	g := startGateway(t, gatewayOptions{servers: f.servers(), settings: settings, answer: v.answer, guideline: part(tieredDocument)})
	g.decider.fail(errors.New("down"))
	r := g.dial(t, "app", "shop")
	if got := r.query(t, ask); got != "primary" { // nothing is known of reads
		t.Errorf("at %s", got)
	}
	few := g.dial(t, "few", "shop")
	few.send(t, mysql.ComQuery, []byte(ask)...)
	few.readError(t, 1148)

	// An answer that was kept speaks of an older guideline; the one in force counts.
	g.decider.fail(nil)
	kept := g.dial(t, "app", "kept")
	eventually(t, "asked again", func() bool { // not in the moment after a failure
		got := kept.query(t, ask)
		return got == "one" || got == "two"
	})
	g.decider.fail(errors.New("down"))

	fast := g.dial(t, "fast", "shop") // its default hostgroup is the reader's
	mine := fast.query(t, change)
	if mine != "one" && mine != "two" {
		t.Errorf("fast at %s", mine)
	}
	for range 4 {
		if got := fast.query(t, ask); got != mine {
			t.Errorf("fast hops to %s", got)
		}
	}
	// Its one connection goes when the server leaves the route.
	g.push(t, &configv1.WatchGatewayConfigResponse{Generation: 2, Sequence: 2, Guideline: part(strings.ReplaceAll(tieredDocument, "near", "nowhere"))})
	eventually(t, "generation 2", func() bool { return g.Snapshots.Current().Generation == 2 })
	if got := fast.query(t, ask); got != "far" {
		t.Errorf("fast at %s", got)
	}
	if got := kept.query(t, ask); got != "far" {
		t.Errorf("by an old answer at %s", got)
	}
	use := g.dial(t, "app", "shop")
	use.send(t, mysql.ComInitDB, []byte("other")...)
	if e := use.readError(t, 9001); !strings.Contains(e.Message, `route "app" of the routing guideline "tiered" has no primary server for writes`) {
		t.Errorf("no primary: %v", e)
	}
}

func TestGuidelineUnknownPools(t *testing.T) {
	f := startTrio(t)
	v := newService(t, tieredDocument)
	settings := &configv1.Settings{ConnectTimeoutServerMax: proto.Uint32(300)}
	g := startGateway(t, gatewayOptions{servers: f.servers(), settings: settings, answer: v.answer, guideline: part(`{"version":"1.0","routes":[],"nonsense":1}`)})
	fails := func(r *raw, want string) {
		t.Helper()
		r.send(t, mysql.ComQuery, []byte(ask)...)
		if e := r.readError(t, 9001); !strings.Contains(e.Message, want) {
			t.Errorf("%v, want %q", e, want)
		}
	}
	r := g.dial(t, "app", "shop")
	fails(r, "the routing guideline of generation 1 can't be used by this gateway: guideline")
	if !strings.Contains(g.log.String(), "routing guideline unusable") {
		t.Error("not logged")
	}
	g.push(t, &configv1.WatchGatewayConfigResponse{Generation: 1, Sequence: 2, Guideline: &configv1.GuidelinePart{}})
	eventually(t, "no guideline", func() bool { return g.Snapshots.Current().Serial == 1 })
	fails(r, `no routing guideline is in force in generation 1, so there is no pool "read:app"`)
	// What the answer speaks of is still on its way: the statement waits for it.
	v.publish(guideOf(t, tieredDocument))
	late := g.dial(t, "app", "later")
	fails(late, "the configuration of generation 2, which has chosen it, has not come yet")
	g.push(t, &configv1.WatchGatewayConfigResponse{Generation: 2, Sequence: 3, Guideline: part(tieredDocument)})
	eventually(t, "guideline", func() bool { return g.Snapshots.Current().Serial == 2 })
	if got := late.query(t, ask); got != "one" && got != "two" {
		t.Errorf("at %s", got)
	}
}

// TestGuidelineChangeUser: the attributes of COM_CHANGE_USER count, none of the login before.
func TestGuidelineChangeUser(t *testing.T) {
	f := startTrio(t)
	v := newService(t, tieredDocument)
	g := startGateway(t, gatewayOptions{servers: f.servers(), answer: v.answer, guideline: part(tieredDocument)})
	r, err := g.dialWith(t, "app", "shop", map[string]string{"program_name": "batch"})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.query(t, ask); got != "far" {
		t.Errorf("batch at %s", got)
	}
	const batch = "\x13\x0cprogram_name\x05batch"
	for _, tt := range []struct {
		name, attributes string
		far              bool
	}{{"without attributes", "", false}, {"batch", batch, true}, {"with none", "\x00", false}} {
		r.changeUser(t, "app", "secret", "shop", tt.attributes)
		r.readOK(t)
		if got := r.query(t, ask); (got == "far") != tt.far {
			t.Errorf("%s: at %s", tt.name, got)
		}
	}
	r.send(t, mysql.ComQuery, []byte(ask+" + 1")...)
	r.readRows(t)
	if attrs := g.decider.last(t, ask+" + 1").GetSession().GetConnectAttrs(); len(attrs) != 0 {
		t.Errorf("asked with %v", attrs)
	}
}

// TestGuidelineModes has a listener without a split of reads and writes.
func TestGuidelineModes(t *testing.T) {
	f := startTrio(t)
	document := strings.ReplaceAll(tieredDocument, "'default'", "'rw'")
	v := newService(t, document)
	g := startGateway(t, gatewayOptions{
		servers: f.servers(), answer: v.answer, guideline: part(document),
		site: &snapshot.Site{Name: "gw", Listeners: []snapshot.Listener{{Name: "rw", Address: "127.0.0.1", Port: 6033}}},
	})
	seen := map[string]int{}
	for range 9 {
		r := g.dial(t, "app", "shop")
		got := r.query(t, ask)
		if again := r.query(t, change); again != got {
			t.Errorf("writes at %s, reads at %s", again, got)
		}
		seen[got]++
	}
	if seen["primary"] != 3 || seen["one"] != 3 || seen["two"] != 3 {
		t.Errorf("sessions: %v", seen)
	}
	if router := g.decider.last(t, ask).GetSession().GetRouter(); router.GetPortRw() != 6033 || router.GetPortRo() != 0 || router.GetName() != "gw" {
		t.Errorf("router: %v", router)
	}
}
