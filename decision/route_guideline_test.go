package decision_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/guideline"
)

// guided is readWriteSplit with a guideline for 10 and 20.
func guided(routes ...[2]string) *decision.Config {
	cfg := readWriteSplit()
	cfg.Guideline, cfg.GuidelineBinding = guidelineText("g", "$.server.port > 0", routes...), bound(10, 20)
	return cfg
}

// TestGuidelineStep has each way in which the step after the destination can end.
func TestGuidelineStep(t *testing.T) {
	cfg := guided([2]string{"shop", "$.session.schema = 'shop'"}, [2]string{"fast", "$.session.user = 'ff'"}, [2]string{"default", "$.session.schema = 'information_schema'"})
	cfg.QueryRules = append(cfg.QueryRules,
		decision.QueryRule{RuleID: 3, MatchDigest: new("^DROP"), ErrorMsg: new("no")},
		decision.QueryRule{RuleID: 4, MatchDigest: new("^DELETE"), MirrorHostgroup: new(int64(10))},
	)
	cfg.Users = append(cfg.Users, decision.User{Username: "ff10", DefaultHostgroup: 10, FastForward: true}, decision.User{Username: "ff20", DefaultHostgroup: 20, FastForward: true, DefaultSchema: "shop"})
	g := mustCompile(t, cfg)
	none := decision.None
	for _, tt := range []struct {
		name, user, schema, sql string
		change                  func(*decision.Question)
		reason                  decision.Reason
		hostgroup               int32
		pools                   []string // nil: no guideline
		mirror                  bool
	}{
		{"write", "app", "shop", "UPDATE t SET a = 1", nil, decision.ReasonGuideline, 10, []string{"write:shop"}, false},
		{"read", "app", "shop", "SELECT 1", nil, decision.ReasonGuideline, 20, []string{"read:shop", "write:shop"}, false},
		{"schema of the setting", "app", "", "SELECT 1", nil, decision.ReasonGuideline, 20, []string{"read:default", "write:default"}, false},
		{"schema of the user", "ff20", "", "SELECT 1", nil, decision.ReasonGuideline, 20, []string{"read:shop", "write:shop"}, false},
		{"operator's rule elsewhere", "app", "crm", "UPDATE t SET a = 1", nil, decision.ReasonFastRoute, 40, nil, false},
		{"annotation elsewhere", "app", "shop", "/* hostgroup=7 */ SELECT 1", nil, decision.ReasonAnnotation, 7, nil, false},
		{"annotation", "app", "shop", "/* hostgroup=20 */ UPDATE t SET a = 1", nil, decision.ReasonGuideline, 20, []string{"read:shop", "write:shop"}, false},
		{"answered", "app", "shop", "DROP TABLE t", nil, decision.ReasonAnswered, none, nil, false},
		{"answered, no route", "app", "x", "DROP TABLE t", nil, decision.ReasonAnswered, none, nil, false},
		{"refused", "app", "x", "SELECT 1", nil, decision.ReasonGuideline, none, []string{}, false},
		{"mirrored", "app", "shop", "DELETE FROM t", nil, decision.ReasonGuideline, 10, []string{"write:shop"}, true},
		{"refused, no mirror", "app", "x", "DELETE FROM t", nil, decision.ReasonGuideline, none, []string{}, false},
		{"fast_forward elsewhere", "ff", "shop", "SELECT 1", nil, decision.ReasonDefaultHostgroup, 30, nil, false},
		{"fast_forward", "ff10", "shop", "SELECT 1", nil, decision.ReasonGuideline, 10, []string{"write:shop"}, false},
		{"listener rw", "app", "shop", "SELECT 1", func(q *decision.Question) {
			q.Session.Router = &guideline.Router{RouteName: "rw"}
		}, decision.ReasonGuideline, 20, []string{"all:shop"}, false},
		{"transaction", "app", "shop", "SELECT 1", func(q *decision.Question) {
			q.Session.TransactionHostgroup = 10
		}, decision.ReasonTransaction, 10, []string{"write:shop"}, false},
		{"transaction elsewhere", "app", "shop", "SELECT 1", func(q *decision.Question) {
			q.Session.TransactionHostgroup = 7
		}, decision.ReasonTransaction, 7, nil, false},
		{"locked, no route", "app", "x", "SELECT 1", func(q *decision.Question) {
			q.Session.LockedHostgroup = 20
		}, decision.ReasonLocked, 20, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := question(tt.user, tt.sql)
			q.Session.Schemaname = tt.schema
			if tt.change != nil {
				tt.change(q)
			}
			a := route(t, g, q)
			if a.Reason != tt.reason || a.DestinationHostgroup != tt.hostgroup || a.HasMirror != tt.mirror {
				t.Errorf("%+v", a)
			}
			if a.HasGuideline != (tt.pools != nil) || !slices.Equal(a.Guideline.Pools, tt.pools) {
				t.Errorf("guideline %t %+v, want %q", a.HasGuideline, a.Guideline, tt.pools)
			}
			refused := tt.pools != nil && len(tt.pools) == 0
			if refused != (a.Has(decision.ErrorMsg) && a.ErrorMsg == `no route of the routing guideline "g" matches this session`) {
				t.Errorf("error message %q", a.ErrorMsg)
			}
			agree(t, g, q)
		})
	}
}

// TestGuidelineNeedsAUser wants unknown users refused as without a guideline.
func TestGuidelineNeedsAUser(t *testing.T) {
	g := mustCompile(t, guided([2]string{"r", "NETWORK($.session.sourceIP, 8) = '10.0.0.0'"}))
	for _, user := range []string{"", "nobody", "off"} {
		q := question(user, "SELECT 1")
		if err := g.Route(q, new(decision.Answer)); err == nil || err.(*decision.QuestionError).Field != "session.username" { //nolint:errorlint // Its documented type.
			t.Errorf("user %q: error %v", user, err)
		}
	}
}

// TestKeptRoute keeps the route of a session that has no random value by its cookie.
func TestKeptRoute(t *testing.T) {
	routes := [][2]string{{"canary", "$.session.randomValue < 0.1"}, {"main", "$.session.user = 'app'"}}
	g := mustCompile(t, guided(routes...))
	q := question("app", "SELECT 1")
	q.Session.RandomValue = 0.05
	first := route(t, g, q)
	generation, kept, ok := decision.ParseCookie(first.Cookie)
	if !ok || generation != 1 || kept != 0 || first.Guideline.Name != "canary" {
		t.Fatalf("cookie names generation %d, route %d (%t), guideline %+v", generation, kept, ok, first.Guideline)
	}
	q.Session.RandomValue, q.Session.KeptRoute = 0.9, kept
	if got, want := public(t, route(t, g, q)), public(t, first); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	agree(t, g, q)
	if x := explain(t, g, q); x.Guideline.Kept != "canary" || len(x.Guideline.Routes) > 0 {
		t.Errorf("explained %+v", x.Guideline)
	}
	cfg := guided(routes...)
	cfg.Guideline = strings.Replace(cfg.Guideline, `"name": "canary"`, `"name": "canary", "enabled": false`, 1)
	for name, g := range map[string]*decision.Generation{"no such route": g, "disabled route": mustCompile(t, cfg)} {
		q.Session.KeptRoute = 0
		if name == "no such route" {
			q.Session.KeptRoute = 2
		}
		if a := route(t, g, q); a.Guideline.Name != "main" {
			t.Errorf("%s: guideline %+v", name, a.Guideline)
		}
		agree(t, g, q)
	}
	q.Session.KeptRoute = decision.None
	q.Session.Username = "ff"
	if _, kept, ok := decision.ParseCookie(route(t, g, q).Cookie); !ok || kept != decision.Refused {
		t.Errorf("a refused session has route %d (%t)", kept, ok)
	}
	if _, kept, ok := decision.ParseCookie(route(t, mustCompile(t, readWriteSplit()), question("app", "SELECT 1")).Cookie); !ok || kept != decision.None {
		t.Errorf("without a guideline a session has route %d (%t)", kept, ok)
	}
}

// TestGuidelineCookies wants sessions to share a cookie exactly when they have the same route and listener's mode.
func TestGuidelineCookies(t *testing.T) {
	g := mustCompile(t, guided(
		[2]string{"mysql", "$.session.connectAttrs.program_name = 'mysql'"}, [2]string{"net", "NETWORK($.session.sourceIP, 8) = '10.0.0.0'"},
	))
	q := question("app", "SELECT 1")
	q.Session.ConnectAttrs = map[string]string{"program_name": "MySQL", "pid": "1"}
	base := route(t, g, q).Cookie
	for name, tt := range map[string]struct {
		change func(*decision.Session)
		same   bool
	}{
		"same route":      {func(s *decision.Session) { s.ConnectAttrs = map[string]string{"program_name": "mysql"} }, true},
		"address":         {func(s *decision.Session) { s.ClientAddr = "10.1.2.3" }, true},
		"another route":   {func(s *decision.Session) { s.ConnectAttrs, s.ClientAddr = nil, "10.1.2.3" }, false},
		"no route":        {func(s *decision.Session) { s.ConnectAttrs, s.ClientAddr = nil, "11.1.2.3" }, false},
		"route fails":     {func(s *decision.Session) { s.ConnectAttrs = nil }, false},
		"listener's mode": {func(s *decision.Session) { s.Router = &guideline.Router{RouteName: "rw"} }, false},
		"listener's name": {func(s *decision.Session) { s.Router = &guideline.Router{RouteName: "x"} }, true},
	} {
		other := *q
		tt.change(&other.Session)
		if got := route(t, g, &other).Cookie; slices.Equal(got, base) != tt.same {
			t.Errorf("%s: the same cookie: %t", name, !tt.same)
		}
	}
}

func TestGuidelineSessionAttributes(t *testing.T) {
	plain := []string{"username", "proxy_port", "next_query_flag_in", "router"}
	for match, want := range map[string][]string{
		"TRUE":                                         plain,
		"$.session.user = 'a'":                         plain,
		"$.router.name = 'a'":                          plain,
		"$.session.schema = 'a'":                       {"username", "schemaname", "proxy_port", "next_query_flag_in", "router"},
		"$.session.sourceIP = 'a'":                     {"username", "client_addr", "proxy_port", "next_query_flag_in", "router"},
		"$.session.targetIP = 'a'":                     {"username", "proxy_addr", "proxy_port", "next_query_flag_in", "router"},
		"$.session.sourceIP = RESOLVE_V4('a')":         {"username", "client_addr", "proxy_port", "next_query_flag_in", "router", "resolved_names"},
		"$.session.randomValue > $.session.targetPort": {"username", "proxy_port", "next_query_flag_in", "random_value", "router"},
		"$.session.connectAttrs.b = $.session.connectAttrs.a.c": {
			"username", "proxy_port", "next_query_flag_in", "connect_attrs.a.c", "connect_attrs.b", "router",
		},
	} {
		cfg := &decision.Config{Guideline: guidelineText("g", "$.server.port > 0", [2]string{"r", match}), GuidelineBinding: bound(1, 2)}
		if got := mustCompile(t, cfg).SessionAttributes(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", match, got, want)
		}
	}
}

func TestGuidedRouteAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	routes := [][2]string{{"net", "NETWORK($.session.sourceIP, 24) = '192.0.2.0'"}}
	for i := range 9 {
		routes = append(routes, [2]string{fmt.Sprint("r", i), fmt.Sprintf("$.session.connectAttrs.program_name = 'p%d' AND $.router.routeName = 'x'", i)})
	}
	g := mustCompile(t, guided(append(routes, [2]string{"rest", "$.session.schema = 'Shop'"})...))
	q := question("app", "SELECT 1")
	q.Session.Schemaname, q.Session.ClientAddr = "shop", "10.1.2.3"
	q.Session.ConnectAttrs = map[string]string{"program_name": "p8", "pid": "1"}
	q.Session.Router = &guideline.Router{RouteName: "x"}
	var a decision.Answer
	for _, want := range []string{"r8", "rest"} {
		run := func() {
			if err := g.Route(q, &a); err != nil || a.Guideline.Name != want {
				t.Fatalf("guideline %+v, error %v", a.Guideline, err)
			}
		}
		run()
		if n := testing.AllocsPerRun(100, run); n != 0 {
			t.Errorf("%s: %v allocations", want, n)
		}
		q.Session.Router.RouteName = "y"
	}
}

func BenchmarkRouteGuided(b *testing.B) {
	g := mustCompile(b, guided([2]string{"a", "$.session.user = 'other'"}, [2]string{"b", "$.session.connectAttrs.program_name = 'mysql'"}))
	q := question("app", "SELECT id, name FROM orders WHERE id = 4711 AND status = 'new'")
	q.Session.ConnectAttrs = map[string]string{"program_name": "mysql"}
	var a decision.Answer
	b.ReportAllocs()
	for b.Loop() {
		if err := g.Route(q, &a); err != nil {
			b.Fatal(err)
		}
	}
}
