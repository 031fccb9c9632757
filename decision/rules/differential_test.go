package rules

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pointsman/pointsman/decision/pattern"
)

// Small vocabularies, so that random rules, sessions and texts meet.
var (
	testNames     = []string{"app", "App", "etl", "web", "x"}
	testClients   = []string{"", "10.1.2.3", "10.1.20.3", "127.0.0.1", "::ffff:10.1.2.3", "2001:db8::1%eth0", "localhost", "10.1.2"}
	testPatterns  = []string{"10.1.2.3", "10.1.%", "10.1.2._", "10.0.0.0/8", "10.1.0.0/16, 2001:db8::/32", "%", "_0.%", "::ffff:0.0.0.0/96", "localhost", "10.1.2.3"}
	testProxies   = []string{"127.0.0.1", "127.0.0.0/8", "/run/a.sock", "10.1.2.3"}
	testExprs     = []string{"^SELECT", "orders", "FOR UPDATE$", "", `\?`, "^(INSERT|UPDATE)", "7", "(o)rders?", "zzz", "^SELECT .* FROM orders WHERE"}
	testAloneOnes = []string{"(?=S)SELECT", `(.)\1`, "(?<!x)orders", "(?>a+)b", `(?!SELECT)\w+`}
	testReplaces  = []string{`x\0x`, "", "orders 7", `SELECT`}
	testTexts     = []string{
		"SELECT * FROM orders WHERE id = ?", "SELECT ?", "UPDATE orders SET a = ?", "INSERT INTO orders VALUES (?)", "",
		"SELECT id FROM orders FOR UPDATE", "select aab from orders", "/* 7 */ SELECT 'x'", "zzz",
	}
)

type random struct{ *rand.Rand }

func (r random) oneIn(n int) bool { return r.IntN(n) == 0 }

func pick[T any](r random, list []T) T { return list[r.IntN(len(list))] }

// ruleMaker makes rules that share their expressions.
type ruleMaker struct {
	random
	flags     int32
	compiled  map[string]*pattern.Regexp
	sparse    int // one in so many rules has a given predicate
	onlyNames []string
}

func (m *ruleMaker) expression() *pattern.Regexp {
	expr := pick(m.random, testExprs)
	if m.oneIn(6) {
		expr = pick(m.random, testAloneOnes)
	}
	caseless := m.oneIn(2)
	key := fmt.Sprint(expr, caseless)
	if m.compiled[key] == nil {
		re, err := pattern.Compile(expr, caseless)
		if err != nil {
			panic(err)
		}
		m.compiled[key] = re
	}
	return m.compiled[key]
}

func (m *ruleMaker) rule(id uint32) Rule {
	r := rule(id)
	r.FlagIn = m.Int32N(m.flags)
	if m.oneIn(m.sparse) {
		r.Username = pick(m.random, m.onlyNames)
	}
	if m.oneIn(m.sparse) {
		r.Schemaname = pick(m.random, m.onlyNames)
	}
	if m.oneIn(m.sparse) {
		r.ClientAddr, _ = ParseClientAddr(pick(m.random, testPatterns))
	}
	if m.oneIn(2 * m.sparse) {
		r.ProxyAddr, _ = ParseProxyAddr(pick(m.random, testProxies))
	}
	if m.oneIn(2 * m.sparse) {
		r.ProxyPort = pick(m.random, []int32{0, 6033})
	}
	if m.oneIn(m.sparse) {
		r.HasDigest, r.Digest = true, m.Uint64N(4)
	}
	if m.oneIn(2) {
		r.MatchDigest = m.expression()
	}
	if m.oneIn(4) {
		r.MatchPattern = m.expression()
		if m.oneIn(3) {
			r.Replacement, _ = pattern.ParseReplacement(pick(m.random, testReplaces), r.MatchPattern.Groups())
			r.Global = m.oneIn(2)
		}
	}
	r.Negate = m.oneIn(4)
	if m.oneIn(3) {
		r.FlagOut = m.Int32N(m.flags)
	}
	if m.oneIn(15) {
		r.FlagOuts = []WeightedFlag{{ID: m.Int32N(m.flags), Weight: 1}, {ID: m.Int32N(m.flags), Weight: 2}}
	}
	if m.oneIn(2) {
		r.Destination = m.Int32N(50)
	}
	if m.oneIn(3) {
		r.Effects = Effects{Set: Timeout, Timeout: id}
	}
	r.Apply = m.oneIn(6)
	return r
}

func (m *ruleMaker) question(s *Set) *Question {
	text := pick(m.random, testTexts)
	q := &Question{
		Session: s.Resolve(&Attributes{
			Username: pick(m.random, testNames), Schemaname: pick(m.random, testNames), ClientAddr: pick(m.random, testClients),
			ProxyAddr: pick(m.random, testClients), ProxyPort: pick(m.random, []int32{0, 1, 6033}),
		}),
		FlagIn:     m.Int32N(m.flags),
		Digest:     m.Uint64N(5),
		DigestText: []byte(text),
		Iterations: pick(m.random, []uint32{0, 0, 1, 5, 3000}),
	}
	if !m.oneIn(8) {
		q.Text, q.HasText = []byte(pick(m.random, testTexts)), true
	}
	return q
}

// outcome is all that a caller sees of a walk, and what it has used up.
func outcome(w *Walk) string {
	return fmt.Sprintf("%+v destination %d flag %d stopped %t matched %v truncated %t text %q rewritten %t saw %t lacked %t random %t draws %x too complex %t steps %d",
		w.Effects, w.Destination, w.Flag, w.Stopped, w.Matched, w.Truncated, w.Text, w.Rewritten, w.SawText, w.LackedText, w.Random, w.draws.state, w.TooComplex, max(w.steps, 0))
}

// TestWalkIsPlain holds Walk to WalkPlain over random rules and questions.
func TestWalkIsPlain(t *testing.T) {
	sets := 500
	if testing.Short() {
		sets = 100
	}
	var hits, restarts int
	for seed := range uint64(sets) {
		r := random{rand.New(rand.NewPCG(seed, 3))}
		m := &ruleMaker{r, 1 + r.Int32N(4), map[string]*pattern.Regexp{}, 1 + r.IntN(6), testNames[:1+r.IntN(4)]}
		list := make([]Rule, 1+r.IntN(pick(r, []int{3, 12, 60, 300})))
		for i := range list {
			list[i] = m.rule(uint32(i + 1))
		}
		s := NewSet(list, !r.oneIn(10))
		var got, want Walk
		for range 25 {
			q := m.question(s)
			draw := r.Uint64()
			got.Seed(draw)
			want.Seed(draw)
			s.Walk(q, &got)
			s.WalkPlain(q, &want)
			if g, w := outcome(&got), outcome(&want); g != w {
				t.Fatalf("seed %d: %+v %+v\ngot  %s\nwant %s", seed, q.Session.Attributes, q, g, w)
			}
			hits += len(got.Matched)
			if q.Iterations > 0 && slices.Contains(got.Matched[min(1, len(got.Matched)):], 1) {
				restarts++
			}
		}
	}
	if hits < 10*sets || restarts == 0 {
		t.Errorf("only %d hits, %d restarts", hits, restarts)
	}
}

// TestClassesAreWalks wants sessions of one class to have the same walks.
func TestClassesAreWalks(t *testing.T) {
	shared := 0
	for seed := range uint64(300) {
		r := random{rand.New(rand.NewPCG(seed, 4))}
		m := &ruleMaker{r, 2, map[string]*pattern.Regexp{}, 1 + r.IntN(6), testNames[:1+r.IntN(3)]}
		list := make([]Rule, 1+r.IntN(8))
		for i := range list {
			list[i] = m.rule(uint32(i + 1))
		}
		s := NewSet(list, true)
		first := map[string]*Session{}
		for range 50 {
			q := m.question(s)
			class := string(s.AppendClass(nil, q.Session))
			other, ok := first[class]
			if !ok {
				first[class] = q.Session
				continue
			}
			if other.Attributes != q.Session.Attributes {
				shared++
			}
			var a, b Walk
			s.Walk(q, &a)
			q.Session = other
			s.Walk(q, &b)
			if outcome(&a) != outcome(&b) {
				t.Fatalf("seed %d: one class for %+v and %+v, but\n%s\n%s", seed, other.Attributes, q.Session.Attributes, outcome(&a), outcome(&b))
			}
		}
	}
	if shared < 100 {
		t.Errorf("only %d sessions shared a class", shared)
	}
}

// FuzzAddressIndex wants the index to find what each pattern says alone.
func FuzzAddressIndex(f *testing.F) {
	for _, addr := range testClients {
		f.Add("10.1._.%", "10.1.2.0/24,::/0", addr)
	}
	f.Fuzz(func(t *testing.T, first, second, addr string) {
		x := newAddressIndex()
		for _, text := range append([]string{first, second}, testPatterns...) {
			if p, err := ParseClientAddr(text); err == nil && text != "" {
				x.add(p)
			}
		}
		fits := x.fits(addr)
		for i, p := range x.list {
			if want := addr == "" || p.Match(&Address{Text: addr}); fits.has(uint32(i+1)) != want {
				t.Errorf("%q fits %q: want %t", addr, p.key(), want)
			}
		}
	})
}

// TestManyRulesOfOneKind checks rules that share a digest, an expression or nothing, in numbers that are not tested one
// by one.
func TestManyRulesOfOneKind(t *testing.T) {
	re, err := pattern.Compile("^SELECT", true)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]func(r *Rule){
		"digest":        func(r *Rule) { r.HasDigest, r.Digest = true, 7 },
		"match_digest":  func(r *Rule) { r.MatchDigest = re },
		"match_pattern": func(r *Rule) { r.MatchPattern = re },
		"no expression": func(*Rule) {},
	}
	for name, change := range kinds {
		t.Run(name, func(t *testing.T) {
			list := make([]Rule, 3000)
			for i := range list {
				list[i] = rule(uint32(i + 1))
				list[i].Username = fmt.Sprintf("user%d", i%1000)
				list[i].FlagIn = int32(i / 1000)
				list[i].FlagOut = list[i].FlagIn + 1
				change(&list[i])
			}
			s := NewSet(list, true)
			q := &Question{
				Session: s.Resolve(&Attributes{Username: "user500"}), Digest: 7,
				DigestText: []byte("select ?"), Text: []byte("select 1"), HasText: true,
			}
			var w Walk
			s.Walk(q, &w)
			if !slices.Equal(w.Matched, []uint32{501, 1501, 2501}) || !bytes.Equal(w.Text, q.Text) {
				t.Errorf("hits %v", w.Matched)
			}
		})
	}
}
