package guideline

import (
	"strings"
	"testing"
)

// sessionOf has two texts to hold against each other.
func sessionOf(user, schema string) *Facts {
	return &Facts{Session: &Session{User: user, Schema: schema}}
}

// TestCostIsBounded takes both ways of evaluating up to the limits and past them.
func TestCostIsBounded(t *testing.T) {
	const product = ": their product is above 20000000"
	text := func(n int) string { return strings.Repeat("a", n) }
	for _, tt := range []struct {
		name, expression, user, schema string
		want                           bool
		err                            string
	}{
		{name: "pattern at the bound", expression: "REGEXP_LIKE($.session.user, 'a{200}a*')", user: text(99_502), want: true},
		{
			name: "pattern above it", expression: "REGEXP_LIKE($.session.user, 'a{200}a*')", user: text(99_503),
			err: "REGEXP_LIKE function, the pattern has 201 parts and the text 99503 bytes" + product,
		},
		{name: "variable pattern", expression: "REGEXP_LIKE($.session.user, $.session.schema)", user: text(20_000), schema: "(?:a{100}){9}a{89}b?a*", want: true},
		{
			name: "variable pattern, long text", expression: "REGEXP_LIKE($.session.user, $.session.schema)", user: text(200_001), schema: "a{100}",
			err: "REGEXP_LIKE function, the pattern has 100 parts and the text 200001 bytes" + product,
		},
		{
			name: "large variable pattern", expression: "REGEXP_LIKE($.session.user, $.session.schema)", schema: "a{999}bc",
			err: "REGEXP_LIKE function invalid regular expression: with its repetitions written out it has 1001 parts, at most 1000 are allowed",
		},
		{name: "LIKE at the bound", expression: "$.session.user LIKE '" + text(99) + "%b'", user: text(198_018) + "b", want: true},
		{
			name: "LIKE above it", expression: "$.session.user LIKE '" + text(99) + "%b'", user: text(198_020),
			err: "LIKE, the pattern has 101 parts and the text 198020 bytes" + product,
		},
		{name: "CONCAT at the bound", expression: "CONCAT($.session.user, $.session.schema) = ''", user: text(1 << 19), schema: text(1 << 19)},
		{
			name: "CONCAT above it", expression: "CONCAT($.session.user, $.session.schema) = ''", user: text(1 << 19), schema: text(1<<19 + 1),
			err: "CONCAT function, the result has more than 1048576 bytes",
		},
		{name: "within", expression: "CONTAINS($.session.user, $.session.schema)", user: text(1_000_000), schema: text(500_000) + "b"},
		{name: "within, found", expression: "CONTAINS($.session.user, $.session.schema)", user: text(1_000_000) + "B", schema: text(500_000) + "b", want: true},
		{name: "LIKE within", expression: "$.session.user LIKE '%" + text(100_000) + "b%'", user: text(1_000_000)},
		{name: "SUBSTRING_INDEX", expression: "SUBSTRING_INDEX($.session.user, $.session.schema, -9) = ''", user: text(1_000_000), schema: "b" + text(500_000)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, bad := ParseExpression(tt.expression, ParseOptions{})
			if bad != nil {
				t.Fatal(bad)
			}
			got, err := e.Match(sessionOf(tt.user, tt.schema))
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			v, evalErr := e.Eval(sessionOf(tt.user, tt.schema))
			if got != tt.want || v.truth() != tt.want || (evalErr == nil) != (err == nil) {
				t.Errorf("compiled %v %v, evaluated %v %v, want %v", got, err, v.truth(), evalErr, tt.want)
			}
		})
	}
}

// A test of a variable that may fail must fail in a program as it does alone.
func TestCostInPrograms(t *testing.T) {
	for _, not := range []string{"", "NOT "} {
		e, bad := ParseExpression(not+"REGEXP_LIKE($.session.connectAttrs.a, 'a{200}')", ParseOptions{})
		if bad != nil {
			t.Fatal(bad)
		}
		long := &Facts{Session: &Session{ConnectAttrs: map[string]string{"a": strings.Repeat("a", 100_001)}}}
		if _, err := e.Match(long); err == nil {
			t.Errorf("%sREGEXP_LIKE of a long text gives no error", not)
		}
	}
}

// TestIndexFold holds the search to that of copies in small letters, and its two ways to their bound: the plain one needs no memory.
func TestIndexFold(t *testing.T) {
	for _, n := range []int{0, 1, 2, 255, 256, 257, 600} {
		for _, m := range []int{0, 1, 3, 255, 256, 257, 258} {
			for _, tail := range []string{"", "b", "B", "c"} {
				text, part := strings.Repeat("aA", n/2)+tail, strings.Repeat("A", m)+strings.ToLower(tail)
				want := strings.Index(lowered(text), lowered(part))
				if got := indexFold(text, part); got != want {
					t.Errorf("%d of %d with %q: %d, want %d", m, n, tail, got, want)
				}
				plain := len(text)*len(part) <= maxPlainSearch || len(part) > len(text)
				if allocations := testing.AllocsPerRun(1, func() { indexFold(text, part) }); (allocations == 0) != plain {
					t.Errorf("%d of %d: %v allocations, plain search is %v", m, n, allocations, plain)
				}
			}
		}
	}
}
