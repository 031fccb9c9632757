package guideline

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func FuzzExpression(f *testing.F) {
	for _, c := range readExpressionCases(f) {
		f.Add(c.Expression, c.Version != "1.0", uint64(len(c.Expression)))
	}
	rng := rand.New(rand.NewPCG(2, 3))
	for i := range 100 {
		r := randomText{rng: rng, jsonTags: i%2 == 0}
		f.Add(r.of(Boolean, 4), r.jsonTags, uint64(i))
	}
	f.Fuzz(func(t *testing.T, text string, jsonTags bool, seed uint64) {
		e, bad := ParseExpression(text, ParseOptions{JSONTags: jsonTags})
		if bad != nil {
			checkPlace(t, text, bad)
			return
		}
		for _, use := range e.Variables() {
			if use.Start < 0 || use.End > len(text) || text[use.Start:use.End] != "$."+use.Name {
				t.Fatalf("%q: %+v is not there", text, use)
			}
		}
		if _, err := e.DryRun(); err != nil && err.Error() == "" {
			t.Fatalf("%q: a dry run fails and does not say why", text)
		}
		rng := rand.New(rand.NewPCG(seed, 0))
		for range 3 {
			facts := randomFacts(rng)
			sameAnswers(t, e, facts)
			trace := e.Explain(facts)
			if _, err := e.Eval(facts); (trace.Err == nil) != (err == nil) {
				t.Fatalf("%q: Explain fails with %v, Eval with %v", text, trace.Err, err)
			}
		}
	})
}

func FuzzRegexp(f *testing.F) {
	for _, pattern := range []string{"", "a|b*", `[\w-]+\d{2,3}`, "(?:a(b))?c+?", `[^]\x41\u0042\cA[]`, "[[:alpha:]_]{1,}", "^$", "(?=a)", `\1`, "a{2", "]}"} {
		f.Add(pattern, "abc")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		re, err := compileRegexp(pattern, maxRegexpSize)
		if err != nil {
			if strings.Contains(err.Error(), "error parsing regexp") {
				t.Fatalf("%q was written as something that Go does not understand: %v", pattern, err)
			}
			return
		}
		if re.MatchString(text) != re.MatchString(lowered(text)) && isASCII(text) {
			t.Fatalf("%q: the case of %q makes a difference", pattern, text)
		}
	})
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] > 0x7f {
			return false
		}
	}
	return true
}
