package decision_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/pointsman/pointsman/decision"
)

// TestManyExpressions compiles more expressions than one chunk and wants the problems in the document's order.
func TestManyExpressions(t *testing.T) {
	cfg := &decision.Config{}
	var want []string
	for i := range 500 {
		r := decision.QueryRule{RuleID: int64(i + 1), MatchDigest: new(fmt.Sprintf("^SELECT %d", i%90)), MatchPattern: new("7")}
		if i%3 == 0 {
			r.MatchDigest = new(fmt.Sprintf("(%d", i%60))
			want = append(want, fmt.Sprintf("query_rules[%d].match_digest", i))
		}
		if i%7 == 0 {
			r.MatchPattern, r.ReModifiers = new("[z-a]"), new("GLOBAL")
			want = append(want, fmt.Sprintf("query_rules[%d].match_pattern", i))
		}
		cfg.QueryRules = append(cfg.QueryRules, r)
	}
	g, problems := decision.Compile(1, cfg)
	var got []string
	for _, p := range problems {
		got = append(got, p.Path)
	}
	if g != nil || !slices.Equal(got, want) {
		t.Errorf("problems %v, want %v", got, want)
	}
}

func TestMemory(t *testing.T) {
	g := mustCompile(t, readWriteSplit())
	before := g.Memory()
	route(t, g, question("app", "SELECT 1"))
	after := g.Memory()
	if before.Rules <= 0 || before.FastRoutes <= 0 || before.DigestAutomaton <= 0 || after.Classes <= before.Classes {
		t.Errorf("before %+v, after %+v", before, after)
	}
}
