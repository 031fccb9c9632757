package decision

import (
	"sync"

	"github.com/pointsman/pointsman/decision/guideline"
	"github.com/pointsman/pointsman/decision/selection"
)

// Pool is the servers of one route that one kind of statements may go to.
type Pool struct {
	of    *Pools
	route int
	mode  GuidelineMode

	filled sync.Once // when it is first asked for: few routes of a large guideline are ever taken at one place
	tiers  []tier    // one for each group of the route
	rows   []int     // all members, each once
	tierOf []int     // of each of rows, the first tier that it is in
	owners []*member // of each of rows
}

// tier is the servers of one destination group. Its ring's places are rows.
type tier struct {
	strategy guideline.Strategy
	ring     *selection.Ring
}

// Rows are the members, each once, tier by tier, as indexes of the servers that NewPools was given. They must not be
// changed.
func (p *Pool) Rows() []int { return p.rows }

// Pick draws a server of the first tier that has one to give: with first-available the first one, with round-robin the one
// whose turn it is, each as often as its weight says. excluded and used speak of rows; used may be nil. Status, connections,
// latency and lag count as in Generation.Select; what hostgroups as a whole ask for does not. Without a server to give it is
// -1. It needs no memory.
func (p *Pool) Pick(limits *selection.Limits, turn uint64, excluded selection.Set, used selection.Used) (row int) {
	for i := range p.tiers {
		if row := p.tiers[i].pick(limits, turn, excluded, used); row >= 0 {
			return row
		}
	}
	return -1
}

func (t *tier) pick(limits *selection.Limits, turn uint64, excluded selection.Set, used selection.Used) int {
	if t.strategy == guideline.FirstAvailable {
		return t.ring.First(limits, excluded, used)
	}
	return t.ring.Next(limits, turn, excluded, used)
}

// fill finds the pool's members: of each tier, the primaries for writes and the others for reads. A server that is in two
// classes of a group stands twice in its tier.
func (p *Pool) fill() {
	pools := p.of
	groups := pools.guide.guideline.Routes()[p.route].Groups
	seen := make(map[int]bool)
	for i, members := range pools.guide.guideline.Tiers(p.route, pools.classesOf) {
		var rows []int
		var candidates []selection.Candidate
		for _, index := range members {
			m := &pools.members[index]
			if !p.holds(m) {
				continue
			}
			row := pools.row(m, p.mode)
			rows = append(rows, row)
			candidates = append(candidates, pools.candidate(m, row))
			if !seen[row] {
				seen[row] = true
				p.rows, p.tierOf, p.owners = append(p.rows, row), append(p.tierOf, i), append(p.owners, m)
			}
		}
		p.tiers = append(p.tiers, tier{groups[i].Strategy, selection.NewRing(candidates, rows)})
	}
}

// holds tells whether a member of the route belongs into the pool.
func (p *Pool) holds(m *member) bool {
	switch p.mode {
	case GuidelineWrite:
		return m.facts.MemberRole == guideline.Primary
	case GuidelineRead:
		return m.facts.MemberRole != guideline.Primary
	case GuidelineAll:
	}
	return true
}
