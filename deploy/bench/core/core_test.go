package core

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pointsman/pointsman/deploy/bench"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The names are those of the table of budgets, which others read bench/core.json by.
func TestBudgets(t *testing.T) {
	want := strings.Fields(`pattern_warm_1000 pattern_flat pattern_vs_linear_100 pattern_vs_linear_1000
		pattern_fresh_first pattern_fresh_later pattern_hostile pattern_hostile_vs_linear pattern_build_10000 pattern_memory_10000
		exact_10000 fastroute_1e5_interned fastroute_1e5_strings fastroute_bytes_1e6 select_3 select_20 select_200
		guideline_10_routes guideline_vs_walk digest route_uncached route_cached_digest route_cached_hash rpc_stream_vs_unary rpc_pipelined_vs_unary`)
	var got []string
	for _, b := range budgets {
		got = append(got, b.Name)
		if b.Unit == "" || b.Baseline == "" || b.Limit <= 0 {
			t.Errorf("budget %+v is not complete", b)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("budgets of %v, want %v", got, want)
	}
}

// The cheap groups are measured for a moment; whether they keep their budgets is not a question for a test.
func TestGroups(t *testing.T) {
	var out bytes.Buffer
	s := &suite{meter: bench.Meter{Rounds: 1, Slice: time.Microsecond, Slices: 1}, report: bench.NewReport(&out, budgets)}
	for _, name := range []string{"exact", "select", "guideline", "digest", "fastroute"} {
		i := slices.IndexFunc(groups, func(g group) bool { return g.name == name })
		if err := groups[i].measure(s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var got []string
	for _, row := range s.report.Rows() {
		got = append(got, row.Name)
		if row.Value <= 0 || row.Ratio <= 0 {
			t.Errorf("row %+v", row)
		}
	}
	want := strings.Fields(`exact_10000 fastroute_1e5_interned fastroute_1e5_strings fastroute_bytes_1e6 select_3 select_20 select_200
		guideline_10_routes guideline_vs_walk digest`)
	if !slices.Equal(got, want) {
		t.Errorf("rows %v, want %v", got, want)
	}
}

func TestMainRefuses(t *testing.T) {
	var out, errs bytes.Buffer
	if status := Main([]string{"nonsense"}, &out, &errs); status != 2 || !strings.Contains(errs.String(), `no group "nonsense"`) {
		t.Errorf("status %d, stderr %q", status, errs.String())
	}
}

// Go's engine says of each text what its maker says of it.
func TestDigestTexts(t *testing.T) {
	const rules = 100
	list := gos(expressions(rules))
	matches := func(text []byte) (ids []int) {
		for i, re := range list {
			if re.Match(text) {
				ids = append(ids, i)
			}
		}
		return ids
	}
	for _, text := range digestTexts(64, rules, true) {
		if ids := matches(text); !slices.Equal(ids, []int{rules - 1}) {
			t.Errorf("%q matches rules %v, want the last one", text, ids)
		}
	}
	for _, text := range digestTexts(64, rules, false) {
		if ids := matches(text); ids != nil {
			t.Errorf("%q matches rules %v, want none", text, ids)
		}
	}
}

func TestTextsAreDistinct(t *testing.T) {
	for name, texts := range map[string][][]byte{"statements": statements(random(1), 2000, 8), "hostile": hostileTexts(500, 1000)} {
		seen := map[string]bool{}
		for _, text := range texts {
			seen[string(text)] = true
		}
		if len(seen) != len(texts) {
			t.Errorf("%s: %d of %d are distinct", name, len(seen), len(texts))
		}
	}
	for _, text := range hostileTexts(10, 1000) {
		if len(text) != 800 {
			t.Errorf("hostile text of %d bytes", len(text))
		}
	}
}

func TestExpressions(t *testing.T) {
	for _, n := range []int{10, 100, 1000} {
		list := expressions(n)
		distinct := slices.Compact(slices.Sorted(slices.Values(list)))
		if len(list) != n || len(distinct) != n {
			t.Errorf("%d expressions, %d distinct, want %d", len(list), len(distinct), n)
		}
		for _, expr := range list {
			if _, err := regexp.Compile(expr); err != nil {
				t.Error(err)
			}
		}
	}
}
