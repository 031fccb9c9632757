package guideline

import (
	"runtime"
	"strings"
	"testing"
)

func TestHostileExpressions(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		error string // empty: it is understood
	}{
		"parentheses":            {strings.Repeat("(", 2000) + "1 = 1" + strings.Repeat(")", 2000), ""},
		"many parentheses":       {strings.Repeat("(", 100_000) + "1 = 1" + strings.Repeat(")", 100_000), ""},
		"open parentheses":       {strings.Repeat("(", 100_000), "syntax error, unexpected end of expression (character 100000)"},
		"minus":                  {strings.Repeat("-", 100_000) + "1 = 1", ""},
		"minus a variable":       {strings.Repeat("-", 100_000) + "$.server.port = 1", "expression is nested too deep: at most 4096 operations inside each other are allowed"},
		"not":                    {strings.Repeat("NOT ", 4000) + "$.session.user", ""},
		"more not":               {strings.Repeat("NOT ", 50_000) + "$.session.user", "expression is nested too deep: at most 4096 operations inside each other are allowed"},
		"calls":                  {strings.Repeat("NUMBER(CONCAT(", 3000) + "1" + strings.Repeat("))", 3000), "expression is nested too deep: at most 4096 operations inside each other are allowed"},
		"and":                    {"TRUE" + strings.Repeat(" AND $.session.user", 10_000), ""},
		"or":                     {"$.session.user = a" + strings.Repeat(" OR $.session.user = a", 10_000), ""},
		"or and and":             {"(a = a" + strings.Repeat(" AND (TRUE OR $.session.user) OR FALSE", 6000) + ")", ""},
		"list":                   {"$.server.port IN (1" + strings.Repeat(",1", 120_000) + ")", ""},
		"texts":                  {"$.session.user IN ('a'" + strings.Repeat(",'b'", 60_000) + ")", ""},
		"blanks":                 {strings.Repeat(" ", 250_000) + "TRUE", ""},
		"long text":              {"'" + strings.Repeat("é", 100_000) + "' = $.session.user", ""},
		"pattern":                {"$.session.user LIKE '" + strings.Repeat("%a", 100_000) + "'", ""},
		"JSON":                   {"$.server.tags.x = " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000), ""},
		"deep JSON":              {"$.server.tags.x = " + strings.Repeat("[", 100_000), "invalid JSON text"},
		"open texts":             {"a = '" + strings.Repeat(`b\'`, 80_000), "syntax error, unclosed ' (character 5)"},
		"1 MB":                   {strings.Repeat("1 OR ", 200_000) + "1", "expression is too long: 1000001 bytes, at most 262144 are allowed"},
		"regexp too long":        {"REGEXP_LIKE('a', '" + strings.Repeat("a", 5000) + "')", "it has 5000 bytes, at most 4096 are allowed"},
		"regexp too large":       {"REGEXP_LIKE('a', '" + strings.Repeat("(abc[d-f]){900}", 20) + "')", "at most 20000 are allowed"},
		"regexp repeated often":  {"REGEXP_LIKE('a', '((a{100}){100}){100}')", "REGEXP_LIKE function invalid regular expression: "},
		"regexp repeated nested": {"REGEXP_LIKE('a', '(a{50}){50}')", "repetitions inside each other come to more than 1000 times"},
		"regexps":                {"TRUE" + strings.Repeat(" OR REGEXP_LIKE($.router.name, 'a{1000}')", 300), "expression has too many parts: at most 250000 operands, operations and parts of regular expressions are allowed"},
		"regexp nested":          {"REGEXP_LIKE('a', '" + strings.Repeat("(", 500) + strings.Repeat(")", 500) + "')", "groups are nested too deep, at most 100 are allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			e, bad := ParseExpression(c.text, ParseOptions{JSONTags: true})
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 200<<20 {
				t.Errorf("parsing %d bytes allocated %d MB", len(c.text), used>>20)
			}
			if bad != nil {
				checkPlace(t, c.text, bad)
				if c.error == "" || !strings.Contains(bad.Message, c.error) {
					t.Errorf("refused with %.200q, want %q", bad.Message, c.error)
				}
				return
			}
			if c.error != "" {
				t.Fatalf("understood, want %q", c.error)
			}
			sameAnswers(t, e, &Facts{Session: &Session{User: strings.Repeat("a", 1000)}, Server: &Server{Port: 2}})
		})
	}
}
