package selection_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pointsman/pointsman/decision/selection"
)

// TestRingIsPlain holds draws to a reference that takes all turns apart and asks Eligible of each candidate.
func TestRingIsPlain(t *testing.T) {
	drawn := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		cands := make([]selection.Candidate, r.IntN(6))
		places := make([]int, len(cands))
		used := make([]uint32, 2*len(cands)+1)
		var excluded selection.Set
		for i := range cands {
			cands[i] = selection.Candidate{
				Weight: r.Uint32N(4), Status: selection.Status(r.IntN(6) / 5), MaxConnections: r.Uint32N(4), CurrentReplicationLag: r.Int64N(4) - 1,
				MaxReplicationLag: 2 * r.Uint32N(2), CurrentLatencyUS: 600 * r.Uint64N(3), MaxLatencyUS: 700 * r.Uint64N(2), LagMS: r.Int64N(4) - 1,
			}
			places[i] = r.IntN(2 * len(cands))
			used[places[i]] = r.Uint32N(3)
			if r.IntN(6) == 0 {
				excluded.Add(places[i])
			}
		}
		limits := selection.DefaultLimits()
		limits.DefaultMaxLatencyMS, limits.HasMaxLag, limits.MaxLagMS = 1, r.IntN(2) == 0, 1
		live := func(place int) uint32 { return used[place] }
		var turns, all []int
		for i, c := range cands {
			c.CurrentConnections = 0
			forever := selection.DefaultLimits()
			forever.DefaultMaxLatencyMS = 1_000_000 // nothing but what never changes counts for a turn
			if ok, _ := selection.Eligible(&c, &forever); !ok {
				continue
			}
			for range c.Weight {
				turns = append(turns, i)
			}
		}
		eligible := func(i int) bool {
			c := cands[i]
			c.CurrentConnections = live(places[i])
			ok, _ := selection.Eligible(&c, &limits)
			return ok && !excluded.Has(places[i])
		}
		for i := range cands {
			if slices.Contains(turns, i) && eligible(i) {
				all = append(all, places[i])
			}
		}
		from := func(turn int) int {
			for n := range turns {
				if i := turns[(turn+n)%len(turns)]; eligible(i) {
					return places[i]
				}
			}
			return -1
		}
		ring := selection.NewRing(cands, places)
		for turn := range 12 {
			got, want := ring.Next(&limits, uint64(turn), excluded, live), from(turn)
			if got != want {
				t.Fatalf("seed %d, turn %d: %d, want %d\n%+v at %v", seed, turn, got, want, cands, places)
			}
			if got >= 0 {
				drawn++
			}
		}
		if got, want := ring.First(&limits, excluded, live), from(0); got != want {
			t.Fatalf("seed %d: first %d, want %d", seed, got, want)
		}
		if got := ring.Eligible(nil, &limits, excluded, live); !slices.Equal(got, all) {
			t.Fatalf("seed %d: eligible %v, want %v", seed, got, all)
		}
	}
	if drawn < 5000 {
		t.Errorf("only %d draws gave one", drawn)
	}
}

// TestRingOfHeavyWeights has as large weights as there can be, and turns anywhere.
func TestRingOfHeavyWeights(t *testing.T) {
	cands := make([]selection.Candidate, 1000)
	places := make([]int, len(cands))
	for i := range cands {
		cands[i] = selection.Candidate{Weight: selection.MaxWeight, MaxConnections: 1}
		places[i] = i
	}
	ring := selection.NewRing(cands, places)
	limits := selection.DefaultLimits()
	for turn, want := range map[uint64]int{0: 0, selection.MaxWeight - 1: 0, selection.MaxWeight: 1, 1000*selection.MaxWeight - 1: 999, 1000 * selection.MaxWeight: 0} {
		if got := ring.Next(&limits, turn, nil, nil); got != want {
			t.Errorf("turn %d: %d, want %d", turn, got, want)
		}
	}
}
