package pattern

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

// exprMaker makes random expressions of classical syntax, and texts that they are likely to match.
type exprMaker struct{ *rand.Rand }

func (m exprMaker) pick(list ...string) string { return list[m.IntN(len(list))] }

func (m exprMaker) atom(depth int) string {
	switch n := m.IntN(12); {
	case n < 5:
		return m.pick("a", "b", "A", "ab", "foo", "x_1", " ", "\xe9", "\\x00", "\n", "select", "-")
	case n < 7:
		return m.pick(".", `\w`, `\d`, `\s`, "[a-c]", "[^a]", `[^\n]`, "[ab\\xff]", `\W`, "(?s:.)", `\N`, "[[:alpha:]]")
	case n < 9:
		return m.pick("^", "$", `\b`, `\B`, `\A`, `\z`, `\Z`, "(?m:^)", "(?m:$)", `\G`)
	case depth == 0:
		return m.pick("", "b", "(?i:a)")
	case n < 10:
		return "(" + m.alternation(depth-1) + ")"
	}
	return "(?:" + m.alternation(depth-1) + ")"
}

func (m exprMaker) sequence(depth int) string {
	var b strings.Builder
	for range m.IntN(5) {
		atom := m.atom(depth)
		if m.IntN(3) == 0 {
			atom = "(?:" + atom + ")" + m.pick("*", "+", "?", "{2}", "{0,3}", "{1,}", "{2,4}", "*?", "+?", "??", "{0}", "{3,}?")
		}
		b.WriteString(atom)
	}
	return b.String()
}

func (m exprMaker) alternation(depth int) string {
	branches := []string{m.sequence(depth)}
	for m.IntN(3) == 0 {
		branches = append(branches, m.sequence(depth))
	}
	return strings.Join(branches, "|")
}

func (m exprMaker) expr() string {
	return m.pick("", "", "^", ".*", "(?i)", "(?m)", "(?s)", `\b`) + m.alternation(2) + m.pick("", "", "$", ".*", `\b`, "b")
}

func (m exprMaker) text() string {
	var b strings.Builder
	for range m.IntN(12) {
		b.WriteString(m.pick("a", "b", "ab", "A", "foo", "FOO", "x_1", " ", "\n", "\xe9", "\x00", "\xff", "select", "c", "-", "1", "\n\n", "aab"))
	}
	return b.String()
}

func compileAll(tb testing.TB, exprs []string) []*Regexp {
	tb.Helper()
	list := make([]*Regexp, len(exprs))
	for i, expr := range exprs {
		list[i] = mustCompile(tb, expr, i%3 == 0)
	}
	return list
}

// alone gives what a Set must find.
func alone(list []*Regexp, text string) []int32 {
	ids := []int32{}
	for i, re := range list {
		if re.InSet() && re.Match([]byte(text)) {
			ids = append(ids, int32(i))
		}
	}
	return ids
}

// checkFind compares both ways of a Set with each expression alone.
func checkFind(t *testing.T, s *Set, f *Found, list []*Regexp, text string) {
	t.Helper()
	want := alone(list, text)
	for name, find := range map[string]func(*Found, []byte){"Find": s.Find, "FindSlow": s.FindSlow} {
		find(f, []byte(text))
		if f.GaveUp || !slices.Equal(f.IDs, want) {
			var exprs []string
			for _, re := range list {
				exprs = append(exprs, fmt.Sprintf("%q (caseless %v)", re.expr, re.caseless))
			}
			t.Fatalf("%s in %q: %v, gave up: %v; want %v of\n%s", name, text, f.IDs, f.GaveUp, want, strings.Join(exprs, "\n"))
		}
		for id := range len(list) + 70 {
			if f.Has(id) != slices.Contains(want, int32(id)) {
				t.Fatalf("%s in %q: Has(%d) gives %v", name, text, id, f.Has(id))
			}
		}
	}
}

func TestSetAgreesWithEachExpression(t *testing.T) {
	rounds := 1500
	if raceEnabled || testing.Short() {
		rounds = 150
	}
	for seed := range rounds {
		m := exprMaker{rand.New(rand.NewPCG(uint64(seed), 3))}
		var exprs []string
		for range 1 + m.IntN(12) {
			exprs = append(exprs, m.expr())
		}
		list := compileAll(t, exprs)
		s := NewSet(list, SetOptions{MaxMemory: []int{0, 1, 20_000, 100_000}[seed%4]})
		var f Found
		for range 40 {
			checkFind(t, s, &f, list, m.text())
		}
	}
}

// nested makes a random expression over a and b with counts inside counts.
func (m exprMaker) nested(depth int) string {
	if depth == 0 {
		return m.pick("a", "b", "[ab]", "")
	}
	switch m.IntN(5) {
	case 0:
		return "(?:" + m.nested(depth-1) + "|" + m.nested(depth-1) + ")"
	case 1:
		return m.nested(depth-1) + m.nested(depth-1)
	}
	return "(?:" + m.nested(depth-1) + ")" + m.pick("*", "+", "?", "{2}", "{3}", "{0}", "{0,2}", "{1,2}", "{2,3}", "{2,}", "{0,}")
}

// TestSetCounts looks at all short texts of a and b.
func TestSetCounts(t *testing.T) {
	texts := []string{""}
	for i := 0; len(texts[i]) < 7; i++ {
		texts = append(texts, texts[i]+"a", texts[i]+"b")
	}
	rounds := 150
	if raceEnabled || testing.Short() {
		rounds = 15
	}
	for seed := range rounds {
		m := exprMaker{rand.New(rand.NewPCG(uint64(seed), 4))}
		var exprs []string
		for range 8 {
			exprs = append(exprs, m.pick("^", "", "a", "b")+m.nested(4)+m.pick("$", "", "a", "b"))
		}
		list := compileAll(t, exprs)
		s := NewSet(list, SetOptions{})
		var f Found
		for _, text := range texts {
			checkFind(t, s, &f, list, text)
		}
	}
}

// TestBeginningsAreShared holds that the work for a text does not grow with the expressions that begin alike.
func TestBeginningsAreShared(t *testing.T) {
	var exprs []string
	for i := range 1000 {
		exprs = append(exprs,
			fmt.Sprintf("^SELECT .* FROM table_%d WHERE ", i),
			fmt.Sprintf(`^(SELECT|UPDATE|DELETE).*\bcustomers_%d\b`, i),
			fmt.Sprintf(`\s*select\s+.*\s+from\s+t_%d\b.*`, i),
			fmt.Sprintf(`.{1,30}(x_%d|y_%d).+$`, i, i),
			fmt.Sprintf("^(?:SELECT a%d|INSERT b%d)", i, i),
		)
	}
	var list []*Regexp
	for _, expr := range exprs {
		list = append(list, mustCompile(t, expr, true))
	}
	s := NewSet(list, SetOptions{})
	w := newWorker(s.nfa)
	w.begin(rootBegin)
	text := []byte("SELECT  a.b, c FROM t AS customers WHERE x = 1")
	for i := range text {
		live := slices.Clone(w.live)
		w.step(live, w.before, w.pending, s.nfa.alphabet.symbol(text, i))
		if len(w.live) > 25 {
			t.Fatalf("%d nodes behind %q", len(w.live), text[:i+1])
		}
	}
	if w.cost > manyNodes {
		t.Errorf("the cost of an ordinary state is %d, above %d", w.cost, manyNodes)
	}
}

func TestSetTakesRecordedExpressions(t *testing.T) {
	var list []*Regexp
	var texts []string
	for _, c := range load[pcreCase](t, "pcre.json") {
		if re, err := Compile(latin1(c.Expr), c.Caseless); err == nil {
			list = append(list, re)
			texts = append(texts, latin1(c.Text))
		}
	}
	s := NewSet(list, SetOptions{})
	if s.Len() != len(list) {
		t.Errorf("Len gives %d, want %d", s.Len(), len(list))
	}
	var f Found
	for _, text := range texts {
		checkFind(t, s, &f, list, text)
	}
}

func TestSetManyGoroutines(t *testing.T) {
	m := exprMaker{rand.New(rand.NewPCG(1, 2))}
	var exprs, texts []string
	for range 30 {
		exprs = append(exprs, m.expr())
	}
	list := compileAll(t, exprs)
	var want [][]int32
	for range 200 {
		text := m.text() + m.text() + m.text()
		texts = append(texts, text)
		want = append(want, alone(list, text))
	}
	for _, memory := range []int{0, 1, 50_000} {
		s := NewSet(list, SetOptions{MaxMemory: memory})
		var all sync.WaitGroup
		for g := range 4 {
			all.Go(func() {
				var f Found
				for i := range texts {
					i = (i*7 + g*50) % len(texts)
					s.Find(&f, []byte(texts[i]))
					if !slices.Equal(f.IDs, want[i]) {
						t.Errorf("in %q: %v, want %v", texts[i], f.IDs, want[i])
					}
					_ = s.Memory()
				}
			})
		}
		all.Wait()
	}
}
