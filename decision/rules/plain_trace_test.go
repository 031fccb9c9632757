package rules

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/decision/pattern"
)

// TestTraceIsWalk holds traced walks to Walk, and what they write down to the outcome.
func TestTraceIsWalk(t *testing.T) {
	for seed := range uint64(300) {
		r := random{rand.New(rand.NewPCG(seed, 5))}
		m := &ruleMaker{r, 1 + r.Int32N(4), map[string]*pattern.Regexp{}, 1 + r.IntN(6), testNames[:1+r.IntN(4)]}
		list := make([]Rule, 1+r.IntN(pick(r, []int{3, 12, 60})))
		for i := range list {
			list[i] = m.rule(uint32(i + 1))
		}
		s := NewSet(list, true)
		var got, want Walk
		for range 25 {
			q := m.question(s)
			var trace Trace
			draw := r.Uint64()
			got.Seed(draw)
			want.Seed(draw)
			s.WalkTraced(q, &got, &trace)
			s.Walk(q, &want)
			if g, w := outcome(&got), outcome(&want); g != w {
				t.Fatalf("seed %d: %+v\ngot  %s\nwant %s", seed, q, g, w)
			}
			checkTrace(t, len(s.entries), &trace, &got)
			if t.Failed() {
				t.Fatalf("seed %d: %+v %+v", seed, q, trace.Steps)
			}
		}
	}
}

func checkTrace(t *testing.T, rules int, trace *Trace, w *Walk) {
	t.Helper()
	var matched []uint32
	flag, looks := None, 0
	for i, step := range trace.Steps {
		looks += step.Count
		if step.Failed != 0 {
			if step.Hit != (Hit{}) {
				t.Errorf("step %d: a rule that does not match did %+v", i, step.Hit)
			}
			continue
		}
		matched = append(matched, step.Rule.ID)
		if flag != None && step.Flag != flag {
			t.Errorf("step %d has flag %d, want %d", i, step.Flag, flag)
		}
		if flag = step.Flag; step.Hit.FlagOut != None {
			flag = step.Hit.FlagOut
		}
		if step.Hit.Restarted {
			looks = 0
		}
		if (step.Hit.Rewrite == Rewritten) != (step.Hit.Before != step.Hit.After) {
			t.Errorf("step %d: %+v", i, step.Hit)
		}
	}
	if !slices.Equal(matched, w.Matched) || (trace.DroppedMatches > 0) != w.Truncated {
		t.Errorf("matches %v, want %v (truncated: %t)", matched, w.Matched, w.Truncated)
	}
	if trace.DroppedMatches == 0 && trace.DroppedMisses == 0 && looks+len(trace.Unreached) != rules {
		t.Errorf("%d rules were looked at and %d not, want %d", looks, len(trace.Unreached), rules)
	}
	if (trace.SawText != 0) != w.SawText || (trace.LackedText != 0) != w.LackedText || (trace.Drew != 0) != w.Random {
		t.Errorf("%d saw the text, %d lacked it, %d drew; want %t %t %t", trace.SawText, trace.LackedText, trace.Drew, w.SawText, w.LackedText, w.Random)
	}
}

func trace(s *Set, q *Question) *Trace {
	var (
		w  Walk
		tr Trace
	)
	q.Session = nobody(s)
	s.WalkTraced(q, &w, &tr)
	return &tr
}

func mustPattern(t *testing.T, expr string) *pattern.Regexp {
	t.Helper()
	re, err := pattern.Compile(expr, true)
	if err != nil {
		t.Fatal(err)
	}
	return re
}

// TestTraceIsBounded traces rules without end.
func TestTraceIsBounded(t *testing.T) {
	list := make([]Rule, 40_000)
	for i := range list {
		list[i] = rule(uint32(i + 1))
		if i%2 == 0 {
			list[i].Username = "etl"
		} else {
			list[i].Schemaname = "crm"
		}
	}
	got := trace(NewSet(list, true), &Question{})
	if len(got.Steps) != maxMisses+maxBrief || got.DroppedMisses != len(list)-len(got.Steps) {
		t.Errorf("%d steps, %d dropped", len(got.Steps), got.DroppedMisses)
	}
	if got.Steps[maxMisses-1].Brief || !got.Steps[maxMisses].Brief {
		t.Error("the wrong steps are brief")
	}

	for i := range list {
		list[i] = rule(uint32(i + 1))
		list[i].Username = "etl"
	}
	got = trace(NewSet(list, true), &Question{})
	last := got.Steps[len(got.Steps)-1]
	if len(got.Steps) != maxMisses+1 || last.Count != len(list)-maxMisses || last.Rule.ID != maxMisses+1 || last.Last.ID != uint32(len(list)) {
		t.Errorf("%d steps, the last one %+v", len(got.Steps), last)
	}

	a := rule(7)
	a.FlagOut, a.Destination, a.Effects = 0, 5, Effects{Set: Timeout, Timeout: 3}
	got = trace(NewSet([]Rule{a}, true), &Question{Iterations: 1_000_000})
	if len(got.Steps) != MaxMatchedRules || got.DroppedMatches == 0 || got.DroppedDestinationSetter() != 7 || got.DroppedSetter(Timeout) != 7 || got.DroppedSetter(Delay) != 0 {
		t.Errorf("%d steps, %d dropped, setters %v", len(got.Steps), got.DroppedMatches, got.setters)
	}
}

// TestTraceOfFlags puts rules together that wait for the same flag.
func TestTraceOfFlags(t *testing.T) {
	var list []Rule
	for i, flag := range []int32{1, 1, 1, 2, 0, 2, 2} {
		r := rule(uint32(10 * (i + 1)))
		r.FlagIn = flag
		list = append(list, r)
	}
	var got []string
	for _, s := range trace(NewSet(list, true), &Question{}).Steps {
		got = append(got, fmt.Sprintf("%d-%d %d %s", s.Rule.ID, s.Last.ID, s.Count, s.Failed))
	}
	want := []string{"10-30 3 flag_in", "40-40 1 flag_in", "50-50 1 ", "60-70 2 flag_in"}
	if !slices.Equal(got, want) {
		t.Errorf("steps %q, want %q", got, want)
	}
}

func TestTraceOfRewrites(t *testing.T) {
	rewriting := func(id uint32, expr, replacement string) Rule {
		r := rule(id)
		r.MatchPattern = mustPattern(t, expr)
		var err error
		if r.Replacement, err = pattern.ParseReplacement(replacement, r.MatchPattern.Groups()); err != nil {
			t.Fatal(err)
		}
		r.Global = true
		return r
	}
	miss := rule(4)
	miss.MatchPattern = mustPattern(t, "SELECT")
	text := strings.Repeat("x", 5000) + " SELECT 1"
	got := trace(NewSet([]Rule{
		rewriting(1, "SELECT", "SELECT"), rewriting(2, "x", strings.Repeat("y", 30)), rewriting(3, "SELECT", "DELETE"), miss,
	}, true), &Question{Text: []byte(text), HasText: true}).Steps
	if got[0].Hit.Rewrite != RewriteUnchanged || got[1].Hit.Rewrite != RewriteTooLong {
		t.Errorf("%+v\n%+v", got[0].Hit, got[1].Hit)
	}
	if h := got[2].Hit; h.Rewrite != Rewritten || !strings.HasSuffix(h.Before, " SELECT 1") || !strings.HasSuffix(h.After, " DELETE 1") {
		t.Errorf("%+v", h)
	}
	if s := got[3]; s.Failed != PredicateMatchPattern || s.Text != Excerpt([]byte(strings.Repeat("x", 5000)+" DELETE 1"), 0) {
		t.Errorf("%+v", s)
	}
}

// TestTraceOfHardExpressions tells a rule that gives up from one that doesn't match.
func TestTraceOfHardExpressions(t *testing.T) {
	hard := rule(1)
	hard.MatchPattern = mustPattern(t, `^(a|a|b)*(?=c)d\1$`)
	hard.Negate = true
	steps := trace(NewSet([]Rule{hard}, true), &Question{Text: []byte(strings.Repeat("ab", 200)), HasText: true}).Steps
	if len(steps) != 1 || steps[0].Failed != PredicateMatchPattern || steps[0].Lack != LackOfBound {
		t.Errorf("%+v", steps)
	}
}

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("0123456789", 100)
	for _, tt := range []struct {
		text   string
		around int
		want   string
	}{
		{"", 0, ""},
		{long[:maxExcerpt], 250, long[:maxExcerpt]},
		{long, 0, long[:300] + " [700 bytes]..."},
		{long, 500, "...[460 bytes] " + long[460:760] + " [240 bytes]..."},
		{long, 1000, "...[700 bytes] " + long[700:]},
		{strings.Repeat("é", 400), 101, "...[60 bytes] " + strings.Repeat("é", 150) + " [440 bytes]..."},
	} {
		if got := Excerpt([]byte(tt.text), tt.around); got != tt.want {
			t.Errorf("around %d:\n%s\nwant\n%s", tt.around, got, tt.want)
		}
	}
}

// FuzzPieces holds the pieces of a comment to what is parsed as a whole.
func FuzzPieces(f *testing.F) {
	for _, comment := range []string{
		"hostgroup=5", "a;b=1;cache_ttl=2;cache_ttl=x", "min_gtid= a  b:5 ;min_gtid=:", "max_lag_ms=600001;min_epoch_ms=1700000000000",
		"hostgroup=99999999999;create_new_connection=2;query_delay", "=;;==;hostgroup==5", "MIRROR=1x",
	} {
		f.Add([]byte(comment), int64(1_700_000_000_500))
	}
	f.Fuzz(func(t *testing.T, comment []byte, now int64) {
		var whole, sum Annotations
		whole.Parse(comment, now)
		sum.Destination = None
		for _, p := range Pieces(comment, now) {
			a := &p.Annotations
			asks := a.Effects.Set != 0 || a.Destination != None
			if asks != (p.Why == "") || (a.Ignored > 0) != (p.Why == tooLarge) {
				t.Errorf("piece %q=%q: %+v, why %q", p.Key, p.Value, *a, p.Why)
			}
			a.Apply(&sum.Effects)
			if a.Destination != None {
				sum.Destination = a.Destination
			}
			sum.Ignored += a.Ignored
			sum.UsesTime = sum.UsesTime || a.UsesTime
		}
		show := func(a *Annotations) string {
			return fmt.Sprintf("%+v %d %d %t", a.Effects, a.Destination, a.Ignored, a.UsesTime)
		}
		if show(&whole) != show(&sum) {
			t.Errorf("%q: pieces come to %s, the whole to %s", comment, show(&sum), show(&whole))
		}
	})
}
