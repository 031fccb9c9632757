package pattern

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func load[T any](tb testing.TB, name string) []T {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	var rows []T
	if err := json.Unmarshal(data, &rows); err != nil {
		tb.Fatal(err)
	}
	return rows
}

// latin1 makes one byte of each character.
func latin1(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteByte(byte(r))
	}
	return b.String()
}

func mustCompile(tb testing.TB, expr string, caseless bool) *Regexp {
	tb.Helper()
	re, err := Compile(expr, caseless)
	if err != nil {
		tb.Fatalf("Compile(%q, %v): %v", expr, caseless, err)
	}
	return re
}

// spans gives the begin and end of the first match and of its groups, nil if there is none.
func (r *Regexp) spans(text string, memo bool) ([]int, error) {
	m := borrow(r.program(), []byte(text), true)
	defer m.release()
	if memo {
		m.patience = 0
	}
	begin, end, ok, err := m.search(0, false, false)
	if err != nil || !ok {
		return nil, err
	}
	spans := []int{begin, end}
	for g := range r.groups {
		from, to, set := m.group(2 * g)
		if !set {
			from, to = -1, -1
		}
		spans = append(spans, from, to)
	}
	return spans, nil
}

type pcreCase struct {
	Expr     string `json:"expr"`
	Text     string `json:"text"`
	Caseless bool   `json:"caseless"`
	Refused  bool   `json:"refused"`
	Match    []int  `json:"match"`
}

func TestAgreesWithPCRE(t *testing.T) {
	for _, c := range load[pcreCase](t, "pcre.json") {
		expr, text := latin1(c.Expr), latin1(c.Text)
		re, err := Compile(expr, c.Caseless)
		if err != nil || c.Refused {
			if (err != nil) != c.Refused {
				t.Errorf("Compile(%q): error %v, want refused: %v", expr, err, c.Refused)
			}
			continue
		}
		for _, memo := range []bool{false, true} {
			if got, err := re.spans(text, memo); err != nil || !slices.Equal(got, c.Match) {
				t.Errorf("%q (caseless %v, memo %v) on %q: %v, %v; want %v", expr, c.Caseless, memo, text, got, err, c.Match)
			}
		}
		if got := re.Match([]byte(text)); got != (c.Match != nil) {
			t.Errorf("%q on %q: Match gives %v", expr, text, got)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for _, c := range []struct {
		expr string
		pos  int
		says string
	}{
		{"a(b", 1, "no end"},
		{"ab)", 2, "closes no group"},
		{"a**", 2, "nothing to repeat"},
		{"*a", 0, "nothing to repeat"},
		{"a|+", 2, "nothing to repeat"},
		{"^{2}", 1, "nothing to repeat"},
		{"a{3,2}", 1, "wrong order"},
		{"a{65536}", 1, "above 65535"},
		{"a[b", 1, `\[`},
		{"[z-a]", 1, "out of order"},
		{`[a-\d]`, 1, "can't end in a set"},
		{"[[:foo:]]", 1, "no class"},
		{"[[.a.]]", 1, "collating"},
		{"[:alpha:]", 0, "[[:alpha:]]"},
		{`a\`, 1, `\\`},
		{`a\2(b)`, 1, "group 2"},
		{`\k<n>`, 0, "(?<n>...)"},
		{"(?<n>a)(?<n>b)", 7, "rename"},
		{"(?<1>a)", 3, "digit"},
		{"(?R)", 0, "recursion"},
		{"(a)(?1)", 3, "recursion"},
		{"(?&n)(?<n>a)", 0, "recursion"},
		{`(a)\g<1>`, 3, `\g{1}`},
		{"(?C1)a", 0, "callouts"},
		{"(*UTF8)a", 0, "verbs"},
		{`\p{L}`, 0, "Unicode"},
		{`[\p{L}]`, 1, "Unicode"},
		{`\X`, 0, "Unicode"},
		{`\x{100}`, 0, `\xC3\xA9`},
		{`\400`, 0, `\377`},
		{`\u`, 0, "not supported"},
		{"(?J)a", 0, "option J"},
		{"(?y)a", 2, "(?:...)"},
		{"(?", 0, "(?:...)"},
		{"(?#a", 0, "comment"},
		{"b(?<=a+)", 1, "fixed length"},
		{`(?=a\K)`, 4, `\K`},
		{"(?(1)a|b|c)(d)", 0, "two branches"},
		{"(?(9)a)", 0, "group 9"},
		{"(?(DEFINE)a)", 3, "recursion"},
		{strings.Repeat("(", 251) + strings.Repeat(")", 251), 250, "250"},
		{strings.Repeat("a", maxExpression+1), maxExpression, "65536"},
	} {
		_, err := Compile(c.expr, true)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("Compile(%.40q): %v, want a *SyntaxError", c.expr, err)
			continue
		}
		if syntax.Pos != c.pos || !strings.Contains(syntax.Msg, c.says) {
			t.Errorf("Compile(%.40q): at %d: %s; want it at %d and to say %q", c.expr, syntax.Pos, syntax.Msg, c.pos, c.says)
		}
	}
}

func TestBacktracking(t *testing.T) {
	for expr, want := range map[string]bool{
		"":                         false,
		"^SELECT .* FOR UPDATE$":   false,
		`(\w+\s*)*;$`:              false,
		"(a*)*b":                   false,
		`a++b`:                     false,
		"(?:ab){2,50}":             false,
		"(a)|(?<n>b)":              false,
		`foo(?=bar)`:               true,
		`(?<!a)b`:                  true,
		`(a)\1`:                    true,
		"(?>a|ab)c":                true,
		"(?:ab)*+c":                true,
		"(?(1)a|b)(c)":             true,
		`a\Kb`:                     true,
		`\R`:                       true,
		".{1,5000}x":               true,
		"(?:ab|c){2,5000}x":        true,
		"((((a{9}){9}){9}){9}){9}": true,
	} {
		if got := mustCompile(t, expr, true).Backtracking(); got != want {
			t.Errorf("%q: Backtracking gives %v, want %v", expr, got, want)
		}
	}
}

func TestLargeCounts(t *testing.T) {
	for _, c := range []struct {
		expr  string
		fits  string
		fails string
	}{
		{"^a{65535}$", strings.Repeat("a", 65535), strings.Repeat("a", 65534)},
		{"^(?:ab){1001,1003}$", strings.Repeat("ab", 1002), strings.Repeat("ab", 1004)},
		{"^(?:(?:ab){40}){40}$", strings.Repeat("ab", 1600), strings.Repeat("ab", 1599)},
		{"^(?:a|){2000,}b", strings.Repeat("a", 3000) + "b", strings.Repeat("a", 3000)},
		{"^(?:ab){1500,}?c", strings.Repeat("ab", 1501) + "c", strings.Repeat("ab", 1499) + "c"},
		{"^(?:" + strings.Repeat("(?:ab){1000}|", 2000) + "c)$", "c", "d"},
	} {
		re := mustCompile(t, c.expr, false)
		if !re.Match([]byte(c.fits)) {
			t.Errorf("%.40q does not match %d bytes", c.expr, len(c.fits))
		}
		if re.Match([]byte(c.fails)) {
			t.Errorf("%.40q matches %d bytes", c.expr, len(c.fails))
		}
		if got := len(re.program().code); got > 10*maxInstructions {
			t.Errorf("%.40q takes %d instructions", c.expr, got)
		}
	}
}

// TestLinear searches where plain backtracking would need quadratic or exponential time.
func TestLinear(t *testing.T) {
	length := 40_000
	if raceEnabled {
		length = 4_000
	}
	for _, c := range []struct{ expr, text string }{
		{"(a|aa)*b", "a"},
		{"(?:a*)*b", "a"},
		{"(?:a+)+b", "a"},
		{`(\w+\s*)*;$`, "word "},
		{".*foo", "x"},
		{".*?foo", "x"},
		{"a*a*a*a*b", "a"},
		{"(a|b|ab)*(a|b|ab)*c", "ab"},
		{"(?:(?:a|)*|b)*c", "ab"},
		{"(?:a{1,20}){1,20}b", "a"},
	} {
		text := []byte(strings.Repeat(c.text, length/len(c.text)))
		found, err := mustCompile(t, c.expr, false).MatchErr(text)
		if found || err != nil {
			t.Errorf("%q: %v, %v; want no match and no error", c.expr, found, err)
		}
	}
}

func TestTooComplex(t *testing.T) {
	re := mustCompile(t, `(?:(a|aa|aaa)*)\1z$`, false)
	text := []byte(strings.Repeat("a", 60))
	found, err := re.MatchErr(text)
	if found || !errors.Is(err, ErrTooComplex) {
		t.Errorf("MatchErr gives %v, %v; want ErrTooComplex", found, err)
	}
	if re.Match(text) {
		t.Error("Match gives true")
	}
	rep, err := ParseReplacement("x", re.Groups())
	if err != nil {
		t.Fatal(err)
	}
	if out, changed := re.Replace([]byte(">"), text, rep, true); changed || string(out) != ">"+string(text) {
		t.Errorf("Replace gives %q, %v; want the text as it was", out, changed)
	}
}

func TestMatchDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector empties pools at random")
	}
	text := []byte("SELECT a.id, b.name FROM orders a JOIN users b ON a.id = b.id WHERE name = 'é' FOR UPDATE")
	for _, expr := range []string{"^SELECT .* FOR UPDATE$", `(orders|users)\b`, `\bid\b`, "zzz", `(\w+)\s*=\s*\1`, `'[^']*'(?= FOR)`, "(a|b*)*$"} {
		re := mustCompile(t, expr, true)
		if n := testing.AllocsPerRun(100, func() { re.Match(text) }); n != 0 {
			t.Errorf("%q: %v allocations", expr, n)
		}
	}
}

func TestManyGoroutines(t *testing.T) {
	re := mustCompile(t, `(\w+)\.(\w+)$`, true)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 200 {
				if !re.Match([]byte("select a.b")) || re.Match([]byte("select a.")) {
					t.Error("wrong answer")
				}
			}
		})
	}
	all.Wait()
}

func TestParseModifiers(t *testing.T) {
	for text, want := range map[string]Modifiers{
		"":                   {},
		" ":                  {},
		"CASELESS":           {Caseless: true},
		"GLOBAL":             {Global: true},
		"CASELESS,GLOBAL":    {Caseless: true, Global: true},
		" global , Caseless": {Caseless: true, Global: true},
	} {
		if got, err := ParseModifiers(text); err != nil || got != want {
			t.Errorf("ParseModifiers(%q) gives %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"CASELESS;GLOBAL", "CASE", "CASELESS,", ",", "MULTILINE"} {
		if got, err := ParseModifiers(text); err == nil {
			t.Errorf("ParseModifiers(%q) gives %+v, want an error", text, got)
		}
	}
}
