package selection

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAliasIsExact adds up what the cells give to each row: its weight, as often as there are cells.
func TestAliasIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		rows := make([]row, n+1)
		var sum uint64
		for i := range rows {
			rows[i].weight = 1 + r.Uint32N([]uint32{1, 3, 1000, MaxWeight}[r.IntN(4)])
			sum += uint64(rows[i].weight)
		}
		a := newAlias(rows)
		got := make([]uint64, len(rows))
		for i, c := range a.cells {
			if c.own > sum {
				t.Fatalf("%d rows: cell %d gives %d of %d", len(rows), i, c.own, sum)
			}
			got[i] += c.own
			got[c.other] += sum - c.own
		}
		for i := range rows {
			if want := uint64(rows[i].weight) * uint64(len(rows)); a.size != sum || got[i] != want {
				t.Fatalf("%d rows: row %d has %d of cells of %d, want %d of %d", len(rows), i, got[i], a.size, want, sum)
			}
		}
	}
}

// TestListDistribution draws from lists long enough for the alias, and holds the counts against the weights of those
// that are eligible at the time of the draw.
func TestListDistribution(t *testing.T) {
	const draws = 200_000
	heavy := func(i int) uint32 { return uint32(1 + i%5*i%7*1000) }
	for _, tt := range []struct {
		name     string
		n        int
		weight   func(i int) uint32
		full     func(i int) bool // by used
		excluded func(i int) bool
	}{
		{"all are usable", 200, heavy, nil, nil},
		{"all of four", 4, func(i int) uint32 { return uint32(i*i + 1) }, nil, nil},
		{"one of five is full", 5, func(i int) uint32 { return uint32(i*i + 1) }, func(i int) bool { return i == 4 }, nil},
		{"one of three is full", 3, func(i int) uint32 { return uint32(i*i + 1) }, func(i int) bool { return i == 0 }, nil},
		{"twenty", 20, heavy, func(i int) bool { return i%5 == 1 }, func(i int) bool { return i%5 == 2 }},
		{"equal weights", 64, func(int) uint32 { return 1 }, nil, nil},
		{"a fifth is full", 200, heavy, func(i int) bool { return i%5 == 0 }, nil},
		{"a fifth is excluded", 100, heavy, nil, func(i int) bool { return i%5 == 0 }},
		{"nearly all are full", 100, heavy, func(i int) bool { return i%25 != 3 }, nil},
		{"nearly all the weight is full", 30, func(i int) uint32 { return 1 + uint32(i%2)*MaxWeight/2 }, func(i int) bool { return i%2 == 1 }, nil},
		{"one is left", 21, heavy, func(i int) bool { return i != 7 }, nil},
		{"many, nearly all full", 300, heavy, func(i int) bool { return i%50 != 3 }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cands := make([]Candidate, tt.n)
			var excluded Set
			var sum float64
			weights := make([]float64, tt.n)
			for i := range cands {
				cands[i] = up(tt.weight(i))
				if tt.excluded != nil && tt.excluded(i) {
					excluded.Add(i)
					continue
				}
				if tt.full == nil || !tt.full(i) {
					weights[i] = float64(tt.weight(i))
					sum += weights[i]
				}
			}
			var used Used
			if tt.full != nil {
				used = func(i int) uint32 {
					if tt.full(i) {
						return 1000
					}
					return 999
				}
			}
			limits := DefaultLimits()
			list := NewList(cands)
			counts := make([]float64, tt.n)
			n := draws
			if tt.n > maxSums {
				n /= 10 // the long way, for the most part
			}
			for seed := range uint64(n) {
				i := list.Pick(&limits, seed, excluded, used)
				if i < 0 {
					t.Fatalf("seed %d: no server", seed)
				}
				counts[i]++
			}
			var chi float64
			free := -1.0
			for i, got := range counts {
				if weights[i] == 0 {
					if got != 0 {
						t.Errorf("server %d is drawn", i)
					}
					continue
				}
				free++
				want := float64(n) * weights[i] / sum
				chi += (got - want) * (got - want) / want
			}
			// The mean of chi squared is free, its variance twice that.
			if limit := free + 4*math.Sqrt(2*free) + 4; chi > limit {
				t.Errorf("chi squared %.1f, want at most %.1f", chi, limit)
			}
		})
	}
}

// randomList gives candidates of all kinds; plain: such as the short ways are for.
func randomList(r *rand.Rand, n int, plain bool) ([]Candidate, Limits) {
	cands := make([]Candidate, n)
	for i := range cands {
		cands[i] = Candidate{
			Weight: r.Uint32N(3) * r.Uint32N(1000), CurrentConnections: r.Uint32N(3), MaxConnections: r.Uint32N(5),
			CurrentReplicationLag: r.Int64N(4) - 1, MaxReplicationLag: r.Uint32N(4), CurrentLatencyUS: r.Uint64N(2000), MaxLatencyUS: r.Uint64N(3) * 1000,
			LagMS: r.Int64N(4) - 1,
		}
		if r.IntN(4) == 0 {
			cands[i].Status = Status(r.IntN(5))
		}
		if !plain {
			cands[i].AuroraLagUS = r.Uint64N(2) * r.Uint64N(3)
			cands[i].ShunnedAutomatic, cands[i].LastErrorSec = r.IntN(8) == 0, r.Int64N(20)
		}
	}
	limits := DefaultLimits()
	limits.NowSec, limits.DefaultMaxLatencyMS, limits.HasMaxLag, limits.MaxLagMS = 15, r.Uint32N(4), r.IntN(2) == 0, r.Uint32N(3)
	if !plain {
		limits.LatencyAwareness = r.Uint32N(300)
	}
	if r.IntN(4) == 0 {
		limits.MaxNumOnlineServers = r.Uint32N(uint32(n + 2))
	}
	return cands, limits
}

// TestListAgrees holds a prepared list against the plain functions.
func TestListAgrees(t *testing.T) {
	drawn, short := 0, 0
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 3))
		cands, limits := randomList(r, r.IntN(60), seed%2 == 0)
		var excluded Set
		for i := range cands {
			if seed%3 == 0 && r.IntN(4) == 0 {
				excluded.Add(i)
			}
		}
		var used Used
		now := cands
		if seed%5 < 2 {
			now = slices.Clone(cands)
			for i := range now {
				now[i].CurrentConnections = r.Uint32N(5)
			}
			used = func(i int) uint32 { return now[i].CurrentConnections }
		}
		list := NewList(cands)
		if !slices.Equal(list.With(used), now) || list.Len() != len(cands) {
			t.Fatalf("seed %d: other candidates", seed)
		}
		count := Count(now, &limits, excluded)
		if got := list.Count(&limits, excluded, used); got != count {
			t.Fatalf("seed %d: %d are eligible, want %d", seed, got, count)
		}
		if count > 0 {
			drawn++
		}
		if list.isPlain(&limits) {
			short++
		}
		reasons := Explain(nil, now, &limits, excluded)
		for draw := range uint64(8) {
			got, want := list.Pick(&limits, seed<<8+draw, excluded, used), Pick(now, &limits, seed<<8+draw, excluded)
			same := got == want
			if list.alias != nil && list.isPlain(&limits) { // it is enough that either is eligible
				same = (got < 0) == (want < 0) && (got < 0 || reasons[got].Kind == Passed)
			}
			if !same {
				t.Fatalf("seed %d, draw %d: %d, want %d of %d", seed, draw, got, want, len(cands))
			}
		}
	}
	if drawn < 1000 || short < 1000 || short > 3000 {
		t.Errorf("%d lists gave a server, %d were plain: too few to tell", drawn, short)
	}
}

func TestListAllocs(t *testing.T) {
	limits := DefaultLimits()
	var excluded Set
	excluded.Add(100)
	for _, n := range []int{3, 20, 200} {
		list := NewList(mixed(n))
		connections := make([]uint32, n)
		var seed uint64
		if n := testing.AllocsPerRun(100, func() {
			used := func(i int) uint32 { return connections[i] }
			list.Pick(&limits, seed, excluded, used)
			list.Pick(&limits, seed, nil, nil)
			list.Count(&limits, excluded, used)
			seed++
		}); n != 0 {
			t.Errorf("%g allocations, want 0", n)
		}
	}
}
