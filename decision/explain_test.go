package decision_test

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/decision"
)

func explain(tb testing.TB, g *decision.Generation, q *decision.Question) *decision.Explanation {
	tb.Helper()
	x, err := g.Explain(q)
	if err != nil {
		tb.Fatal(err)
	}
	return x
}

// agree holds what the steps of an explanation come to against the answer that Route gives.
func agree(tb testing.TB, g *decision.Generation, q *decision.Question) {
	tb.Helper()
	x, a := explain(tb, g, q), route(tb, g, q)
	want := func(what string, got, want any) {
		tb.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			tb.Errorf("%s: explained %v, routed %v", what, got, want)
		}
	}
	if got, want := public(tb, &x.Answer), public(tb, a); got != want {
		tb.Errorf("answer %s\nwant   %s", got, want)
	}
	last := x.Destinations[len(x.Destinations)-1]
	want("reason", last.By, a.Reason)
	want("destination", last.Hostgroup, a.DestinationHostgroup)
	want("scope", x.Scope(), a.CacheScope)
	want("reasons of the scope", len(x.ScopeReasons) == 0, a.CacheScope == decision.ScopeDigest)
	want("mirror", x.Mirror != nil, a.HasMirror)
	if x.Mirror != nil {
		want("mirror's destination", x.Mirror.Destinations[len(x.Mirror.Destinations)-1].Hostgroup, a.Mirror.DestinationHostgroup)
		want("mirror's rules", matches(&x.Mirror.Walk), a.Mirror.MatchedRules)
	}
	fast := len(x.FastRoute.Keys) > 0 && x.FastRoute.Keys[len(x.FastRoute.Keys)-1].Found
	want("fast route", fast, a.FastRoute)
	guidelineAgrees(tb, x, a)
	if x.Summary() == "" {
		tb.Error("no summary")
	}
	if x.Session.FastForward {
		return
	}
	want("rules", matches(&x.Walk), a.MatchedRules)
	want("truncated", x.Walk.DroppedMatches > 0, a.MatchedRulesTruncated)
	want("flag", x.Walk.FinalFlag, a.FinalFlagIn)
	ignored := 0
	for _, piece := range x.Comment.Annotations {
		if strings.Contains(piece.Why, "too large") {
			ignored++
		}
		want("annotation "+piece.Key, piece.Set == nil, piece.Why != "")
	}
	want("ignored annotations", ignored, a.IgnoredAnnotations)
	if x.Walk.DroppedMatches+x.Walk.DroppedMisses == 0 && (x.Mirror == nil || x.Mirror.Walk.DroppedMatches+x.Mirror.Walk.DroppedMisses == 0) {
		want("too complex", tooComplex(&x.Walk) || x.Mirror != nil && tooComplex(&x.Mirror.Walk), a.TooComplex)
	}
	if x.Walk.DroppedMatches == 0 {
		effectsAgree(tb, x, a)
	}
}

// effectsAgree wants each effect of the answer from exactly one setting that counts.
func effectsAgree(tb testing.TB, x *decision.Explanation, a *decision.Answer) {
	tb.Helper()
	var all []*decision.Setting
	for i := range x.Walk.Steps {
		for j := range x.Walk.Steps[i].Set {
			all = append(all, &x.Walk.Steps[i].Set[j])
		}
	}
	for i := range x.Comment.Annotations {
		if s := x.Comment.Annotations[i].Set; s != nil {
			all = append(all, s)
		}
	}
	counting := map[string]string{}
	for _, s := range all {
		if s.OverriddenBy != "" {
			continue
		}
		if _, twice := counting[s.Name]; twice {
			tb.Errorf("%s counts twice", s.Name)
		}
		counting[s.Name] = s.Value
	}
	destination, ok := counting["destination_hostgroup"]
	by := a.Reason
	if by == decision.ReasonGuideline && a.DestinationHostgroup != decision.None {
		by = x.Destinations[len(x.Destinations)-2].By // it stands in for what that says
	}
	if byRule := by == decision.ReasonRule || by == decision.ReasonAnnotation; byRule != ok || ok && destination != strconv.Itoa(int(a.DestinationHostgroup)) {
		tb.Errorf("destination_hostgroup %q is set, reason %d, hostgroup %d", destination, a.Reason, a.DestinationHostgroup)
	}
	delete(counting, "destination_hostgroup")
	effects := bits.OnesCount32(uint32(a.Set))
	if a.Has(decision.OKMsg | decision.ErrorMsg) {
		effects-- // one of them does not count
	}
	if a.HasGuideline && a.Guideline.Refusal != "" {
		effects-- // the error message is the guideline's
	}
	if len(counting) != effects {
		tb.Errorf("settings %v, want those of %+v", counting, a.Effects)
	}
	for _, tt := range []struct {
		field decision.Field
		name  string
		value any
	}{
		{decision.CacheTTL, "cache_ttl", a.CacheTTL},
		{decision.Timeout, "timeout", a.Timeout},
		{decision.NextQueryFlagIn, "next_query_flag_in", a.NextQueryFlagIn},
		{decision.MirrorFlagOut, "mirror_flag_out", a.MirrorFlagOut},
		{decision.MirrorHostgroup, "mirror_hostgroup", a.MirrorHostgroup},
		{decision.MaxLagMS, "max_lag_ms", a.MaxLagMS},
		{decision.OKMsg, "ok_msg", a.OKMsg},
	} {
		if got, set := counting[tt.name]; set != a.Has(tt.field) || set && got != fmt.Sprint(tt.value) {
			tb.Errorf("%s is %q, want %v (set: %t)", tt.name, got, tt.value, a.Has(tt.field))
		}
	}
}

// tooComplex tells whether a rule of a walk says that it did not do all it should.
func tooComplex(w *decision.ExplainedWalk) bool {
	return slices.ContainsFunc(w.Steps, func(s decision.RuleStep) bool {
		return strings.Contains(s.Why, "the expression ") || s.Rewrite != nil && strings.Contains(s.Rewrite.Why, "too many steps")
	})
}

// matches lists the rules of a walk that match.
func matches(w *decision.ExplainedWalk) []uint32 {
	var out []uint32
	for i := range w.Steps {
		if w.Steps[i].Failed == "" {
			out = append(out, w.Steps[i].RuleID)
		}
	}
	return out
}

func TestExplainAgrees(t *testing.T) {
	for seed := range uint64(200) {
		r := newRandomizer(seed)
		cfg := r.config()
		g := mustCompile(t, cfg)
		for range 40 {
			q := r.question(g)
			q.Session.TransactionHostgroup = int32(r.IntN(6)) - 5
			q.Session.LockedHostgroup = int32(r.IntN(6)) - 5
			agree(t, g, q)
			if t.Failed() {
				t.Fatalf("seed %d, %+v, %q\n%s", seed, q, q.Statement.Text, document(cfg))
			}
		}
	}
}

// FuzzExplain holds explanations of any statement against Route.
func FuzzExplain(f *testing.F) {
	for i, text := range someTexts {
		f.Add(uint64(i), []byte(text), "shop", "10.1.2.3", int32(i%4-1), uint8(i%3), int32(i%5-4), int64(1500))
	}
	f.Add(uint64(5), []byte("/* hostgroup=99999999999; =;x;min_gtid = a  b:1;max_lag_ms=700000;create_new_connection=1 */"), "", "", int32(0), uint8(0), int32(-1), int64(-3))
	f.Fuzz(func(t *testing.T, seed uint64, text []byte, schemaname, clientAddr string, flagIn int32, command uint8, held int32, now int64) {
		r := newRandomizer(seed)
		g := mustCompile(t, r.config())
		agree(t, g, &decision.Question{
			Session: decision.Session{
				Username: pick(r, someUsers), Schemaname: schemaname, ClientAddr: clientAddr, NextQueryFlagIn: flagIn,
				TransactionHostgroup: held, LockedHostgroup: -held - 2, KeptRoute: decision.None,
			},
			Statement: decision.Statement{Text: text, HasText: true, Command: decision.Command(command % 3)},
			Seed:      seed,
			NowMS:     now,
		})
	})
}

// TestExplainEveryRule wants each rule of a walk that ends in one step, or behind its end, or among those not loaded.
func TestExplainEveryRule(t *testing.T) {
	for seed := range uint64(100) {
		r := newRandomizer(seed)
		cfg := r.config()
		cfg.Settings.QueryProcessorIterations = nil
		for i := range cfg.QueryRules {
			cfg.QueryRules[i].Active = maybe(r, true, false)
		}
		g := mustCompile(t, cfg)
		q := r.question(g)
		x := explain(t, g, q)
		if x.Session.FastForward {
			continue
		}
		var seen []uint32
		for i := range x.Walk.Steps {
			step := &x.Walk.Steps[i]
			for id := step.RuleID; id <= step.LastRuleID; id++ {
				if !slices.Contains(x.NotLoaded, id) {
					seen = append(seen, id)
				}
			}
		}
		seen = append(append(seen, x.Walk.Unreached...), x.NotLoaded...)
		slices.Sort(seen)
		var want []uint32
		for i := range cfg.QueryRules {
			want = append(want, uint32(cfg.QueryRules[i].RuleID))
		}
		if !slices.Equal(seen, want) {
			t.Fatalf("seed %d: rules %v, want %v\n%s", seed, seen, want, document(cfg))
		}
	}
}

func TestExplainRefuses(t *testing.T) {
	g := mustCompile(t, &decision.Config{Users: []decision.User{{Username: "app", Password: new("")}}})
	for _, q := range []*decision.Question{question("nobody", "SELECT 1"), {Session: decision.Session{Username: "app"}}} {
		_, err := g.Explain(q)
		var a decision.Answer
		want := g.Route(q, &a)
		if err == nil || want == nil || err.Error() != want.Error() {
			t.Errorf("error %v, Route's is %v", err, want)
		}
	}
}

func TestExplainWhy(t *testing.T) {
	app := []decision.User{{Username: "app", Password: new(""), DefaultHostgroup: 1}}
	for name, tt := range map[string]struct {
		cfg    decision.Config
		change func(*decision.Question)
		want   []string // parts of the explanation
	}{
		"digests off": {
			decision.Config{
				Settings:   decision.Settings{QueryDigests: new(false)},
				QueryRules: []decision.QueryRule{{RuleID: 4, MatchDigest: new("a")}, {RuleID: 5, Digest: "1"}, {RuleID: 6}},
			},
			nil,
			[]string{"not loaded [4 5]", "scope [query_digests is off]", "comment query_digests is off", "6 matches [{flag_in 0}]"},
		},
		"no text": {
			decision.Config{QueryRules: []decision.QueryRule{{RuleID: 4, MatchPattern: new("a"), ClientAddr: "10.%"}}},
			func(q *decision.Question) {
				q.Statement = decision.Statement{Command: decision.Execute, HasDigest: true, Digest: 1, DigestText: []byte("SELECT ?")}
				q.Session.ClientAddr = "10.1.2.3"
			},
			[]string{"4 match_pattern: wanted a, got , there is no text, only a digest", "scope [rule 4 has a match_pattern, but there is no text]", "comment there is no text"},
		},
		"drawn flag": {
			decision.Config{QueryRules: []decision.QueryRule{{RuleID: 4, Attributes: `{"flagOUTs":[{"id":3,"weight":1},{"id":3,"weight":1},{"id":4,"weight":0},{"id":5,"weight":1}]}`}}},
			nil,
			[]string{"drawn", "scope [rule 4 draws a flag]"},
		},
		"one flag": {
			decision.Config{QueryRules: []decision.QueryRule{{RuleID: 4, Attributes: `{"flagOUTs":[{"id":3,"weight":1},{"id":4,"weight":0}]}`}}},
			nil,
			[]string{"4 matches [{flag_in 0}] sets [] flag 3;", "scope []"},
		},
		"too many matches": {
			decision.Config{
				Settings: decision.Settings{QueryProcessorIterations: new(uint32(5000))},
				QueryRules: []decision.QueryRule{
					{RuleID: 4, FlagOut: new(int64(0)), DestinationHostgroup: new(int64(5)), Timeout: new(int64(3))},
				},
			},
			nil,
			[]string{"4 matches [{flag_in 0}] sets [{destination_hostgroup 5 rule 4} {timeout 3 rule 4}] flag 0 restarted;", "hostgroup 5 because rule 4 is the last of the matching rules"},
		},
		"too many steps": {
			decision.Config{QueryRules: []decision.QueryRule{{RuleID: 4, MatchPattern: new(`^(a|a|b)*(?=c)d\1$`), NegateMatchPattern: true, ReModifiers: new("")}}},
			func(q *decision.Question) { q.Statement.Text = []byte(strings.Repeat("ab", 200)) },
			[]string{"wanted not ^(a|a|b)*(?=c)d\\1$ (case-sensitive), got abab", "takes too many steps on this text"},
		},
		"others took the steps": {
			decision.Config{QueryRules: []decision.QueryRule{
				tooHard(1), tooHard(2), tooHard(3), tooHard(4), tooHard(5), tooHard(6), {RuleID: 7, MatchPattern: new("^a"), Timeout: new(int64(3))},
			}},
			func(q *decision.Question) { q.Statement.Text = hardText },
			[]string{
				"1 match_pattern: wanted (?=a)(a|aa)+(?!b)$, got aaaa", "the expression takes too many steps on this text, so",
				"b, the expression was not tried to its end: expressions and rewrites of other rules used the steps, so",
				"7 matches [{flag_in 0} {match_pattern ^a}]",
			},
		},
		"long digest": {
			decision.Config{Settings: decision.Settings{QueryDigestsMaxDigestLength: new(uint32(16))}},
			func(q *decision.Question) { q.Statement.Text = []byte("SELECT abcdefghijkl") },
			[]string{"scope [only the first 16 bytes of a digest text are hashed]"},
		},
		"any user": {
			decision.Config{FastRoutes: []decision.FastRoute{{Schemaname: "information_schema", DestinationHostgroup: 7}}},
			nil,
			[]string{"hostgroup 7 because of the fast route for any user, schema \"information_schema\", flag 0; else it would be the default 1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tt.cfg.Users = app
			g := mustCompile(t, &tt.cfg)
			q := question("app", "SELECT 1")
			if tt.change != nil {
				tt.change(q)
			}
			agree(t, g, q)
			got := told(explain(t, g, q))
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%.3000s", want, got)
				}
			}
		})
	}
}

// told is an explanation as lines.
func told(x *decision.Explanation) string {
	var b strings.Builder
	fmt.Fprintln(&b, x.Summary())
	for i := range x.Walk.Steps {
		s := &x.Walk.Steps[i]
		if s.Failed != "" {
			fmt.Fprintf(&b, "%d %s: wanted %s, got %s, %s\n", s.RuleID, s.Failed, s.Wanted, s.Got, s.Why)
			continue
		}
		fmt.Fprintf(&b, "%d matches %v sets %v flag %d", s.RuleID, s.Conditions, s.Set, s.FlagOut)
		for word, is := range map[string]bool{" drawn": s.Drawn, " restarted": s.Restarted, " stopped": s.Stopped} {
			if is {
				b.WriteString(word)
			}
		}
		b.WriteString(";\n")
	}
	fmt.Fprintf(&b, "not loaded %v\ncomment %s\nscope %v\n", x.NotLoaded, x.Comment.Skipped, x.ScopeReasons)
	return b.String()
}
