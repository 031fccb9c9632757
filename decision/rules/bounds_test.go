package rules

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pointsman/pointsman/decision/pattern"
)

// both walks compiled and plain, and wants the same.
func both(t *testing.T, s *Set, q *Question) *Walk {
	t.Helper()
	q.Session = nobody(s)
	var got, want Walk
	s.Walk(q, &got)
	s.WalkPlain(q, &want)
	if outcome(&got) != outcome(&want) {
		t.Fatalf("got  %s\nwant %s", outcome(&got), outcome(&want))
	}
	return &got
}

// ruleList is a list of rules in the making.
type ruleList []Rule

func (l *ruleList) add(change func(r *Rule)) {
	r := rule(uint32(len(*l) + 1))
	change(&r)
	*l = append(*l, r)
}

// matching gives the rules of a walk from an id on.
func matching(w *Walk, from uint32) []uint32 {
	return slices.DeleteFunc(slices.Clone(w.Matched), func(id uint32) bool { return id < from })
}

// filled gives a text of so many bytes.
func filled(size int, piece func(i int) string) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		b.WriteString(piece(i))
	}
	return b.Bytes()
}

// TestTooMuchForOnePass has texts that the automaton gives up: expressions that many threads can live on in are then
// matched one by one, the others have an outcome all the same.
func TestTooMuchForOnePass(t *testing.T) {
	hostile := bytes.Repeat([]byte("x"), 8000)
	for _, tt := range []struct {
		name  string
		place func(r *Rule, re *pattern.Regexp)
		n     int // expressions, which take about 1,600,000 steps each
		more  bool
	}{
		{"match_digest", func(r *Rule, re *pattern.Regexp) { r.MatchDigest = re }, 8, false},
		{"match_pattern", func(r *Rule, re *pattern.Regexp) { r.MatchPattern = re }, 8, false},
		{"steps run out", func(r *Rule, re *pattern.Regexp) { r.MatchPattern = re }, 60, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var list ruleList
			for i := range tt.n {
				list.add(func(r *Rule) { tt.place(r, mustPattern(t, fmt.Sprintf(`[x\x%02x].{1,200}y`, i+128))) })
			}
			first := uint32(tt.n + 1)
			list.add(func(r *Rule) { tt.place(r, mustPattern(t, "^xx")) })
			list.add(func(r *Rule) {
				tt.place(r, mustPattern(t, "zz"))
				r.Negate = true
			})
			list.add(func(*Rule) {})
			list.add(func(r *Rule) { tt.place(r, mustPattern(t, "xxx$")) })
			list.add(func(r *Rule) { tt.place(r, mustPattern(t, "x.*x")) })
			want := []uint32{first, first + 1, first + 2, first + 3, first + 4}
			if tt.more {
				want = want[:4]
			}
			s := NewSet(list, true)
			w := both(t, s, &Question{DigestText: hostile, Text: hostile, HasText: true})
			if !slices.Equal(w.Matched, want) || w.TooComplex != tt.more {
				t.Errorf("hits %v, want %v; too complex: %t", w.Matched, want, w.TooComplex)
			}
			if !w.digest.found.GaveUp && !w.text.found.GaveUp {
				t.Error("the automaton did not give up")
			}
			easy := []byte("xx")
			if w := both(t, s, &Question{DigestText: easy, Text: easy, HasText: true}); len(w.Matched) != 4 || w.TooComplex {
				t.Errorf("then hits %v", w.Matched)
			}
		})
	}
}

// TestOrdinaryRulesHold has rules as people write them, and long statements that come to many of them at once.
func TestOrdinaryRulesHold(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, tt := range []struct {
		expr   string
		n      int
		piece  string
		end    string
		size   int
		digest bool
	}{
		{"t%d .*FOR UPDATE$", 30, "t%d ", "FOR UPDATE", 1 << 20, false},
		{"t%d .*FOR UPDATE$", 100, "t%d ", "FOR UPDATE", 256 << 10, false},
		{`\btable%d\b.*\bFOR UPDATE\b`, 60, "table%d , ", "FOR UPDATE", 64 << 10, true},
		{"FROM t%d .*WHERE.*id", 998, "FROM t%d WHERE x ", "id", 256 << 10, false},
	} {
		text := append(filled(tt.size, func(i int) string { return fmt.Sprintf(tt.piece, i%tt.n) }), "INTO OUTFILE "+tt.end...)
		var list ruleList
		for i := range tt.n {
			list.add(func(r *Rule) {
				re := mustPattern(t, fmt.Sprintf(tt.expr, i))
				if tt.digest {
					r.MatchDigest = re
				} else {
					r.MatchPattern = re
				}
			})
		}
		list.add(func(r *Rule) { r.MatchPattern = mustPattern(t, "DROP TABLE") })
		list.add(func(r *Rule) { r.MatchPattern = mustPattern(t, `\bINTO OUTFILE\b`) })
		q := &Question{Text: text, HasText: true, DigestText: text[:min(len(text), 100<<10)]}
		s := NewSet(list, true)
		q.Session = nobody(s)
		var w Walk
		s.Walk(q, &w)
		if len(matching(&w, uint32(tt.n+1))) != 1 || len(w.Matched) != min(tt.n+1, MaxMatchedRules) || w.TooComplex {
			t.Errorf("%d of %s: %d hits, too complex: %t", tt.n, tt.expr, len(w.Matched), w.TooComplex)
		}
	}
}

// tooHard is an expression that no text like aaab is done with within any bound.
const tooHard = "(?=a)(a|aa)+(?!b)$"

// TestSharesOfSteps has expressions that take all they get. Those that an automaton has found count all the same, and
// others get steps as long as the walk has some.
func TestSharesOfSteps(t *testing.T) {
	text := append(bytes.Repeat([]byte("a"), 200), 'b')
	for _, tt := range []struct {
		hard int
		want []uint32 // of the rules behind the hard ones, counted from 1
		lack map[int]Lack
	}{
		{0, []uint32{1, 2, 3, 4, 5}, nil},
		{2, []uint32{1, 2, 3, 4, 5}, map[int]Lack{0: LackOfBound, 1: LackOfBound}},
		{4, []uint32{1, 2, 3, 4, 5}, map[int]Lack{3: LackOfBound}},
		{7, []uint32{1, 2, 3, 4}, map[int]Lack{3: LackOfBound, 4: LackOfOthers, 5: LackOfOthers, 6: LackOfOthers, 11: LackOfOthers}},
	} {
		var list ruleList
		for range tt.hard {
			list.add(func(r *Rule) { r.MatchPattern, r.Negate = mustPattern(t, tooHard), true })
		}
		list.add(func(r *Rule) { r.MatchDigest = mustPattern(t, "^a") })
		list.add(func(r *Rule) { r.MatchPattern = mustPattern(t, "ab$") })
		list.add(func(r *Rule) { r.MatchPattern, r.Negate = mustPattern(t, "zz"), true })
		list.add(func(*Rule) {})
		list.add(func(r *Rule) { r.MatchPattern = mustPattern(t, "a(?=b)") })
		s := NewSet(list, true)
		q := &Question{DigestText: text, Text: text, HasText: true}
		w := both(t, s, q)
		var got []uint32
		for _, id := range w.Matched {
			got = append(got, id-uint32(tt.hard))
		}
		if !slices.Equal(got, tt.want) || w.TooComplex != (tt.hard > 0) {
			t.Errorf("%d hard ones: hits %v, want %v; too complex: %t", tt.hard, got, tt.want, w.TooComplex)
		}
		steps := trace(s, q).Steps
		for i, want := range tt.lack {
			if steps[i].Lack != want {
				t.Errorf("%d hard ones: rule %d lacks %d, want %d", tt.hard, i+1, steps[i].Lack, want)
			}
		}
	}
}

// TestNoStepsForNewText has no steps left when the text is rewritten: what was found before counts, nothing is known of
// the new text.
func TestNoStepsForNewText(t *testing.T) {
	text := append(bytes.Repeat([]byte("a"), 200), 'b')
	for _, lookFirst := range []bool{true, false} {
		var list ruleList
		list.add(func(r *Rule) { r.MatchPattern = mustPattern(t, "ab$") })
		if !lookFirst {
			list[0].Username = "nobody" // then the text is searched behind the hard expressions
		}
		for range 6 {
			list.add(func(r *Rule) { r.MatchDigest = mustPattern(t, tooHard) })
		}
		list.add(func(r *Rule) { r.MatchPattern = mustPattern(t, "aab$") })
		list.add(func(r *Rule) {
			r.MatchPattern = mustPattern(t, "b$")
			r.Replacement, _ = pattern.ParseReplacement("c", 0)
		})
		list.add(func(r *Rule) { r.MatchPattern = mustPattern(t, "c$") })
		list.add(func(r *Rule) { r.MatchPattern, r.Negate = mustPattern(t, "zz"), true })
		list.add(func(r *Rule) { r.MatchDigest = mustPattern(t, "b$") })
		w := both(t, NewSet(list, true), &Question{DigestText: text, Text: text, HasText: true})
		if got := matching(w, 2); !slices.Equal(got, []uint32{8, 9, 12}) || !w.TooComplex || !w.Rewritten {
			t.Errorf("hits %v, too complex: %t, rewritten: %t", w.Matched, w.TooComplex, w.Rewritten)
		}
	}
}

// TestLargeRewrite rewrites a bulk INSERT and wants the rules behind to look at the new text.
func TestLargeRewrite(t *testing.T) {
	text := append([]byte("INSERT INTO t VALUES "), filled(10<<20, func(i int) string { return fmt.Sprintf("(%d),", i) })...)
	var list ruleList
	list.add(func(r *Rule) {
		r.MatchPattern = mustPattern(t, "^INSERT INTO t ")
		r.Replacement, _ = pattern.ParseReplacement("INSERT INTO u ", 0)
	})
	list.add(func(r *Rule) { r.MatchPattern = mustPattern(t, "^INSERT INTO u ") })
	list.add(func(r *Rule) { r.MatchPattern = mustPattern(t, "INTO (?=u)") })
	list.add(func(r *Rule) { r.MatchPattern, r.Negate = mustPattern(t, "DELETE"), true })
	w := both(t, NewSet(list, true), &Question{Text: text, HasText: true})
	if !slices.Equal(w.Matched, []uint32{1, 2, 3, 4}) || w.TooComplex {
		t.Errorf("hits %v, too complex: %t", w.Matched, w.TooComplex)
	}
}

// TestRewriteWithoutEnd matches early, but can't find all that it replaces.
func TestRewriteWithoutEnd(t *testing.T) {
	r := rule(1)
	r.MatchPattern, r.Global = mustPattern(t, "^x|"+tooHard), true
	r.Replacement, _ = pattern.ParseReplacement("y", r.MatchPattern.Groups())
	text := append(append([]byte("x"), bytes.Repeat([]byte("a"), 200)...), 'b')
	s := NewSet([]Rule{r}, true)
	q := &Question{Text: text, HasText: true}
	w := both(t, s, q)
	if len(w.Matched) != 1 || w.Rewritten || !w.TooComplex {
		t.Errorf("hits %v, rewritten: %t, too complex: %t", w.Matched, w.Rewritten, w.TooComplex)
	}
	if h := trace(s, q).Steps[0].Hit; h.Rewrite != RewriteTooComplex {
		t.Errorf("%+v", h)
	}
}

// TestRewritesAreBounded has rules that keep rewriting a large text.
func TestRewritesAreBounded(t *testing.T) {
	var list ruleList
	for i := range 300 {
		list.add(func(r *Rule) {
			r.MatchPattern = mustPattern(t, fmt.Sprintf("^a{1,%d}", i+3))
			r.Replacement, _ = pattern.ParseReplacement("aa", r.MatchPattern.Groups())
		})
	}
	text := bytes.Repeat([]byte("a"), 1<<20)
	w := both(t, NewSet(list, true), &Question{Text: text, HasText: true})
	if len(w.Matched) == len(list) || len(w.Matched) < 100 || w.steps > 0 || !w.TooComplex {
		t.Errorf("%d hits, %d steps left, too complex: %t", len(w.Matched), w.steps, w.TooComplex)
	}
}

// TestWalkIsPlainWithinBounds holds Walk to WalkPlain where automata give up and steps run out.
func TestWalkIsPlainWithinBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	text := append(append(bytes.Repeat([]byte("a"), 60), 'b'), bytes.Repeat([]byte("x"), 6000)...)
	gaveUp, tooComplex, complete := 0, 0, 0
	for seed := range uint64(15) {
		r := random{rand.New(rand.NewPCG(seed, 9))}
		var list ruleList
		expression := func() *pattern.Regexp {
			switch n := r.IntN(12); {
			case n == 0:
				return mustPattern(t, tooHard)
			case n < 3:
				return mustPattern(t, pick(r, []string{"a(?=b)", "x(?!x)", "(?<=b)x"}))
			case n < 7:
				return mustPattern(t, fmt.Sprintf(`[x\x%02x].{1,200}y`, r.IntN(100)+128))
			}
			return mustPattern(t, pick(r, []string{"^aa", "bx", "zz", "x$", "ab.*x", "^c", "cc"}))
		}
		for range pick(r, []int{5, 30, 60}) {
			list.add(func(rule *Rule) {
				if r.oneIn(4) {
					rule.Username = pick(r, []string{"", "nobody"})
				}
				if r.oneIn(3) {
					rule.MatchDigest = expression()
				}
				if r.oneIn(2) {
					rule.MatchPattern = expression()
					if r.oneIn(4) {
						rule.Replacement, _ = pattern.ParseReplacement("c", rule.MatchPattern.Groups())
					}
				}
				rule.Negate = r.oneIn(4)
				if r.oneIn(20) {
					rule.FlagOut = 0
				}
			})
		}
		w := both(t, NewSet(list, true), &Question{Text: text, DigestText: text[:3000], HasText: true, Iterations: uint32(r.IntN(3))})
		if w.text.found.GaveUp || w.digest.found.GaveUp {
			gaveUp++
		}
		if w.TooComplex {
			tooComplex++
		} else {
			complete++
		}
	}
	if gaveUp < 3 || tooComplex < 3 || complete < 3 {
		t.Errorf("%d gave up, %d were too complex, %d were not", gaveUp, tooComplex, complete)
	}
}
