package pattern

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

// FuzzCompile holds that compiling ends with a program or with an error that has a place in the expression, and that
// matching gives the same answer with and without the memo, with and without captures.
func FuzzCompile(f *testing.F) {
	for _, c := range load[pcreCase](f, "pcre.json") {
		f.Add(latin1(c.Expr), c.Caseless, latin1(c.Text))
	}
	f.Fuzz(func(t *testing.T, expr string, caseless bool, text string) {
		if len(text) > 1<<10 {
			return
		}
		re, err := Compile(expr, caseless)
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.Pos < 0 || syntax.Pos > len(expr) || syntax.Msg == "" {
				t.Fatalf("Compile(%q): %v", expr, err)
			}
			return
		}
		found, err := re.MatchErr([]byte(text))
		if err != nil {
			if !errors.Is(err, ErrTooComplex) {
				t.Fatal(err)
			}
			return
		}
		plain, err := re.spans(text, false)
		if err != nil {
			return // Captures take room.
		}
		if (plain != nil) != found {
			t.Fatalf("%q on %q: Match gives %v, with captures %v", expr, text, found, plain)
		}
		if memo, err := re.spans(text, true); err != nil || !slices.Equal(plain, memo) {
			t.Fatalf("%q on %q: %v, with the memo %v, %v", expr, text, plain, memo, err)
		}
		for i, place := range plain {
			if place < -1 || place > len(text) || i%2 == 1 && place < plain[i-1] {
				t.Fatalf("%q on %q: bad places %v", expr, text, plain)
			}
		}
	})
}

// FuzzReplace holds that replacing each match by itself leaves the text alone, and that dst is kept.
func FuzzReplace(f *testing.F) {
	f.Add("a*", `-`, "Sbab", true)
	f.Add("(a)|(b)", `<\1|\2>`, "ab", true)
	f.Add(`\b`, `\\|`, "SELECT a", false)
	f.Add("(?<=a)b|$", `\0\0`, "abab\n", true)
	f.Add("foo", `\x`, "foo", false)
	f.Fuzz(func(t *testing.T, expr, replace, text string, global bool) {
		if len(text) > 1<<10 || len(replace) > 1<<10 {
			return
		}
		re, err := Compile(expr, true)
		if err != nil {
			return
		}
		rep, err := ParseReplacement(replace, re.Groups())
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.Pos < 0 || syntax.Pos >= len(replace) {
				t.Fatalf("ParseReplacement(%q): %v", replace, err)
			}
			return
		}
		found, err := re.MatchErr([]byte(text))
		if err != nil {
			return
		}
		out, changed := re.Replace([]byte("dst"), []byte(text), rep, global)
		if !bytes.HasPrefix(out, []byte("dst")) || changed && !found {
			t.Fatalf("%q to %q on %q: %q, %v; the text matches: %v", expr, replace, text, out, changed, found)
		}
		if !changed && string(out[3:]) != text {
			t.Fatalf("%q to %q on %q: %q without a change", expr, replace, text, out)
		}
		same, err := ParseReplacement(`\0`, re.Groups())
		if err != nil {
			t.Fatal(err)
		}
		if out, _ := re.Replace(nil, []byte(text), same, global); string(out) != text {
			t.Fatalf("%q to itself on %q: %q", expr, text, out)
		}
	})
}
