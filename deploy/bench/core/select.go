package core

import (
	"fmt"

	"github.com/pointsman/pointsman/decision/selection"
	"github.com/pointsman/pointsman/deploy/bench"
)

// servers makes a list of n, one in five of which can't be drawn (of small lists, one in some of the streams): every other
// one of those for its connections, which only the draw finds out, the others for their status, lag or latency.
func servers(n int, stream uint64) []selection.Candidate {
	r := random(stream)
	list := make([]selection.Candidate, n)
	for i := range list {
		list[i] = selection.Candidate{
			Weight: uint32(1 + r.IntN(10)), Status: selection.Online,
			CurrentConnections: uint32(r.IntN(100)), MaxConnections: 200,
			CurrentReplicationLag: int64(r.IntN(3)), MaxReplicationLag: 10,
			CurrentLatencyUS: uint64(200 + r.IntN(800)), LagMS: -1,
		}
	}
	bad := n / 5
	if stream%5 < uint64(n%5) {
		bad++
	}
	for k, i := range r.Perm(n)[:bad] {
		switch c := &list[i]; k % 6 {
		case 1:
			c.Status = selection.OfflineSoft
		case 3:
			c.CurrentReplicationLag = 11
		case 5:
			c.CurrentLatencyUS = 2_000_000
		default:
			c.CurrentConnections = c.MaxConnections
		}
	}
	return list
}

func (s *suite) selection() error {
	limits := selection.DefaultLimits()
	for _, n := range []int{3, 20, 200} {
		lists := 1
		if n == 3 {
			lists = 10 // six of which have one that can't be drawn
		}
		prepared := make([]*selection.List, lists)
		used := make([][]uint32, lists)
		live := make([]selection.Used, lists)
		for i := range prepared {
			candidates := servers(n, uint64(60+i))
			prepared[i] = selection.NewList(candidates)
			for k := range candidates {
				used[i] = append(used[i], candidates[k].CurrentConnections)
			}
			live[i] = func(place int) uint32 { return used[i][place] }
			for seed := range uint64(1000) {
				got := prepared[i].Pick(&limits, seed, nil, nil)
				if got < 0 {
					return fmt.Errorf("draw of %d: none", n)
				}
				if ok, reason := selection.Eligible(&candidates[got], &limits); !ok {
					return fmt.Errorf("draw of %d: %v", n, reason)
				}
			}
		}
		var seed uint64
		const calls = 128
		op := bench.Op{Per: calls * lists, Run: func() {
			for range calls {
				for _, list := range prepared {
					seed++
					sink += uint64(list.Pick(&limits, seed, nil, nil))
				}
			}
		}}
		opLive := bench.Op{Per: calls * lists, Run: func() {
			for range calls {
				for i, list := range prepared {
					seed++
					sink += uint64(list.Pick(&limits, seed, nil, live[i]))
				}
			}
		}}
		m := s.meter.Measure(mapLookup(), op, opLive)
		s.report.Add(fmt.Sprintf("select_%d", n), bench.Result{
			Value: m[1].Median(), Ratio: m[1].Over(m[0]).Median(), Allocs: s.allocs(op),
			Note: fmt.Sprintf("M %.1f ns; with a caller's live counters %.1f ns", m[0].Median(), m[2].Median()),
		})
	}
	return nil
}
