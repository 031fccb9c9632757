package core

import (
	"encoding/json"
	"fmt"

	"github.com/pointsman/pointsman/decision/guideline"
	"github.com/pointsman/pointsman/deploy/bench"
)

// guidelineRules are the rules of ten routes: two dozen predicates of the kinds that people write.
var guidelineRules = []string{
	`$.session.user = 'backup' AND NETWORK($.session.sourceIP, 16) = '10.9.0.0'`,
	`$.session.user = 'app' AND $.session.connectAttrs.program_name = 'mysqldump'`,
	`$.session.user IN ('reports', 'bi', 'analytics') AND $.session.randomValue < 0.25`,
	`$.session.schema = 'audit' OR $.session.schema = 'audit_archive' OR $.session.user = 'auditor'`,
	`NETWORK($.session.sourceIP, 24) = '192.168.7.0' AND NOT $.session.user = 'root'`,
	`$.session.schema LIKE 'tenant1%' AND $.session.randomValue < 0.1`,
	`$.session.user = 'app' AND $.session.schema IN ('shop', 'cart', 'stock') AND $.session.targetPort = 6447`,
	`$.session.user LIKE 'svc-%' AND (NETWORK($.session.sourceIP, 8) = '10.0.0.0' OR $.session.sourceIP = '127.0.0.1')`,
	`$.session.targetPort = 6447 AND $.session.schema <> 'mysql'`,
	`$.session.targetPort = 6446 OR $.session.user = 'root'`,
}

// guidelineDocument makes a document of the rules.
func guidelineDocument() ([]byte, error) {
	type object map[string]any
	var routes []object
	for i, rule := range guidelineRules {
		routes = append(routes, object{"name": fmt.Sprintf("route_%d", i), "match": rule, "destinations": []object{
			{"classes": []string{"all"}, "strategy": "round-robin", "priority": 0},
		}})
	}
	return json.Marshal(object{
		"version": "1.1", "name": "bench", "routes": routes,
		"destinations": []object{{"name": "all", "match": "$.server.port > 0"}},
	})
}

// guidelineSessions makes sessions whose values come up in the rules, mixed at random.
func guidelineSessions(n int) []guideline.Facts {
	r := random(90)
	pick := func(texts ...string) string { return texts[r.IntN(len(texts))] }
	facts := make([]guideline.Facts, n)
	for i := range facts {
		facts[i].Session = &guideline.Session{
			User:       pick("app", "app", "app", "svc-orders", "svc-mail", "reports", "bi", "backup", "root", "auditor", "web"),
			Schema:     pick("shop", "cart", "tenant17", "tenant42", "audit", "mysql", "stock", "crm"),
			SourceIP:   fmt.Sprintf("%s.%d", pick("10.9.4", "10.1.2", "192.168.7", "172.16.3"), 1+r.IntN(250)),
			TargetPort: float64(6446 + r.IntN(2)), RandomValue: r.Float64(),
			ConnectAttrs: map[string]string{"program_name": pick("mysqldump", "shop-web", "mysql", "jdbc")},
		}
	}
	return facts
}

// guideline finds the routes of 64 sessions among ten, and does the same by walking the trees of their rules.
func (s *suite) guideline() error {
	document, err := guidelineDocument()
	if err != nil {
		return err
	}
	compiled, problems := guideline.Compile(document)
	if compiled == nil {
		return fmt.Errorf("guideline: %v", problems)
	}
	rules := make([]*guideline.Expression, len(guidelineRules))
	for i, text := range guidelineRules {
		rule, bad := guideline.ParseExpression(text, guideline.ParseOptions{JSONTags: true})
		if bad != nil {
			return bad
		}
		rules[i] = rule
	}
	walk := func(f *guideline.Facts) (int, error) {
		for i, rule := range rules {
			switch v, err := rule.Eval(f); {
			case err != nil:
				return -1, err
			case v.Bool:
				return i, nil
			}
		}
		return -1, nil
	}
	sessions := guidelineSessions(64)
	taken := make(map[int]int)
	for i := range sessions {
		route, err := compiled.Route(&sessions[i])
		if err != nil {
			return err
		}
		walked, err := walk(&sessions[i])
		if err != nil {
			return err
		}
		if walked != route {
			return fmt.Errorf("session %d: route %d, by walking the trees %d", i, route, walked)
		}
		taken[route]++
	}
	if len(taken) < len(rules)/2 {
		return fmt.Errorf("64 sessions take %d of %d routes only: that says little", len(taken), len(rules))
	}
	op := bench.Op{Per: len(sessions), Run: func() {
		for i := range sessions {
			route, _ := compiled.Route(&sessions[i])
			sink += uint64(route)
		}
	}}
	plain := bench.Op{Per: len(sessions), Run: func() {
		for i := range sessions {
			route, _ := walk(&sessions[i])
			sink += uint64(route)
		}
	}}
	m := s.meter.Measure(mapLookup(), op, plain)
	allocs := s.allocs(op)
	s.report.Add("guideline_10_routes", bench.Result{
		Value: m[1].Median(), Ratio: m[1].Over(m[0]).Median(), Allocs: allocs,
		Note: fmt.Sprintf("64 sessions take %d of %d routes; M %.1f ns", len(taken), len(rules), m[0].Median()),
	})
	s.report.Add("guideline_vs_walk", bench.Result{
		Value: m[1].Median(), Ratio: m[1].Over(m[2]).Median(), Allocs: allocs,
		Note: fmt.Sprintf("walk %.0f ns", m[2].Median()),
	})
	return nil
}
