package lint

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/decision/pattern"
)

func TestExpression(t *testing.T) {
	for _, tt := range []struct {
		source string
		always bool
		known  bool
		prefix string
		runs   string // with | between them; of the first alternative
		exact  bool
	}{
		{"", true, true, "", "", true},
		{"^", true, true, "", "", true},
		{"$", true, true, "", "", true},
		{"^$", false, true, "", "", false},
		{"^.*", true, true, "", "", true},
		{"a|", true, true, "", "a", true},
		{"^SELECT", false, true, "SELECT", "SELECT", true},
		{`^SELECT\b.* FROM t\.a`, false, true, "SELECT", "SELECT| FROM t.a", false},
		{"^SELECT.*", false, true, "SELECT", "SELECT", true},
		{"^SELECT.*$", false, true, "SELECT", "SELECT", false},
		{"SELECTS?", false, true, "", "SELECT", true},
		{"SELECTS?x", false, true, "", "SELECT|x", false},
		{"ab+c", false, true, "", "ab|c", false},
		{"ab{2}c", false, true, "", "ab|c", false},
		{"ab{0,2}c", false, true, "", "a|c", false},
		{"a{b", false, true, "", "a{b", true},
		{"a(b(c))d", false, true, "", "abcd", true},
		{"^a(b|c)d", false, true, "abd", "abd", true},
		{"a(b)?d", false, true, "", "a|d", false},
		{"a(b)+d", false, true, "", "a|b|d", false},
		{"a((b|c))+d", false, true, "", "a|d", false},
		{"a[^]b]c", false, true, "", "a|c", false},
		{"a[[:alpha:]]c", false, true, "", "a|c", false},
		{`\Aa\$`, false, true, "a$", "a$", true},
		{`(^a)`, false, true, "", "a", false},
		{`a(?:b)`, false, true, "", "ab", true},
		{`(?i)a`, false, false, "", "", false},
		{`a\x41`, false, false, "", "", false},
		{`(a)\1`, false, false, "", "", false},
		{`\Qa.b\E`, false, false, "", "", false},
		{`a{,3}`, false, false, "", "", false},
	} {
		e := newExpression(&tt.source, true)
		if (len(e.branches) > 0) != tt.known || e.always != tt.always {
			t.Errorf("%s: %+v", tt.source, e)
			continue
		}
		if !tt.known {
			continue
		}
		if b := e.branches[0]; b.prefix != tt.prefix || strings.Join(b.runs, "|") != tt.runs || b.exact != tt.exact {
			t.Errorf("%s: %+v", tt.source, b)
		}
	}
}

func TestCovers(t *testing.T) {
	for _, tt := range []struct {
		wide, narrow string
		want         bool
	}{
		{`^SELECT\b`, `^SELECT .* FROM t`, true},
		{`^SELECT\b`, `^SELECT\b.* FROM t`, true},
		{`^SELECT\b`, `^SELECT$`, true},
		{`^SELECT\b`, `^SELECT`, false},
		{`^SELECT\b`, `^SELECTED`, false},
		{`^SELECT\b`, `^SELECT ?a`, false},
		{`^SELECT\b`, `^SELECT.*`, false},
		{`^(SELECT|WITH)\b`, `^WITH x AS`, true},
		{`^(SELECT|WITH)\b`, `^(SELECT|SHOW) x`, false},
		{`^\(*(SELECT|WITH)\b`, `^SELECT .* FROM t`, true},
		{`^\(*(SELECT|WITH)\b`, `^\(*SELECT .* FROM t`, true},
		{`^\(*(SELECT|WITH)\b`, `^\(?SELECT .* FROM t`, false},
		{`^\(*(SELECT|WITH)\b`, `^\(*(SELECT|WITH)\b.*\bFOR UPDATE\b`, true},
		{`^\(*SELECT\b.*\bFOR UPDATE\b`, `^\(*SELECT\b`, false},
		{`^(EXPLAIN )?SELECT\b`, `^SELECT a`, true},
		{`^\(*+\(SELECT`, `^\(SELECT`, false},
		{`^(\(?){3}SELECT`, `^SELECT`, false},
		{`^SELECT .* FROM t\b`, `^SELECT .* FROM t WHERE`, true},
		{`^SELECT .* FROM t\b`, `^SELECT .* FROM tt`, false},
		{`\bFOR UPDATE\b`, `^SELECT\b.*\bFOR UPDATE\b`, true},
		{`\bFOR UPDATE\b`, `^SELECT FOR UPDATE NOWAIT`, true},
		{`\bFOR UPDATE\b`, `^SELECT.*FOR UPDATE$`, false},
		{`^\b`, `^SELECT`, true},
		{`^\b`, `^\(`, false},
		{`a\.b`, `^xa\.bc`, true},
		{`a.b`, `a.bc`, true},
		{`a.b`, `axb`, false},
		{`ab`, `a+b`, false}, // not followed
		{`^ab`, `^a+b`, false},
		{`^ab`, `^ab+c`, true},
	} {
		if got := newExpression(&tt.wide, true).covers(newExpression(&tt.narrow, true)); got != tt.want {
			t.Errorf("%s covers %s: %t", tt.wide, tt.narrow, got)
		}
	}
}

// TestCoversIsTrue compares random expressions on all short texts: one that covers another one matches what that does.
func TestCoversIsTrue(t *testing.T) {
	pieces := []string{
		"a", "A", "b", "_", " ", `\(`, "a?", "b*", "a+", `\(*`, " ?", "a{2}", "a*+", "b?+", `\b`, `\b`, `\b`, `\B`, ".", "[^a]", "[ab]", "(a|b)", "(a|b )?", "(ab)*", `(\b|a)`, "(a?+b)?", "$", "^", "a??", `\b?`, `\W`,
	}
	const alphabet = "aAb_ (\n\x80"
	texts := []string{""}
	for i := 0; len(texts[i]) < 4; i++ {
		for j := range len(alphabet) {
			texts = append(texts, texts[i]+alphabet[j:j+1])
		}
	}
	covered := 0
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 7))
		random := func(n int) (list []string) {
			if r.IntN(2) == 0 {
				list = append(list, "^")
			}
			for range r.IntN(n + 1) {
				list = append(list, pieces[r.IntN(len(pieces))])
			}
			return list
		}
		first := random(4)
		second := slices.Concat(first, random(2)) // often covered by the first one
		for range r.IntN(3) {
			if len(second) > 0 {
				i := r.IntN(len(second))
				second = slices.Concat(second[:i], random(1), second[i+r.IntN(2):])
			}
		}
		wide, narrow := strings.Join(first, ""), strings.Join(second, "")
		caseless, narrowCaseless := r.IntN(2) == 0, r.IntN(2) == 0
		reWide, err := pattern.Compile(wide, caseless)
		if err != nil {
			continue
		}
		reNarrow, err := pattern.Compile(narrow, narrowCaseless)
		if err != nil || !newExpression(&wide, caseless).covers(newExpression(&narrow, narrowCaseless)) {
			continue
		}
		covered++
		for _, text := range texts {
			if reNarrow.Match([]byte(text)) && !reWide.Match([]byte(text)) {
				t.Fatalf("%q (caseless %t) covers %q (caseless %t), which matches %q", wide, caseless, narrow, narrowCaseless, text)
			}
		}
	}
	if covered < 500 {
		t.Errorf("%d covered", covered)
	}
}

// FuzzExpression holds what is said of an expression to what it matches.
func FuzzExpression(f *testing.F) {
	for _, seed := range [][3]string{
		{"^SELECT .* FROM t", "^SELECT", "SELECT a FROM t"},
		{"a|b+c?", "a", "bbc"},
		{`[a\]b]{2,}\.`, "]", "ab."},
		{"^(a|(b))x?$", "x|", "bx"},
		{"a{2}", "{2}|a", "aa"},
		{"(?:ab)*?c", "c", "ababc"},
		{`^\(*(SELECT|WITH)\b`, `\(`, "((WITH x"},
		{`^\(*(SELECT|WITH)\b`, `^SELECT .* FROM countries\b`, "SELECT a FROM countries"},
		{`^\(*SELECT\b`, `^\(*SELECT a\b.*b`, "(SELECT a"},
		{`\ba\b.*x?`, `b+\ba$`, "b a"},
		{`^a*+ab`, `^ab`, "ab"},
		{`[^a]b`, `x[^a]bc`, "xAbc"},
		{`^\b`, `^_`, "_"},
	} {
		f.Add(seed[0], seed[1], seed[2], true, true)
		f.Add(seed[0], seed[1], seed[2], true, false)
	}
	f.Fuzz(func(t *testing.T, source, other, text string, caseless, otherCaseless bool) {
		re, err := pattern.Compile(source, caseless)
		if err != nil || len(text) > 200 || len(source) > 60 {
			return
		}
		e := newExpression(&source, caseless)
		found, err := re.MatchErr([]byte(text))
		if err != nil {
			return
		}
		if e.always && !found {
			t.Fatalf("%q matches every text, but not %q", source, text)
		}
		holds := func(b branch) bool {
			for _, run := range b.runs {
				if !strings.Contains(e.form(text), e.form(run)) {
					return false
				}
			}
			return !b.anchored || strings.HasPrefix(e.form(text), e.form(b.prefix))
		}
		if found && e.branches != nil && !slices.ContainsFunc(e.branches, holds) {
			t.Fatalf("%q matches %q, which has not what it needs: %+v", source, text, e.branches)
		}
		if !found && slices.ContainsFunc(e.branches, func(b branch) bool { return b.exact && holds(b) }) {
			t.Fatalf("%q does not match %q, which has all that it needs: %+v", source, text, e.branches)
		}
		re2, err := pattern.Compile(other, otherCaseless)
		if err != nil || len(other) > 60 {
			return
		}
		foundOther, err := re2.MatchErr([]byte(text))
		if err == nil && foundOther && !found && e.covers(newExpression(&other, otherCaseless)) {
			t.Fatalf("%q covers %q, which matches %q", source, other, text)
		}
	})
}
