package core

import (
	"fmt"
	"regexp"
	"runtime"

	"github.com/pointsman/pointsman/decision/pattern"
	"github.com/pointsman/pointsman/deploy/bench"
)

// warmTexts is how many texts of each kind are searched again and again.
const warmTexts = 64

// ours compiles expressions with the core's engine.
func ours(list []string) []*pattern.Regexp {
	out := make([]*pattern.Regexp, len(list))
	for i, expr := range list {
		re, err := pattern.Compile(expr, true)
		if err != nil {
			panic(fmt.Sprintf("compile %q: %v", expr, err))
		}
		out[i] = re
	}
	return out
}

// gos compiles them with Go's.
func gos(list []string) []*regexp.Regexp {
	out := make([]*regexp.Regexp, len(list))
	for i, expr := range list {
		out[i] = regexp.MustCompile("(?i)" + expr)
	}
	return out
}

func newSet(list []string) *pattern.Set { return pattern.NewSet(ours(list), pattern.SetOptions{}) }

// find searches texts with a set.
func find(set *pattern.Set, texts [][]byte) bench.Op {
	var found pattern.Found
	return bench.Op{Per: len(texts), Run: func() {
		for _, text := range texts {
			set.Find(&found, text)
			sink += uint64(len(found.IDs))
		}
	}}
}

// linear is the baseline R. All of them are tried, as a Set finds all that match.
func linear(list []*regexp.Regexp, texts [][]byte) bench.Op {
	return bench.Op{Per: len(texts), Run: func() {
		for _, text := range texts {
			for _, re := range list {
				if re.Match(text) {
					sink++
				}
			}
		}
	}}
}

// linearFirst stops at the first match.
func linearFirst(list []*regexp.Regexp, texts [][]byte) bench.Op {
	return bench.Op{Per: len(texts), Run: func() {
		for _, text := range texts {
			for _, re := range list {
				if re.Match(text) {
					sink++
					break
				}
			}
		}
	}}
}

// check holds a set against the texts' making: they match the last expression alone, or none.
func check(set *pattern.Set, texts [][]byte, last bool) error {
	var found pattern.Found
	for _, text := range texts {
		set.Find(&found, text)
		if want := last; want != (len(found.IDs) == 1 && found.IDs[0] == int32(set.Len()-1)) || !want && len(found.IDs) > 0 || found.GaveUp {
			return fmt.Errorf("search %q in %d rules: found %v, gave up: %v", text, set.Len(), found.IDs, found.GaveUp)
		}
	}
	return nil
}

// agree holds a set against Go's engine.
func agree(set *pattern.Set, list []*regexp.Regexp, texts [][]byte) error {
	var found pattern.Found
	for _, text := range texts {
		set.Find(&found, text)
		for i, re := range list {
			if want := re.Match(text); want != found.Has(i) || found.GaveUp {
				return fmt.Errorf("search %q for rule %d: found %v, regexp says %v, gave up: %v", text, i, found.Has(i), want, found.GaveUp)
			}
		}
	}
	return nil
}

func (s *suite) pattern() error {
	for _, part := range []func() error{s.patternWarm, s.patternFlat, s.patternLinear, s.patternFresh, s.patternHostile, s.patternBuild} {
		if err := part(); err != nil {
			return err
		}
		runtime.GC()
	}
	return nil
}

// patternWarm takes the worse of texts that match the last rule and texts that match none.
func (s *suite) patternWarm() error {
	set := newSet(expressions(1000))
	hits, misses := digestTexts(warmTexts, 1000, true), digestTexts(warmTexts, 1000, false)
	if err := check(set, hits, true); err != nil {
		return err
	}
	if err := check(set, misses, false); err != nil {
		return err
	}
	m := s.meter.Measure(tableScan(hits), find(set, hits), tableScan(misses), find(set, misses))
	last, none := m[1].Over(m[0]), m[3].Over(m[2])
	value, ratio := m[1].Median(), last.Median()
	if none.Median() > ratio {
		value, ratio = m[3].Median(), none.Median()
	}
	s.report.Add("pattern_warm_1000", bench.Result{
		Value: value, Ratio: ratio, Allocs: s.allocs(find(set, hits)),
		Note: fmt.Sprintf("%.0f B; last %.2f, none %.2f; S %.2f ns/B", meanLength(hits), last.Median(), none.Median(), m[0].Median()/meanLength(hits)),
	})
	return nil
}

func (s *suite) patternFlat() error {
	var ops []bench.Op
	for _, n := range []int{10, 10_000} {
		set := newSet(expressions(n))
		hits, misses := digestTexts(warmTexts, n, true), digestTexts(warmTexts, n, false)
		if err := check(set, hits, true); err != nil {
			return err
		}
		if err := check(set, misses, false); err != nil {
			return err
		}
		ops = append(ops, find(set, hits), find(set, misses))
	}
	m := s.meter.Measure(ops...)
	last, none := m[2].Over(m[0]).Median(), m[3].Over(m[1]).Median()
	s.report.Add("pattern_flat", bench.Result{
		Value: max(m[2].Median(), m[3].Median()), Ratio: max(last, none), Allocs: -1,
		Note: fmt.Sprintf("last %.2f, none %.2f", last, none),
	})
	return nil
}

// patternLinear compares with Go's regexp over texts of both kinds. R stops at its first match, which is its fastest way
// and changes nothing here: the last rule is the only one that matches.
func (s *suite) patternLinear() error {
	for _, n := range []int{100, 1000} {
		list := expressions(n)
		set, reference := newSet(list), gos(list)
		texts := append(digestTexts(warmTexts/4, n, true), digestTexts(warmTexts/4, n, false)...)
		if err := agree(set, reference, texts); err != nil {
			return err
		}
		m := s.meter.Measure(find(set, texts), linearFirst(reference, texts))
		s.report.Add(fmt.Sprintf("pattern_vs_linear_%d", n), bench.Result{
			Value: m[0].Median(), Ratio: m[1].Over(m[0]).Median(), Allocs: -1, Note: fmt.Sprintf("R %.0f us", m[1].Median()/1000),
		})
	}
	return nil
}

// The texts of patternFresh: raw statements, each seen once.
const (
	freshFirst = 1000
	freshLater = 19_000
)

func (s *suite) patternFresh() error {
	list := ours(expressions(1000))
	raw := statements(random(12), freshFirst+freshLater, 9)
	hits := digestTexts(warmTexts, 1000, true)
	warmSet := pattern.NewSet(list, pattern.SetOptions{})
	if err := check(warmSet, hits, true); err != nil {
		return err
	}
	if err := agree(pattern.NewSet(list, pattern.SetOptions{}), gos(expressions(1000)), raw[:50]); err != nil {
		return err
	}
	warm := find(warmSet, hits)
	var first, later, base bench.Series
	for range s.meter.Rounds {
		// Five empty sets a round, as the first texts are soon done.
		const sets = 5
		var spentFirst, spentLater, spentWarm float64
		for range sets {
			set := pattern.NewSet(list, pattern.SetOptions{})
			runtime.GC()
			spentFirst += float64(bench.CPU(find(set, raw[:freshFirst]).Run)) / freshFirst
			spentLater += float64(bench.CPU(find(set, raw[freshFirst:]).Run)) / freshLater
			const calls = 100
			spentWarm += float64(bench.CPU(func() {
				for range calls {
					warm.Run()
				}
			})) / float64(calls*warm.Per)
		}
		first, later, base = append(first, spentFirst/sets), append(later, spentLater/sets), append(base, spentWarm/sets)
	}
	note := fmt.Sprintf("%.0f B; warm %.0f ns", meanLength(raw), base.Median())
	s.report.Add("pattern_fresh_first", bench.Result{Value: first.Median(), Ratio: first.Over(base).Median(), Allocs: -1, Note: note})
	s.report.Add("pattern_fresh_later", bench.Result{Value: later.Median(), Ratio: later.Over(base).Median(), Allocs: -1})
	return nil
}

// patternHostile gives each text once to a set that has met others of the kind.
func (s *suite) patternHostile() error {
	const (
		rules  = 1000
		warmUp = 100
		each   = 100 // texts of a round
		few    = 10  // of which R, which is slow, takes these
	)
	list := expressions(rules)
	set, reference := newSet(list), gos(list)
	texts := hostileTexts(warmUp+each*s.meter.Rounds, rules)
	if err := agree(set, reference, texts[:5]); err != nil {
		return err
	}
	find(set, texts[:warmUp]).Run()
	var slow pattern.Found
	var own, nfa, other bench.Series
	for round := range s.meter.Rounds {
		fresh := texts[warmUp+each*round:][:each]
		runtime.GC()
		own = append(own, float64(bench.CPU(find(set, fresh).Run))/each)
		nfa = append(nfa, float64(bench.CPU(func() {
			for _, text := range fresh {
				set.FindSlow(&slow, text)
				sink += uint64(len(slow.IDs))
			}
		}))/each)
		other = append(other, float64(bench.CPU(linear(reference, fresh[:few]).Run))/few)
	}
	s.report.Add("pattern_hostile", bench.Result{
		Value: own.Median(), Ratio: own.Over(nfa).Median(), Allocs: -1, Note: fmt.Sprintf("%.0f B", meanLength(texts)),
	})
	s.report.Add("pattern_hostile_vs_linear", bench.Result{
		Value: own.Median(), Ratio: own.Over(other).Median(), Allocs: -1, Note: fmt.Sprintf("R %.1f ms", other.Median()/1e6),
	})
	return nil
}

// patternBuild counts the garbage collector's work in, on both sides.
func (s *suite) patternBuild() error {
	list := expressions(10_000)
	var own, other bench.Series
	for range s.meter.Rounds {
		runtime.GC()
		own = append(own, float64(bench.CPU(func() { sink += uint64(newSet(list).Len()) }))/1e6)
		runtime.GC()
		other = append(other, float64(bench.CPU(func() { sink += uint64(len(gos(list))) }))/1e6)
	}
	s.report.Add("pattern_build_10000", bench.Result{
		Value: own.Median(), Ratio: own.Over(other).Median(), Allocs: -1, Note: fmt.Sprintf("regexp %.0f ms", other.Median()),
	})

	texts := append(digestTexts(warmTexts, len(list), true), digestTexts(warmTexts, len(list), false)...)
	type held struct {
		list []*pattern.Regexp
		set  *pattern.Set
	}
	h, mine := bench.Heap(func() held {
		regexps := ours(list)
		set := pattern.NewSet(regexps, pattern.SetOptions{})
		find(set, texts).Run()
		return held{regexps, set}
	})
	_, theirs := bench.Heap(func() []*regexp.Regexp { return gos(list) })
	s.report.Add("pattern_memory_10000", bench.Result{
		Value: float64(mine) / 1e6, Ratio: float64(mine) / float64(theirs), Allocs: -1,
		Note: fmt.Sprintf("the set %.1f MB by its own account; regexp %.1f MB", float64(h.set.Memory())/1e6, float64(theirs)/1e6),
	})
	runtime.KeepAlive(h)
	return nil
}
