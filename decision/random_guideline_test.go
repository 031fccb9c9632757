package decision_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/guideline"
)

// someMatches look at everything that routes can look at. Some of them fail for some sessions.
var someMatches = []string{
	"$.session.user = 'app'", "$.session.user IN ('etl', web)", "$.session.schema = 'shop'", "$.session.schema LIKE 'c%'",
	"NETWORK($.session.sourceIP, 16) = '10.1.0.0'", "$.session.sourceIP = '127.0.0.1'", "$.session.targetIP = '127.0.0.1'",
	"$.session.targetPort = $.router.port.rw", "$.session.targetPort = 6033", "$.session.randomValue < 0.5",
	"$.session.connectAttrs.program_name = 'mysql'", "$.session.connectAttrs.a.b <> 'x'", "$.router.routeName = 'ro'",
	"$.router.tags.zone = 'north'", "$.session.sourceIP = RESOLVE_V4('db.example')", "TRUE AND NUMBER($.session.connectAttrs.n) > 1",
	"TRUE", "NOT $.session.user = 'app' AND $.session.targetPort > 0",
}

// addGuideline puts a guideline in force, or a stored one, with a binding to hostgroups that statements of the others go to.
func (r randomizer) addGuideline(cfg *decision.Config) {
	type object = map[string]any
	var routes []object
	for i := range 1 + r.IntN(4) {
		routes = append(routes, object{
			"name": fmt.Sprint("route", i), "match": pick(r, someMatches), "enabled": !r.oneIn(5),
			"destinations": []object{{"classes": []string{"any"}, "strategy": "round-robin", "priority": 0}},
		})
	}
	text, err := json.Marshal(object{
		"version": "1.1", "name": "random", "routes": routes,
		"destinations": []object{{"name": "any", "match": "$.server.port > 0"}},
	})
	if err != nil {
		panic(err)
	}
	cfg.Guideline, cfg.Guidelines, cfg.ActiveGuideline = "", nil, ""
	if r.oneIn(2) {
		cfg.Guideline = string(text)
	} else {
		cfg.Guidelines, cfg.ActiveGuideline = []decision.StoredGuideline{{Name: "random", Document: string(text)}}, "random"
	}
	cfg.GuidelineBinding = &decision.GuidelineBinding{
		WriterHostgroup: new(pick(r, []int32{0, 1, 11})), ReaderHostgroup: new(pick(r, []int32{1, 12, 101})),
		Listeners: pick(r, []map[string]string{nil, {"ro": "rw_split"}, {"6033": "rw"}}), DefaultMode: maybe(r, "rw", "rw_split", "ro"),
	}
}

// guided gives the question what guidelines look at.
func (r randomizer) guided(q *decision.Question) {
	q.Session.RandomValue = pick(r, []float64{0, 0.25, 0.5, 0.75})
	q.Session.ConnectAttrs = pick(r, []map[string]string{nil, {"program_name": "mysql", "a.b": "x"}, {"a.b": "y", "n": "2"}, {"n": "many"}})
	q.Session.Router = pick(r, []*guideline.Router{
		nil, {RouteName: "ro", PortRW: 6033}, {RouteName: "x", BindAddress: "127.0.0.1", Tags: map[string]string{"zone": `"north"`}}, {RouteName: "rw"},
	})
	q.Session.RandomDrawn = r.oneIn(2)
	q.Session.KeptRoute = pick(r, []int32{decision.None, decision.None, decision.None, decision.Refused})
	q.Names = pick(r, []guideline.Names{nil, {guideline.Host{Name: "db.example"}: "127.0.0.1"}, {guideline.Host{Name: "db.example"}: "10.1.2.3"}})
}

// TestGuidelineStandsInForHostgroups holds answers to those without a guideline: it has a say in nothing but where statements
// for its hostgroups go.
func TestGuidelineStandsInForHostgroups(t *testing.T) {
	counts := map[string]int{}
	for seed := range uint64(300) {
		r := newRandomizer(seed)
		cfg := r.config()
		r.addGuideline(cfg)
		g := mustCompile(t, cfg)
		bare := *cfg
		bare.Guideline, bare.GuidelineBinding, bare.ActiveGuideline = "", nil, ""
		without := mustCompile(t, &bare)
		for range 40 {
			q := r.question(g)
			if r.oneIn(4) {
				q.Session.TransactionHostgroup = pick(r, []int32{0, 1, 12})
			}
			if r.oneIn(8) {
				q.Session.LockedHostgroup = pick(r, []int32{0, 1, 12})
			}
			got, want := route(t, g, q), route(t, without, q)
			mirrored := want.HasMirror
			counts[standIn(g, q, want)]++
			if mirrored && !want.HasMirror { // a copy that is not sent can't make the answer one for this statement alone
				want.CacheScope, want.TooComplex = got.CacheScope, got.TooComplex
			}
			got.Cookie, want.Cookie = nil, nil
			if a, b := public(t, got), public(t, want); a != b {
				t.Fatalf("seed %d, %+v, %q:\ngot  %s\nwant %s\n%s", seed, q, q.Statement.Text, a, b, document(cfg))
			}
			agree(t, g, q)
		}
	}
	for _, way := range []string{"answered", "another hostgroup", "held", "held and refused", "refused", "failed", "routed"} {
		if counts[way] < 20 {
			t.Errorf("only %d were %s", counts[way], way)
		}
	}
}

// standIn changes an answer that was made without a guideline into what it has to be with one.
func standIn(g *decision.Generation, q *decision.Question, a *decision.Answer) (way string) {
	b := g.Guide().Binding()
	isWriter, isReader := a.DestinationHostgroup == *b.WriterHostgroup, a.DestinationHostgroup == *b.ReaderHostgroup
	switch {
	case a.DestinationHostgroup < 0:
		return "answered"
	case !isWriter && !isReader:
		return "another hostgroup"
	}
	s := &q.Session
	user, _ := g.User(s.Username)
	seen := guideline.Session{
		User: s.Username, Schema: s.Schemaname, SourceIP: s.ClientAddr, TargetIP: s.ProxyAddr, TargetPort: float64(s.ProxyPort),
		RandomValue: s.RandomValue, ConnectAttrs: s.ConnectAttrs,
	}
	if seen.Schema == "" {
		seen.Schema = user.DefaultSchema
	}
	if seen.Schema == "" {
		seen.Schema = "information_schema"
	}
	name := ""
	if s.Router != nil {
		name = s.Router.RouteName
		if s.Router.BindAddress != "" {
			seen.TargetIP = s.Router.BindAddress
		}
	}
	seen.SourceIP, seen.TargetIP = strings.TrimPrefix(seen.SourceIP, "::ffff:"), strings.TrimPrefix(seen.TargetIP, "::ffff:")
	choice := decision.Choice{Guideline: "random", Mode: decision.GuidelineAll}
	if g.Guide().Mode(decision.Listener{Name: name, Port: s.ProxyPort}) == decision.ListenerRWSplit {
		choice.Mode = decision.GuidelineRead
		if isWriter {
			choice.Mode = decision.GuidelineWrite
		}
	}
	index, err := g.Guide().Guideline().Route(&guideline.Facts{Router: s.Router, Session: &seen, Names: q.Names})
	way = "routed"
	if s.KeptRoute == decision.Refused {
		index, err = -1, nil
	}
	switch {
	case err != nil:
		way = "failed"
		failed := err.(*guideline.RouteError) //nolint:errorlint // Its documented type.
		choice.Refusal = fmt.Sprintf("route %q of the routing guideline \"random\" can't be evaluated: %v", failed.Route, failed.Err)
	case index < 0:
		way = "refused"
		choice.Refusal = `no route of the routing guideline "random" matches this session`
	default:
		choice.Route, choice.Name = int32(index), g.Guide().Guideline().Routes()[index].Name
		choice.Pools = map[decision.GuidelineMode][]string{
			decision.GuidelineAll:   {"all:" + choice.Name},
			decision.GuidelineWrite: {"write:" + choice.Name},
			decision.GuidelineRead:  {"read:" + choice.Name, "write:" + choice.Name},
		}[choice.Mode]
	}
	held := a.Reason == decision.ReasonTransaction || a.Reason == decision.ReasonLocked
	if held && choice.Refusal != "" {
		return "held and refused"
	}
	a.HasGuideline, a.Guideline = true, choice
	if held {
		return "held"
	}
	a.Reason = decision.ReasonGuideline
	if way == "failed" && s.RandomDrawn {
		a.CacheScope = decision.ScopeNone
	}
	if choice.Refusal != "" {
		a.Guideline.Route, a.DestinationHostgroup = decision.None, decision.None
		a.Set |= decision.ErrorMsg
		a.ErrorMsg = choice.Refusal
		a.HasMirror = false
		a.Mirror = decision.Mirror{DestinationHostgroup: decision.None}
	}
	return way
}
