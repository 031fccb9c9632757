package pattern

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// liveSet has expressions of which any number can be in their .* at once, and a text that keeps them there.
func liveSet(tb testing.TB, o SetOptions) (*Set, []*Regexp, []byte) {
	tb.Helper()
	var exprs []string
	for i := range 200 {
		exprs = append(exprs, fmt.Sprintf("join d%d_.*z", i))
	}
	list := compileAll(tb, exprs)
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for b.Len() < 1500 {
		fmt.Fprintf(&b, "join d%d_ ", r.IntN(len(exprs)))
		if b.Len()%7 == 0 {
			b.WriteString("\n")
		}
	}
	return NewSet(list, o), list, []byte(b.String())
}

func TestGivingUpDependsOnTheTextAlone(t *testing.T) {
	outcomes := map[bool]int{}
	warm, _, text := liveSet(t, SetOptions{})
	warm.Find(new(Found), text)
	tiny, _, _ := liveSet(t, SetOptions{MaxMemory: 1})
	for work := 0; work < 100_000; work += 997 {
		cold, _, _ := liveSet(t, SetOptions{})
		var want Found
		for i, s := range []*Set{cold, warm, warm, tiny, cold} {
			got := Found{}
			got.reset(s.Len())
			x := search{set: s, found: &got, work: work}
			if i < 2 {
				x.simulateAll(text)
			} else {
				x.run(text)
			}
			got.finish()
			if i == 0 {
				want = got
			} else if got.GaveUp != want.GaveUp || !slices.Equal(got.IDs, want.IDs) {
				t.Fatalf("work %d, way %d: gave up: %v, found %v; want %v, %v", work, i, got.GaveUp, got.IDs, want.GaveUp, want.IDs)
			}
		}
		outcomes[want.GaveUp]++
	}
	if outcomes[true] == 0 || outcomes[false] == 0 {
		t.Errorf("outcomes %v, want both", outcomes)
	}
}

// TestBlowUps has expressions whose deterministic automaton is far larger than what is kept.
func TestBlowUps(t *testing.T) {
	for _, c := range []struct{ expr, alphabet, fits string }{
		{"(a|b)*a(a|b){14}c", "ab", "abbabbabbabbabbabc"},
		{"(.{0,40},){8}z", "abc,", "a,b,c,,,,,,,z"},
		{"x.{200}y", "xabc", "x" + strings.Repeat("x", 200) + "y"},
		{`\bx(\w{1,20} ){3,9}$`, "x1 ", "xx x x "},
	} {
		list := compileAll(t, []string{c.expr})
		if !list[0].InSet() {
			t.Errorf("%q is not InSet", c.expr)
		}
		r := rand.New(rand.NewPCG(1, 2))
		text := make([]byte, 5000)
		for i := range text {
			text[i] = c.alphabet[r.IntN(len(c.alphabet))]
		}
		text[len(text)-1] = '.'
		for _, memory := range []int{0, 1} {
			s := NewSet(list, SetOptions{MaxMemory: memory})
			var f Found
			for _, text := range []string{string(text), string(text) + c.fits, string(text) + "-" + c.fits, c.fits} {
				checkFind(t, s, &f, list, text)
			}
		}
	}
}

func TestSetMemory(t *testing.T) {
	if got := NewSet(nil, SetOptions{}).Memory(); got != 0 {
		t.Errorf("the empty set has %d bytes", got)
	}
	const limit = 200_000
	s, _, text := liveSet(t, SetOptions{MaxMemory: limit})
	program := s.nfa.memory()
	drops := map[int]bool{}
	var f Found
	for i := range 400 {
		s.Find(&f, text[i:])
		drops[s.states.Load().life] = true
		if got := s.Memory(); got > limit+program {
			t.Fatalf("%d bytes of states, the limit is %d", got-program, limit)
		}
	}
	if len(drops) < 3 {
		t.Errorf("the states were dropped %d times; the test needs longer texts", len(drops)-1)
	}
}

func TestInSet(t *testing.T) {
	for expr, want := range map[string]bool{
		"":                                true,
		"^SELECT .* FOR UPDATE$":          true,
		"(?:ab){2,200}":                   true,
		`(\w+\s*)*?;$`:                    true,
		"(a)|(?<n>b)":                     true,
		".{0,1000}x":                      true,
		"(?:ab){2,600}":                   false,
		"(?:.{0,100}){30}":                false,
		`\d++x`:                           false,
		`\d{3}+x`:                         true,
		`foo(?=bar)`:                      false,
		`(a)\1`:                           false,
		"(?>a)":                           false,
		strings.Repeat("a", maxSetSize-1): true,
		strings.Repeat("a", maxSetSize):   false,
		strings.Repeat("(", 200) + "a" + strings.Repeat(")", 200): true,
	} {
		if got := mustCompile(t, expr, true).InSet(); got != want {
			t.Errorf("%.40q: InSet gives %v, want %v", expr, got, want)
		}
	}
}

func TestFindDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector empties pools at random")
	}
	list := compileAll(t, []string{"^SELECT .* FOR UPDATE$", `(orders|users)\b`, `\bid\b`, "zzz", ".", "", `'[^']*' FOR`})
	s := NewSet(list, SetOptions{})
	text := []byte("SELECT a.id, b.name FROM orders a JOIN users b ON a.id = b.id WHERE name = 'é' FOR UPDATE\n")
	var f Found
	s.Find(&f, text)
	if want := []int32{0, 1, 2, 4, 5, 6}; !slices.Equal(f.IDs, want) {
		t.Errorf("found %v, want %v", f.IDs, want)
	}
	for name, find := range map[string]func(*Found, []byte){"Find": s.Find, "FindSlow": s.FindSlow} {
		find(&f, text)
		if n := testing.AllocsPerRun(100, func() { find(&f, text) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestFoundServesManySets(t *testing.T) {
	small := NewSet(compileAll(t, []string{"a"}), SetOptions{})
	var exprs []string
	for i := range 9000 {
		exprs = append(exprs, fmt.Sprintf("%dx", i))
	}
	large := NewSet(compileAll(t, exprs), SetOptions{})
	var f Found
	for range 2 {
		for _, c := range []struct {
			set  *Set
			text string
			want []int32
		}{
			{small, "a", []int32{0}},
			{large, "8999x", []int32{9, 99, 999, 8999}},
			{small, "b", nil},
			{large, "64x 4096x", []int32{4, 6, 64, 96, 4096}},
			{large, "", nil},
		} {
			c.set.Find(&f, []byte(c.text))
			if !slices.Equal(f.IDs, c.want) {
				t.Errorf("in %q: %v, want %v", c.text, f.IDs, c.want)
			}
			for _, id := range []int{-1, 0, 9, 4096, 8999, 9000, 1 << 20} {
				if f.Has(id) != slices.Contains(c.want, int32(id)) {
					t.Errorf("in %q: Has(%d) gives %v", c.text, id, f.Has(id))
				}
			}
		}
	}
}

func TestMatchWithin(t *testing.T) {
	long := strings.Repeat("ab", 5000)
	for _, c := range []struct {
		expr, text string
		found      bool
		most       int // steps
	}{
		{"b$", "ab", true, 10},
		{"zzz", long, false, len(long)},
		{"(a|b)*c", long, false, 100 * len(long)},
		{`(?=ab)ab(?!ab)`, long, true, 20 * len(long)},
		{`(a+)\1x`, strings.Repeat("a", 300), false, 300 * 300 * 10},
	} {
		re := mustCompile(t, c.expr, false)
		steps := c.most
		found, err := re.MatchWithin([]byte(c.text), &steps)
		used := c.most - steps
		if found != c.found || err != nil || used < 1+len(c.text)/16 {
			t.Errorf("%q: %v, %v with %d steps; want %v", c.expr, found, err, used, c.found)
		}
		// What it used is enough, what it used for certain is not.
		steps = used
		if found, err := re.MatchWithin([]byte(c.text), &steps); found != c.found || err != nil || steps != 0 {
			t.Errorf("%q with the %d steps it needs: %v, %v, %d left", c.expr, used, found, err, steps)
		}
		for _, few := range []int{0, used / 2, used - 1} {
			steps = few
			if found, err := re.MatchWithin([]byte(c.text), &steps); found || !errors.Is(err, ErrTooComplex) || steps > 0 {
				t.Errorf("%q with %d steps of %d: %v, %v, %d left", c.expr, few, used, found, err, steps)
			}
		}
	}
	// It has its own bound, too.
	steps := 1 << 40
	if _, err := mustCompile(t, `(a+)+\1b`, false).MatchWithin([]byte(strings.Repeat("a", 200)), &steps); !errors.Is(err, ErrTooComplex) {
		t.Errorf("the error is %v, want ErrTooComplex", err)
	}
	if used := 1<<40 - steps; used < baseSteps || used > 2*baseSteps {
		t.Errorf("it used %d steps", used)
	}
}
