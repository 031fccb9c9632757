package decision

import (
	"slices"

	"github.com/pointsman/pointsman/decision/guideline"
	"github.com/pointsman/pointsman/decision/selection"
)

// Pool is the servers of one route that one kind of statements may go to. It never changes.
type Pool struct {
	of     *Pools
	tiers  []tier  // one for each group of the route
	rows   []int   // all members, each once
	tierOf []int32 // of each of rows, the first tier that it is in
	owners []int32 // of each of rows, its server's place in the members
	size   int     // places in all tiers together
}

// tier is the servers of one destination group. Its ring's places are rows.
type tier struct {
	strategy guideline.Strategy
	ring     *selection.Ring
}

// Rows are the members, each once, tier by tier, as indexes of the servers that NewPools was given. They must not be
// changed.
func (p *Pool) Rows() []int { return p.rows }

// Tier gives the first of the route's tiers, from 0, that a row is in; -1: it is not in the pool.
func (p *Pool) Tier(row int) int {
	if i := slices.Index(p.rows, row); i >= 0 {
		return int(p.tierOf[i])
	}
	return -1
}

// Pick draws a server of the first tier that has one to give: with first-available the first one, with round-robin the one
// whose turn it is among those that can be drawn, each as often as its weight says. excluded and used speak of rows; used may
// be nil. Status, connections, latency and lag count as in Generation.Select. Without a server to give it is -1. It needs no
// memory.
func (p *Pool) Pick(limits *selection.Limits, turn uint64, excluded selection.Set, used selection.Used) (row int) {
	for i := range p.tiers {
		if row := p.tiers[i].pick(limits, turn, excluded, used); row >= 0 {
			return row
		}
	}
	return -1
}

// Allows tells whether a draw may give a row now: it is eligible, and in the first tier that has a server to give. So who
// has drawn it before need not draw again.
func (p *Pool) Allows(row int, limits *selection.Limits, excluded selection.Set, used selection.Used) bool {
	for i := range p.tiers {
		if ring := p.tiers[i].ring; ring.First(limits, excluded, used) >= 0 {
			return ring.Takes(row, limits, excluded, used)
		}
	}
	return false
}

func (t *tier) pick(limits *selection.Limits, turn uint64, excluded selection.Set, used selection.Used) int {
	if t.strategy == guideline.FirstAvailable {
		return t.ring.First(limits, excluded, used)
	}
	return t.ring.Next(limits, turn, excluded, used)
}

// fill finds a pool's members: of each tier, the primaries for writes and the others for reads. A server that is in two
// classes of a group stands twice in its tier.
func (p *Pools) fill(route int, mode GuidelineMode) *Pool {
	pool := &Pool{of: p}
	groups := p.guide.guideline.Routes()[route].Groups
	seen := make(map[int]bool)
	var rows []int // of a tier
	var candidates []selection.Candidate
	for i, members := range p.guide.guideline.Tiers(route, p.classesOf) {
		rows, candidates = rows[:0], candidates[:0]
		for _, index := range members {
			m := &p.members[index]
			if !m.belongs(mode) {
				continue
			}
			row := p.row(m, mode)
			rows = append(rows, row)
			candidates = append(candidates, p.candidate(m, row))
			if !seen[row] {
				seen[row] = true
				pool.rows, pool.tierOf, pool.owners = append(pool.rows, row), append(pool.tierOf, int32(i)), append(pool.owners, int32(index))
			}
		}
		pool.tiers = append(pool.tiers, tier{groups[i].Strategy, selection.NewRing(candidates, rows)})
		pool.size += len(rows)
	}
	return pool
}

// belongs tells whether a member of a route is in the route's pool of that mode.
func (m *member) belongs(mode GuidelineMode) bool {
	switch mode {
	case GuidelineWrite:
		return m.facts.MemberRole == guideline.Primary
	case GuidelineRead:
		return m.facts.MemberRole != guideline.Primary
	case GuidelineAll:
	}
	return true
}
