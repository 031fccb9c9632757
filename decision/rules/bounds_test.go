package rules

import (
	"bytes"
	"fmt"
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

// TestTooMuchForOnePass has texts that the automaton gives up: the expressions are then matched one by one.
func TestTooMuchForOnePass(t *testing.T) {
	hostile := bytes.Repeat([]byte("x"), 8000)
	for _, tt := range []struct {
		name  string
		n     uint32 // expressions, which take 1,600,000 steps each
		place func(r *Rule, re *pattern.Regexp)
		want  []uint32
	}{
		{"match_digest", 8, func(r *Rule, re *pattern.Regexp) { r.MatchDigest = re }, []uint32{8, 9, 10, 11}},
		{"match_pattern", 8, func(r *Rule, re *pattern.Regexp) { r.MatchPattern = re }, []uint32{8, 9, 10, 11}},
		{"steps run out", 60, func(r *Rule, re *pattern.Regexp) { r.MatchPattern = re }, []uint32{62}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var list []Rule
			for id := range tt.n - 1 {
				r := rule(id + 1)
				tt.place(&r, mustPattern(t, fmt.Sprintf(`[x\x%02x].{1,200}y`, id+128)))
				list = append(list, r)
			}
			found, negated, bare, third := rule(tt.n), rule(tt.n+1), rule(tt.n+2), rule(tt.n+3)
			tt.place(&found, mustPattern(t, "^xx"))
			tt.place(&negated, mustPattern(t, "zz"))
			tt.place(&third, mustPattern(t, "xxx$"))
			negated.Negate = true
			list = append(list, found, negated, bare, third)
			s := NewSet(list, true)
			w := both(t, s, &Question{DigestText: hostile, Text: hostile, HasText: true})
			if !slices.Equal(w.Matched, tt.want) {
				t.Errorf("hits %v, want %v", w.Matched, tt.want)
			}
			if !w.digest.found.GaveUp && !w.text.found.GaveUp {
				t.Error("the automaton did not give up")
			}
			easy := []byte("xx")
			if w := both(t, s, &Question{DigestText: easy, Text: easy, HasText: true}); len(w.Matched) != 3 {
				t.Errorf("then hits %v", w.Matched)
			}
		})
	}
}

// TestStepsRunOut has expressions that no automaton takes and that use up what a walk may spend.
func TestStepsRunOut(t *testing.T) {
	var list []Rule
	add := func(change func(r *Rule)) {
		r := rule(uint32(len(list) + 1))
		change(&r)
		list = append(list, r)
	}
	simple := mustPattern(t, "^a")
	add(func(r *Rule) { r.MatchDigest = simple })
	for range 3 {
		re := mustPattern(t, "(?=a)(a|aa)+(?!b)$")
		add(func(r *Rule) { r.MatchPattern, r.Negate = re, true })
	}
	add(func(r *Rule) { r.MatchDigest = simple })
	add(func(r *Rule) { r.MatchPattern, r.Negate = mustPattern(t, "zz"), true })
	add(func(*Rule) {})
	text := append(bytes.Repeat([]byte("a"), 200), 'b')
	w := both(t, NewSet(list, true), &Question{DigestText: text, Text: text, HasText: true})
	if !slices.Equal(w.Matched, []uint32{1, 7}) || w.steps > 0 {
		t.Errorf("hits %v, %d steps left", w.Matched, w.steps)
	}
}

// TestRewritesAreBounded has rules that keep rewriting a large text.
func TestRewritesAreBounded(t *testing.T) {
	var list []Rule
	for id := range uint32(100) {
		r := rule(id + 1)
		r.MatchPattern = mustPattern(t, fmt.Sprintf("^a{1,%d}", id+2))
		r.Replacement, _ = pattern.ParseReplacement("aa", r.MatchPattern.Groups())
		list = append(list, r)
	}
	text := bytes.Repeat([]byte("a"), 1<<20)
	w := both(t, NewSet(list, true), &Question{Text: text, HasText: true})
	if len(w.Matched) == len(list) || len(w.Matched) < 10 || w.steps > 0 {
		t.Errorf("%d hits, %d steps left", len(w.Matched), w.steps)
	}
}
