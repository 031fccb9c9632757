package guideline

import "testing"

func TestRegexp(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true},
		{"", "a", false},
		{"a|ab", "ab", true},
		{"ab*?", "abbb", true},
		{"(?:ab){2}", "abab", true},
		{"(?:ab){2}", "ab", false},
		{"a{2,}", "aaaa", true},
		{"a{0}", "", true},
		{"x{2}?", "xx", true},
		{"[A-C]+", "abc", true},
		{"[^a]", "A", false},
		{"straSSe", "STRASSE", true},
		{"k", "\u212a", false},
		{"s", "ſ", false},
		{"É", "é", false},
		{".", "é", true},
		{".", "\n", false},
		{".", "\r", false},
		{".", "\u2028", false},
		{"[^]", "\n", true},
		{"[]", "a", false},
		{"a[]|b", "b", true},
		{`\s`, "\v", true},
		{`\s`, "\u00a0", false},
		{`\S`, "\u00a0", true},
		{`\w+`, "aZ_9", true},
		{`\w`, "é", false},
		{`\d{3}`, "123", true},
		{`\D`, "1", false},
		{`[\w-.]+`, "a-.b", true},
		{`[a\-z]+`, "a-z", true},
		{`[\b]`, "\b", true},
		{`\ba\b`, "a", true},
		{`\Ba`, "a", false},
		{`\x41\u0042\t\cJ\0`, "ab\t\n\x00", true},
		{`\.\*\[\]\{\}\(\)\/\-`, ".*[]{}()/-", true},
		{"^a$", "a", true},
		{"a^b", "ab", false},
		{"(^a|b)$", "b", true},
		{"a$", "a\n", false},
		{"]}", "]}", true},
		{"[[:digit:]x]+", "1x2", true},
		{"[[:UPPER:]]", "a", true},
		{"(|a)b", "b", true},
		{"|a", "", true},
		{"[a-]", "-", true},
		{"[]a]", "a]", false},
		{`[^\W]`, "k", true},
	} {
		re, err := compileRegexp(c.pattern, maxRegexpSize)
		if err != nil {
			t.Errorf("%q: %v", c.pattern, err)
			continue
		}
		if got := re.MatchString(c.text); got != c.want {
			t.Errorf("%q matches %q: %v, want %v", c.pattern, c.text, got, c.want)
		}
	}
	for pattern, want := range map[string]string{
		"*a": "nothing to repeat at character 1", "a**": "nothing to repeat at character 3", "é|+": "nothing to repeat at character 3", "^*": "nothing to repeat at character 2",
		"ab)": "unmatched ) at character 3", "(a": "unclosed ( at character 1", "a[b": "unclosed [ at character 2", "[z-a]": "range out of order at character 2",
		`a\`: `\ at the end at character 2`, `(a)\1`: "back-references can't be matched in linear time at character 4", `\k<a>`: "back-references can't be matched in linear time at character 1",
		"(?=a)": "look-ahead and look-behind can't be matched in linear time: (?= at character 1", "(?<!a)": "look-ahead and look-behind can't be matched in linear time: (?<! at character 1",
		"(?i)a": "unknown kind of group at character 1", `\y`: `unknown escape \y at character 1`, "a{": `{ that no count follows here, for the character write \{ at character 2`,
		"a{2,1}": "repetition with more at least than at most at character 2", "a{1001}": "repetition of more than 1000 times at character 2",
		`\x4`: "escape without its hexadecimal digits at character 1", "[[:nope:]]": "unknown class [:nope:] at character 2", "a\xff": "it is not UTF-8",
	} {
		if _, err := compileRegexp(pattern, maxRegexpSize); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", pattern, err, want)
		}
	}
}
