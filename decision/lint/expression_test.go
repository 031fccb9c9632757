package lint

import (
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
	} {
		f.Add(seed[0], seed[1], seed[2], true)
	}
	f.Fuzz(func(t *testing.T, source, other, text string, caseless bool) {
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
		re2, err := pattern.Compile(other, true)
		if err != nil || len(other) > 60 {
			return
		}
		foundOther, err := re2.MatchErr([]byte(text))
		if err == nil && foundOther && !found && e.covers(newExpression(&other, true)) {
			t.Fatalf("%q covers %q, which matches %q", source, other, text)
		}
	})
}
