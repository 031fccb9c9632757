package pattern

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestIsLight(t *testing.T) {
	for expr, want := range map[string]bool{
		"":                                 true,
		"DROP TABLE":                       true,
		`\bINTO OUTFILE\b`:                 true,
		`DROP\s+(TABLE|VIEW)`:              true,
		`a[,; ]*b`:                         true,
		"FOR UPDATE$":                      true,
		".*FOR UPDATE.*":                   true, // what may be missing is left out
		"[a-z]":                            true,
		`\d{1,10}x`:                        true,
		"^SELECT .* FROM t1 WHERE":         true, // one thread for all that begin so
		"^SELECT .* FROM t1 WHERE.* id":    false,
		`(?m)^SELECT .*FOR UPDATE`:         false,
		"t1 .*FOR UPDATE$":                 false,
		`t\d+x`:                            false,
		"x.{1,200}y":                       false,
		"x(a|b.*c)y":                       false,
		"^(a|b.*c)y":                       false,
		"^x(?:a.*b)?y":                     true,
		"x{200}":                           false,
		strings.Repeat("x", maxSetSize-10): true,
	} {
		root, _ := mustCompile(t, expr, true).tree()
		if got := isLight(root, branches(root)); got != want {
			t.Errorf("%.40q: light %v, want %v", expr, got, want)
		}
	}
}

// TestSetGivesUp wants the outcome of light expressions when the others are too much, and no outcome of those.
func TestSetGivesUp(t *testing.T) {
	if raceEnabled {
		t.Skip("too slow with the race detector")
	}
	_, heavy, text := liveSet(t, SetOptions{})
	long := []byte(strings.ReplaceAll(strings.Repeat(string(text), 100), "\n", "") + "zz DROP TABLE")
	light := compileAll(t, []string{"drop table$", "^join", "nowhere", "", "^join .*zz DROP"})
	for _, c := range []struct {
		name  string
		list  []*Regexp
		want  []int32
		known int // of the first ids
	}{
		{"none is light", heavy, nil, 0},
		{"some are light", slices.Concat(light, heavy), []int32{0, 1, 3, 4}, len(light)},
	} {
		s := NewSet(c.list, SetOptions{})
		before := s.Memory()
		var f, slow Found
		s.Find(&f, long)
		if !f.GaveUp || !slices.Equal(f.IDs, c.want) {
			t.Errorf("%s: gave up: %v, found %v; want to give up with %v", c.name, f.GaveUp, f.IDs, c.want)
		}
		for id := range c.list {
			if f.Knows(id) != (id < c.known) {
				t.Fatalf("%s: knows %q: %v", c.name, c.list[id].expr, f.Knows(id))
			}
		}
		if s.FindSlow(&slow, long); slow.Work != f.Work || f.Work < allowance(long) || !slices.Equal(slow.IDs, f.IDs) || slow.Knows(0) != f.Knows(0) {
			t.Errorf("%s: %d of work, found %v; slowly %d, %v", c.name, f.Work, f.IDs, slow.Work, slow.IDs)
		}
		if s.Memory() <= before {
			t.Errorf("%s: %d bytes, then %d", c.name, before, s.Memory())
		}
		checkFind(t, s, &f, c.list, "join d17_ z") // All is well again with the next text.
		if !f.Knows(len(c.list) - 1) {
			t.Errorf("%s: there is no outcome for an easy text", c.name)
		}
	}
}

// TestLightIsTooMuch has so many light expressions that they are too much, too.
func TestLightIsTooMuch(t *testing.T) {
	exprs := []string{"x.*y.*z"}
	for i := range 500 {
		exprs = append(exprs, fmt.Sprintf("x[x\\x%02x\\x%02x].{0,25}y", i%100+128, i/100+1))
	}
	list := compileAll(t, exprs)
	text := []byte(strings.Repeat("x", 8000))
	for _, list := range [][]*Regexp{list, list[1:]} { // The latter are all light.
		var f Found
		s := NewSet(list, SetOptions{})
		if s.Find(&f, text); !f.GaveUp || f.Knows(0) || f.Knows(len(list)-1) || len(f.IDs) > 0 {
			t.Errorf("gave up: %v, found %v", f.GaveUp, f.IDs)
		}
		s.Find(&f, text[:10])
		if f.GaveUp || !f.Knows(0) || !f.Knows(len(list)-1) {
			t.Error("a short text is too much")
		}
	}
}

func TestFindWithin(t *testing.T) {
	long := strings.Repeat("ab", 50_000)
	for _, c := range []struct {
		expr, text string
		most       int // steps
	}{
		{"b$", "ab", 2000},
		{"", "ab", 2000},
		{"zzz", long, 2000 + len(long)/16},
		{"ba.*zzz", long, 2000 + len(long)/16},
		{"(a|b)*c", long, 2000 + len(long)/16},
		{"a.{100,200}z", long, 10_000 + len(long)*200},
	} {
		re := mustCompile(t, c.expr, false)
		want := re.Match([]byte(c.text))
		steps := c.most
		found, err := re.FindWithin([]byte(c.text), &steps)
		used := c.most - steps
		if found != want || err != nil || used < 1+len(c.text)/16 {
			t.Errorf("%q: %v, %v with %d steps; want %v", c.expr, found, err, used, want)
		}
		steps = used
		if found, err := re.FindWithin([]byte(c.text), &steps); found != want || err != nil || steps != 0 {
			t.Errorf("%q with the %d steps it needs: %v, %v, %d left", c.expr, used, found, err, steps)
		}
		for _, few := range []int{0, used / 2, used - 1} {
			steps = few
			if found, err := re.FindWithin([]byte(c.text), &steps); found || !errors.Is(err, ErrTooComplex) || steps > 0 {
				t.Errorf("%q with %d steps of %d: %v, %v, %d left", c.expr, few, used, found, err, steps)
			}
		}
	}
}
