package guideline

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// likeReference is LIKE by trying everything.
func likeReference(text, pattern string, crosses bool) bool {
	if pattern == "" {
		return text == ""
	}
	first, size := utf8.DecodeRuneInString(text)
	breaks := strings.ContainsRune("\n\r\u2028\u2029", first)
	switch {
	case pattern[0] == '%':
		return likeReference(text, pattern[1:], crosses) || text != "" && (crosses || !breaks) && likeReference(text[size:], pattern, crosses)
	case text == "":
		return false
	case pattern[0] == '_':
		return !breaks && likeReference(text[size:], pattern[1:], crosses)
	case pattern[0] == '\\' && len(pattern) > 1 && strings.IndexByte(`%_\`, pattern[1]) >= 0:
		pattern = pattern[1:]
	}
	return lower(text[0]) == lower(pattern[0]) && likeReference(text[1:], pattern[1:], crosses)
}

func TestLikeEqualsReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	alphabet := []string{"a", "B", "b", "é", "€", "%", "_", `\`, "\n", "\u2028"}
	word := func(length int, pieces []string) string {
		var out strings.Builder
		for range rng.IntN(length + 1) {
			out.WriteString(pieces[rng.IntN(len(pieces))])
		}
		return out.String()
	}
	matched := 0
	for range 200_000 {
		text, pattern := word(6, alphabet), word(6, append([]string{"%", "%", "_"}, alphabet...))
		if pattern == "" || pattern == "%" {
			continue // true of everything
		}
		p := newLikePattern(pattern)
		want := likeReference(text, pattern, p.kind != likeGeneral)
		if got := p.match(text); got != want {
			t.Fatalf("%q LIKE %q is %v, want %v", text, pattern, got, want)
		}
		if want {
			matched++
		}
	}
	if matched < 5000 {
		t.Errorf("only %d of 200,000 match: that says little", matched)
	}
}

func TestLike(t *testing.T) {
	for _, c := range []struct {
		text, pattern string
		want          bool
	}{
		{"two\nlines", "two%", true},
		{"two\nlines", "%lines", true},
		{"two\nlines", "%o%", true},
		{"two\nlines", "two%lines", false},
		{"two\nlines", "two_lines", false},
		{"two\nlines", "two\nl%s", true},
		{"a\nbc", "%\nb_", true},
		{"", "%%", true},
		{"x", "%%%", true},
		{"line\nbreak", "%%", true},
		{"line\nbreak", "%%%", false},
		{"\né", "%%é%", false},
		{"\né", "%é%", true},
		{"\né", "%é", true},
		{"\né", "%%é", false},
		{"é\n", "é%%", false},
		{"xé", "%%é", true},
		{"éx", "é%%", true},
		{"a\nb", "%_b", false},
		{"é", "_", true},
		{"é", "__", false},
		{"€", "%__", false},
		{"€x", "%_x", true},
		{`a\b`, `a\b`, true},
		{`a\`, `a\`, true},
		{"ÉA", "Éa", true},
		{"éa", "Éa", false},
		{"50%", `50\%`, true},
		{"500", `50\%`, false},
		{`a\c`, `a\\c`, true},
	} {
		if got := newLikePattern(c.pattern).match(c.text); got != c.want {
			t.Errorf("%q LIKE %q is %v, want %v", c.text, c.pattern, got, c.want)
		}
	}
}
