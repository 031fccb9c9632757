package decision_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/guideline"
)

// guidelineAgrees holds what an explanation tells of the guideline to the answer.
func guidelineAgrees(tb testing.TB, x *decision.Explanation, a *decision.Answer) {
	tb.Helper()
	e := x.Guideline
	if e == nil {
		if a.HasGuideline {
			tb.Error("the guideline is not explained")
		}
		return
	}
	if asked := a.Reason == decision.ReasonGuideline; asked != (e.Skipped == "") {
		tb.Errorf("skipped %q with reason %d", e.Skipped, a.Reason)
	}
	matched, failure := e.Kept, ""
	for i := range e.Routes {
		r := &e.Routes[i]
		switch {
		case r.Looked && matched != "" || r.Looked && !r.Enabled || r.Matched && !r.Looked:
			tb.Errorf("route %s is looked at", r.Name)
		case r.Error != "" && failure == "":
			failure = r.Error
		case r.Matched:
			matched = r.Name
		}
		if r.Looked != (r.Deciding != "") {
			tb.Errorf("route %s, looked at: %t, is decided by %q", r.Name, r.Looked, r.Deciding)
		}
	}
	if !a.HasGuideline {
		return
	}
	if failure != "" {
		matched = ""
		if !strings.HasSuffix(a.Guideline.Refusal, ": "+failure) {
			tb.Errorf("explained failure %q, refusal %q", failure, a.Guideline.Refusal)
		}
	}
	if a.Guideline.Name != matched || (a.Guideline.Refusal == "") != (matched != "") {
		tb.Errorf("explained route %q, answered %+v", matched, a.Guideline)
	}
}

// TestExplainGuideline looks at the words.
func TestExplainGuideline(t *testing.T) {
	cfg := guided(
		[2]string{"net", "NETWORK($.session.sourceIP, 8) = '10.0.0.0'"}, [2]string{"canary", "$.session.user = 'app' AND $.session.randomValue < 0.25"},
		[2]string{"shop", "$.session.schema = 'shop' OR $.session.connectAttrs.program_name = 'x'"}, [2]string{"rest", "$.server.tags.x <> 'y'"},
	)
	g := mustCompile(t, cfg)
	for name, tt := range map[string]struct {
		sql    string
		change func(*decision.Session)
		want   []string
	}{
		"by rule": {"SELECT 1", nil, []string{
			`pool read:shop in place of hostgroup 20 (by rule 2) because route "shop" of the routing guideline "g" matches the session`,
			`net: [{$.session.sourceIP '11.1.1.1'}] NETWORK($.session.sourceIP, 8) = '10.0.0.0' is FALSE`,
			`canary: [{$.session.user 'app'} {$.session.randomValue 0.5}] $.session.randomValue < 0.25 is FALSE`,
			`shop: [{$.session.schema 'shop'}] $.session.schema = 'shop' is TRUE, matches`,
			"rest: not looked at",
			`mode rw_split: guideline_binding.default_mode: listeners names neither "" nor port 0`,
		}},
		"by default": {"UPDATE t SET a = 1", nil, []string{"pool write:shop in place of hostgroup 10 (the default)"}},
		"by comment": {"/* hostgroup=10 */ SELECT 1", nil, []string{"pool write:shop in place of hostgroup 10 (by the statement's comment)"}},
		"elsewhere": {"/* hostgroup=7 */ SELECT 1", nil, []string{
			"hostgroup 7 because the statement's comment says so; else it would be 20 by rule 2",
			"skipped: hostgroup 7 is neither the writer hostgroup 10 nor the reader hostgroup 20 of the binding",
			"shop: [{$.session.schema 'shop'}]",
		}},
		"held": {"SELECT 1", func(s *decision.Session) { s.TransactionHostgroup = 10 }, []string{
			"hostgroup 10 because the session's transaction is open there", "skipped: the session is held in its hostgroup; the route counts when it is free",
		}},
		"by fast route": {"UPDATE t SET a = 1", func(s *decision.Session) { s.Schemaname = "fast" }, []string{
			"pool write:rest in place of hostgroup 10 (by a fast route)", `shop: [{$.session.schema 'fast'} {$.session.connectAttrs.program_name NULL}]`,
		}},
		"refused": {"SELECT 1", func(s *decision.Session) { s.ClientAddr = "nowhere" }, []string{
			`no hostgroup because route "net" of the routing guideline "g" can't be evaluated: Network function called on invalid IPv4 address: 'nowhere'`,
			"net: fails",
		}},
		"name": {"SELECT 1", func(s *decision.Session) { s.Router = &guideline.Router{RouteName: "rw"} }, []string{
			"pool all:shop", "mode rw: it is the listener's name",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg.FastRoutes = []decision.FastRoute{{Username: "app", Schemaname: "fast", DestinationHostgroup: 10}}
			g = mustCompile(t, cfg)
			q := question("app", tt.sql)
			q.Session.Schemaname, q.Session.ClientAddr, q.Session.RandomValue = "shop", "11.1.1.1", 0.5
			if tt.change != nil {
				tt.change(&q.Session)
			}
			agree(t, g, q)
			got := toldGuideline(explain(t, g, q))
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
		})
	}
}

func toldGuideline(x *decision.Explanation) string {
	var b strings.Builder
	e := x.Guideline
	fmt.Fprintf(&b, "%s\nskipped: %s\nmode %s: %s\n", x.Summary(), e.Skipped, e.ListenerMode, e.ModeSource)
	for i := range e.Routes {
		r := &e.Routes[i]
		switch {
		case !r.Looked:
			fmt.Fprintf(&b, "%s: not looked at\n", r.Name)
		case r.Error != "":
			fmt.Fprintf(&b, "%s: fails\n", r.Name)
		default:
			fmt.Fprintf(&b, "%s: %v %s is %s", r.Name, r.Variables, r.Deciding, r.DecidingValue)
			if r.Matched {
				b.WriteString(", matches")
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// TestExplainManyRoutes tells of many routes those that matter.
func TestExplainManyRoutes(t *testing.T) {
	var routes [][2]string
	for i := range 1500 {
		routes = append(routes, [2]string{fmt.Sprint("r", i), fmt.Sprintf("$.session.randomValue = %d", i)})
	}
	routes[1400][1] = "$.session.user = 'app'"
	g := mustCompile(t, guided(routes...))
	q := question("app", "SELECT 1")
	q.Session.RandomValue = 0.5
	agree(t, g, q)
	x := explain(t, g, q)
	if n := len(x.Guideline.Routes); n != 1001 || x.Guideline.Routes[1000].Name != "r1400" {
		t.Errorf("%d routes are told", n)
	}
}
