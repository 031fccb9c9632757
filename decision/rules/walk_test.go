package rules

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func rule(id uint32) Rule {
	return Rule{ID: id, ProxyPort: None, FlagOut: None, Destination: None}
}

// nobody is a session of which nothing is known.
func nobody(s *Set) *Session { return s.Resolve(&Attributes{}) }

// naive walks rules that look at flags alone, one restart after the other.
func naive(list []Rule, iterations uint32) (matched []uint32, w Walk) {
	w.Destination = None
	left := iterations
	for i := 0; i < len(list); i++ {
		r := &list[i]
		if r.FlagIn != w.Flag {
			continue
		}
		matched = append(matched, r.ID)
		if r.FlagOut != None {
			w.Flag = r.FlagOut
		}
		w.Effects.override(&r.Effects)
		if r.Destination != None {
			w.Destination = r.Destination
		}
		if r.Apply {
			w.Stopped = true
			break
		}
		if r.FlagOut != None && left > 0 {
			left--
			i = -1
		}
	}
	return matched, w
}

// TestRestarts checks that cutting circles short changes nothing.
func TestRestarts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 3000 {
		flags := 1 + random.Int32N(7)
		list := make([]Rule, 1+random.IntN(12))
		for i := range list {
			r := rule(uint32(i + 1))
			r.FlagIn = random.Int32N(flags)
			if random.IntN(4) > 0 {
				r.FlagOut = random.Int32N(flags)
			}
			if random.IntN(2) > 0 {
				r.Destination = random.Int32N(50)
			}
			if random.IntN(2) > 0 {
				r.Effects = Effects{Set: Timeout, Timeout: random.Uint32N(50)}
			}
			r.Apply = random.IntN(20) == 0
			list[i] = r
		}
		iterations := random.Uint32N(9)
		if n%2 == 0 {
			iterations = 1000 + random.Uint32N(3000)
		}
		matched, want := naive(list, iterations)
		var got Walk
		s := NewSet(list, true)
		s.Walk(&Question{Session: nobody(s), Iterations: iterations}, &got)
		if got.Flag != want.Flag || got.Destination != want.Destination || got.Stopped != want.Stopped ||
			got.Effects.Timeout != want.Effects.Timeout || got.Effects.Set != want.Effects.Set {
			t.Fatalf("%+v, %d iterations: got %+v, want %+v", list, iterations, got, want)
		}
		if cut := matched[:min(len(matched), MaxMatchedRules)]; !slices.Equal(got.Matched, cut) {
			t.Fatalf("%+v, %d iterations: hits %v, want %v", list, iterations, got.Matched, cut)
		}
		if got.Truncated != (len(matched) > MaxMatchedRules) {
			t.Fatalf("truncated %t with %d hits", got.Truncated, len(matched))
		}
	}
}

func TestWeightedFlags(t *testing.T) {
	r := rule(1)
	r.FlagOuts = []WeightedFlag{{ID: 1, Weight: 1000}, {ID: 5, Weight: 0}, {ID: 2, Weight: 3000}}
	s := NewSet([]Rule{r}, true)
	var w Walk
	count := map[int32]int{}
	const n = 20_000
	for seed := range uint64(n) {
		w.Seed(seed)
		s.Walk(&Question{Session: nobody(s)}, &w)
		if !w.Random {
			t.Fatal("not random")
		}
		first := w.Flag
		w.Seed(seed)
		s.Walk(&Question{Session: nobody(s)}, &w)
		if w.Flag != first {
			t.Fatal("the same seed gave another flag")
		}
		count[w.Flag]++
	}
	// Four standard deviations of 20,000 draws at 1:3 are 245.
	if len(count) != 2 || count[1] < n/4-245 || count[1] > n/4+245 {
		t.Errorf("draws %v", count)
	}
}

func TestWeightedFlagsWithoutChoice(t *testing.T) {
	tests := []struct {
		name    string
		flagOut int32
		list    []WeightedFlag
		want    int32
	}{
		{"one", None, []WeightedFlag{{ID: 3, Weight: 7}}, 3},
		{"the same twice", None, []WeightedFlag{{ID: 3, Weight: 7}, {ID: 3, Weight: 1}}, 3},
		{"sum 0", None, []WeightedFlag{{ID: 3}}, 0},
		{"flagOUT wins", 9, []WeightedFlag{{ID: 3, Weight: 7}, {ID: 4, Weight: 1}}, 9},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := rule(1)
			r.FlagOut, r.FlagOuts = tt.flagOut, tt.list
			var w Walk
			s := NewSet([]Rule{r}, true)
			s.Walk(&Question{Session: nobody(s)}, &w)
			if w.Flag != tt.want || w.Random {
				t.Errorf("flag %d, random %t", w.Flag, w.Random)
			}
		})
	}
}

func TestPredicates(t *testing.T) {
	client, err := ParseClientAddr("10.1.%")
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := ParseProxyAddr("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	base := rule(1)
	base.FlagIn, base.Username, base.Schemaname = 2, "app", "shop"
	base.ClientAddr, base.ProxyAddr, base.ProxyPort = client, proxy, 6033
	base.HasDigest, base.Digest = true, 77
	s := NewSet([]Rule{base}, true)
	tests := []struct {
		name   string
		change func(a *Attributes, q *Question)
		want   bool
	}{
		{"all", func(*Attributes, *Question) {}, true},
		{"flag", func(_ *Attributes, q *Question) { q.FlagIn = 1 }, false},
		{"username", func(a *Attributes, _ *Question) { a.Username = "App" }, false},
		{"schemaname", func(a *Attributes, _ *Question) { a.Schemaname = "Shop" }, false},
		{"client_addr", func(a *Attributes, _ *Question) { a.ClientAddr = "10.2.2.3" }, false},
		{"proxy_addr", func(a *Attributes, _ *Question) { a.ProxyAddr = "127.0.0.2" }, false},
		{"unknown addresses", func(a *Attributes, _ *Question) { a.ClientAddr, a.ProxyAddr = "", "" }, true},
		{"proxy_port", func(a *Attributes, _ *Question) { a.ProxyPort = 6034 }, false},
		{"digest", func(_ *Attributes, q *Question) { q.Digest = 78 }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := Attributes{Username: "app", Schemaname: "shop", ClientAddr: "10.1.2.3", ProxyAddr: "127.0.0.1", ProxyPort: 6033}
			q := Question{FlagIn: 2, Digest: 77}
			tt.change(&a, &q)
			q.Session = s.Resolve(&a)
			var w Walk
			s.Walk(&q, &w)
			if got := len(w.Matched) == 1; got != tt.want {
				t.Errorf("matched %t", got)
			}
		})
	}
}

func TestNewSetLooks(t *testing.T) {
	client, _ := ParseClientAddr("10.%")
	digestRule, other, third := rule(3), rule(2), rule(1)
	digestRule.HasDigest, digestRule.Schemaname = true, "shop"
	other.ClientAddr, third.ClientAddr = client, client
	with, without := NewSet([]Rule{digestRule, other, third}, true), NewSet([]Rule{digestRule, other, third}, false)
	if !with.LooksAtSchemaname() || without.LooksAtSchemaname() {
		t.Error("a rule that never matches is looked at")
	}
	if !with.LooksAtClientAddr() || with.LooksAtProxyAddr() || with.LooksAtProxyPort() || with.LooksAtText() {
		t.Errorf("set %+v", with)
	}
	if with.entries[0].ID != 1 || with.entries[2].ID != 3 {
		t.Error("not in order of rule_id")
	}
}

func TestManyAddressPatterns(t *testing.T) {
	var list []Rule
	for i := range 200 {
		r := rule(uint32(i + 1))
		r.ClientAddr, _ = ParseClientAddr(fmt.Sprintf("10.0.%d.%%", i))
		list = append(list, r)
	}
	s := NewSet(list, true)
	for _, i := range []int{0, 63, 64, 199} {
		var w Walk
		s.Walk(&Question{Session: s.Resolve(&Attributes{ClientAddr: fmt.Sprintf("10.0.%d.9", i)})}, &w)
		if !slices.Equal(w.Matched, []uint32{uint32(i + 1)}) {
			t.Errorf("%d: hits %v", i, w.Matched)
		}
	}
}
