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
		eligible := func(i int) bool {
			c := cands[i]
			c.CurrentConnections = live(places[i])
			ok, _ := selection.Eligible(&c, &limits)
			return ok && !excluded.Has(places[i])
		}
		for i := range cands {
			if !eligible(i) {
				continue
			}
			all = append(all, places[i])
			for range cands[i].Weight {
				turns = append(turns, places[i])
			}
		}
		from := func(turn int) int {
			if len(turns) == 0 {
				return -1
			}
			return turns[turn%len(turns)]
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

// TestRingSharesWhatIsLeft: the share of a server that can't be drawn goes to the others by their weights, not to its neighbour.
func TestRingSharesWhatIsLeft(t *testing.T) {
	cands := make([]selection.Candidate, 3)
	for i, weight := range []uint32{3, 1, 1} {
		cands[i] = selection.Candidate{Weight: weight, MaxConnections: 1}
	}
	ring := selection.NewRing(cands, []int{0, 1, 2})
	limits := selection.DefaultLimits()
	var first selection.Set
	first.Add(0)
	for _, tt := range []struct {
		name     string
		excluded selection.Set
		used     selection.Used
		want     [3]int
	}{
		{"all", nil, nil, [3]int{18, 6, 6}},
		{"first excluded", first, nil, [3]int{0, 15, 15}},
		{"second full", nil, func(place int) uint32 { return []uint32{0, 1, 0}[place] }, [3]int{23, 0, 7}},
	} {
		var got [3]int
		for turn := range uint64(30) {
			got[ring.Next(&limits, turn, tt.excluded, tt.used)]++
		}
		if got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	// Servers that fill up between the two looks leave what was found, or nothing.
	calls := 0
	filling := func(int) uint32 { calls++; return uint32(calls / 6) }
	if got := ring.Next(&limits, 4, nil, filling); got != 1 {
		t.Errorf("servers that fill up: %d, want 1", got)
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
