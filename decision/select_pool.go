package decision

import (
	"fmt"
	"slices"

	"github.com/pointsman/pointsman/decision/selection"
)

// SelectPool draws a server of a pool, in the order of its tier's strategy: round-robin goes by the seed. The result's index
// is the server's place in its hostgroup. The error is an *UnknownPoolError.
func (g *Generation) SelectPool(p *Pools, pool string, r *SelectRequest) (SelectResult, error) {
	from := p.Pool(pool)
	if from == nil {
		return SelectResult{}, &UnknownPoolError{Pool: pool}
	}
	limits := limits(r, *g.settings.DefaultMaxLatencyMS)
	var excluded selection.Set
	for _, row := range from.rows {
		if slices.Contains(r.Exclude, p.servers[row].Address()) {
			excluded.Add(row)
		}
	}
	used := func(row int) uint32 { return r.Connections[p.servers[row].Address()] }
	result := SelectResult{Index: -1}
	drawn := len(from.tiers) // the tier
	for i := range from.tiers {
		t := &from.tiers[i]
		row := t.pick(&limits, r.Seed, excluded, used)
		if row < 0 {
			continue
		}
		eligible := t.ring.Eligible(nil, &limits, excluded, used)
		slices.Sort(eligible)
		result = SelectResult{Index: p.place(row), Server: &p.servers[row], Eligible: len(slices.Compact(eligible))}
		drawn = i
		break
	}
	if r.Explain {
		result.Rejections = from.rejections(drawn, &limits, excluded, used)
	}
	return result, nil
}

// place gives a row's place in its hostgroup.
func (p *Pools) place(row int) int {
	n := 0
	for i := range row {
		if p.servers[i].HostgroupID == p.servers[row].HostgroupID {
			n++
		}
	}
	return n
}

// rejections says of all members that could not be drawn why. drawn is the tier that a server was drawn from.
func (p *Pool) rejections(drawn int, limits *selection.Limits, excluded selection.Set, used selection.Used) []Rejection {
	var out []Rejection
	for i, row := range p.rows {
		m := &p.of.members[p.owners[i]]
		why := p.of.why(m, row, limits, used)
		switch {
		case excluded.Has(row):
			why = selection.Reason{Kind: selection.Excluded}.String()
		case why == "" && int(p.tierOf[i]) > drawn:
			why = fmt.Sprintf("in tier %d, and tier %d has a server to give", p.tierOf[i]+1, drawn+1)
		}
		if why != "" {
			out = append(out, Rejection{m.address, why})
		}
	}
	return out
}

// why says for people why a row can't be drawn; empty: it can.
func (p *Pools) why(m *member, row int, limits *selection.Limits, used selection.Used) string {
	if m.unavailable != "" {
		return "unavailable: " + m.unavailable
	}
	s := &p.servers[row]
	c := s.candidate()
	if used != nil {
		c.CurrentConnections = used(row)
	}
	if ok, reason := selection.Eligible(&c, limits); !ok {
		return reason.String()
	}
	return p.overfull[s.HostgroupID]
}
