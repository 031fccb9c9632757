package pattern

import (
	"errors"
	"strings"
	"testing"
)

func TestRewriteVectors(t *testing.T) {
	for _, c := range load[struct {
		ID             string `json:"id"`
		MatchPattern   string `json:"match_pattern"`
		ReplacePattern string `json:"replace_pattern"`
		ReModifiers    string `json:"re_modifiers"`
		Subject        string `json:"subject"`
		Global         bool   `json:"global"`
		Expect         string `json:"expect"`
		Matches        bool   `json:"matches"`
		Refused        []int  `json:"refused"`
	}](t, "rewrite.json") {
		t.Run(c.ID, func(t *testing.T) {
			modifiers, err := ParseModifiers(c.ReModifiers)
			if err != nil || modifiers.Global != c.Global {
				t.Fatalf("ParseModifiers(%q) gives %+v, %v", c.ReModifiers, modifiers, err)
			}
			re := mustCompile(t, c.MatchPattern, modifiers.Caseless)
			if got := re.Match([]byte(c.Subject)); got != c.Matches {
				t.Errorf("Match gives %v", got)
			}
			rep, err := ParseReplacement(c.ReplacePattern, re.Groups())
			if c.Refused != nil {
				if err == nil {
					t.Errorf("ParseReplacement takes %q", c.ReplacePattern)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			out, changed := re.Replace(nil, []byte(c.Subject), rep, modifiers.Global)
			if string(out) != c.Expect || changed != c.Matches {
				t.Errorf("Replace gives %q, %v; want %q, %v", out, changed, c.Expect, c.Matches)
			}
		})
	}
}

func TestReplaceAgreesWithPCRE(t *testing.T) {
	for _, c := range load[struct {
		Expr   string `json:"expr"`
		Text   string `json:"text"`
		Global bool   `json:"global"`
		Want   string `json:"want"`
	}](t, "pcre_replace.json") {
		re := mustCompile(t, c.Expr, false)
		rep, err := ParseReplacement(`<\0>`, 0)
		if err != nil {
			t.Fatal(err)
		}
		if out, _ := re.Replace(nil, []byte(c.Text), rep, c.Global); string(out) != c.Want {
			t.Errorf("%q on %q (global %v): %q, want %q", c.Expr, c.Text, c.Global, out, c.Want)
		}
	}
}

func TestReplacements(t *testing.T) {
	for _, c := range []struct{ expr, rep, text, want string }{
		{"(a)|(b)", `<\1|\2>`, "ab", "<a|><|b>"}, // ProxySQL gives <a| for the first.
		{"(a)(b)?", `\2\1`, "ac", "ac"},
		{"b", `$1 ${n} $& %s`, "abc", "a$1 ${n} $& %sc"},
		{"b", `\\\0\\`, "abc", `a\b\c`},
		{"(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)", `\9\10`, "abcdefghij", "ia0"},
		{"b", "", "abc", "ac"},
		{"\xe9", "e", "caf\xe9", "cafe"},
		{"a", "\x00\xff", "a\x00a", "\x00\xff\x00\x00\xff"},
		{"x", "y", "abc", "abc"},
	} {
		re := mustCompile(t, c.expr, false)
		rep, err := ParseReplacement(c.rep, re.Groups())
		if err != nil {
			t.Errorf("ParseReplacement(%q): %v", c.rep, err)
			continue
		}
		out, changed := re.Replace([]byte("dst:"), []byte(c.text), rep, true)
		if string(out) != "dst:"+c.want || changed != re.Match([]byte(c.text)) {
			t.Errorf("%q to %q on %q: %q, %v; want %q", c.expr, c.rep, c.text, out, changed, c.want)
		}
	}
}

func TestBadReplacements(t *testing.T) {
	for _, c := range []struct {
		rep    string
		groups int
		pos    int
	}{
		{`\x`, 9, 0},
		{`ab\`, 9, 2},
		{`\\\`, 9, 2},
		{`a\1`, 0, 1},
		{`\1\2\3`, 2, 4},
		{`\é`, 0, 0},
	} {
		_, err := ParseReplacement(c.rep, c.groups)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Pos != c.pos {
			t.Errorf("ParseReplacement(%q, %d): %v, want an error at %d", c.rep, c.groups, err, c.pos)
		}
	}
}

func TestReplaceIsBounded(t *testing.T) {
	if raceEnabled {
		t.Skip("too slow with the race detector")
	}
	text := []byte(strings.Repeat("a", 2048))
	rep, err := ParseReplacement(strings.Repeat(`\0`, 64<<10), 0)
	if err != nil {
		t.Fatal(err)
	}
	if out, changed := mustCompile(t, "a", false).Replace(nil, text, rep, true); changed || string(out) != string(text) {
		t.Errorf("a text of %d bytes became one of %d", len(text), len(out))
	}
	// Each search looks at all that is left.
	text = []byte(strings.Repeat("xz", 50_000))
	rep, err = ParseReplacement("", 0)
	if err != nil {
		t.Fatal(err)
	}
	if out, changed := mustCompile(t, "x[xz]*?y|z", false).Replace(nil, text, rep, true); changed || string(out) != string(text) {
		t.Errorf("a text of %d bytes became one of %d", len(text), len(out))
	}
}
