package selection

import "math"

// List is a list of candidates, prepared for many draws. It never changes: make a new one when servers come, go, or
// change their status or weight. Only the connections in use may be told with each draw.
type List struct {
	cands  []Candidate
	rows   []row // who may be drawn, as far as that never changes
	alias  *alias
	online int

	revives bool // some server may come back by itself
	aurora  bool // some server is an Aurora replica with lag
}

// Used gives the connections in use to the server at a place, instead of the candidate's own number.
type Used func(place int) uint32

// row is a candidate that nothing but the numbers here can keep from being drawn.
type row struct {
	weight    uint32
	place     int32
	used      uint32 // connections
	max       uint32
	latencyUS int64 // to be below Limits.DefaultMaxLatencyMS; 0: it passes
	lagMS     int64 // not to be above Limits.MaxLagMS; 0: it passes
}

const (
	maxTwoPass = 3 // rows that are all looked at; of more, one is drawn and looked at
	tries      = 4 // such draws before all are looked at
)

// NewList prepares a list, which must not be changed afterwards.
func NewList(cands []Candidate) *List {
	l := &List{cands: cands, rows: make([]row, 0, len(cands))}
	for i := range cands {
		c := &cands[i]
		l.revives = l.revives || c.Status == Shunned && c.ShunnedAutomatic
		l.aurora = l.aurora || c.AuroraLagUS > 0
		if c.Status != Online {
			continue
		}
		l.online++
		if r, ok := newRow(c, i); ok {
			l.rows = append(l.rows, r)
		}
	}
	if len(l.rows) > maxTwoPass {
		l.alias = newAlias(l.rows)
	}
	return l
}

// newRow makes the row of a candidate; it is not ok when the candidate can't be drawn whatever the limits and connections.
func newRow(c *Candidate, place int) (r row, ok bool) {
	r = row{
		weight: min(c.Weight, MaxWeight), place: int32(place), used: c.CurrentConnections, max: c.MaxConnections,
		latencyUS: int64(min(c.CurrentLatencyUS, math.MaxInt64)), lagMS: max(c.LagMS, 0),
	}
	own := bounds{latencyUS: c.CurrentLatencyUS + 1, lagMS: c.LagMS} // what is left are the server's own limits
	if c.MaxLatencyUS > 0 {
		r.latencyUS = 0
	}
	return r, c.Status == Online && c.Weight > 0 && c.MaxConnections > 0 && own.unfit(c) == Passed
}

// Len is the number of candidates.
func (l *List) Len() int { return len(l.cands) }

// At gives the candidate at a place. It must not be changed.
func (l *List) At(place int) *Candidate { return &l.cands[place] }

// With gives the candidates with the connections that used tells; used may be nil. They must not be changed.
func (l *List) With(used Used) []Candidate {
	if used == nil {
		return l.cands
	}
	cands := make([]Candidate, len(l.cands))
	for i := range cands {
		cands[i] = l.cands[i]
		cands[i].CurrentConnections = used(i)
	}
	return cands
}

// Pick draws as the function [Pick] does with the same candidates: each eligible one in proportion to its weight. used
// may be nil. With more than 3 that are usable, a seed may lead to another server than there.
func (l *List) Pick(limits *Limits, seed uint64, excluded Set, used Used) int {
	if !l.isPlain(limits) {
		return Pick(l.With(used), limits, seed, excluded)
	}
	if l.online > int(limits.MaxNumOnlineServers) {
		return -1
	}
	var d draw
	d.excluded, d.used = excluded, used
	d.init(limits)
	if l.alias == nil {
		var sums [maxTwoPass]uint32
		return d.twoPass(l.rows, sums[:len(l.rows)], seed)
	}
	for range tries {
		r := &l.rows[l.alias.draw(seed)]
		if r.weightIf(d.connections(r), d.latencyUS, d.lagMS) > 0 {
			return int(r.place)
		}
		seed += tryStep
	}
	if len(l.rows) > maxSums {
		return Pick(l.With(used), limits, seed, excluded)
	}
	return d.twoPassOfMany(l.rows, seed)
}

// Count gives how many candidates a draw with the same arguments chooses from.
func (l *List) Count(limits *Limits, excluded Set, used Used) int {
	if !l.isPlain(limits) {
		return Count(l.With(used), limits, excluded)
	}
	if l.online > int(limits.MaxNumOnlineServers) {
		return 0
	}
	var d draw
	d.excluded, d.used = excluded, used
	d.init(limits)
	n := 0
	for i := range l.rows {
		if d.takes(&l.rows[i]) {
			n++
		}
	}
	return n
}

// isPlain reports whether no server may come back and no limit asks for a step that looks at all candidates.
func (l *List) isPlain(limits *Limits) bool {
	return !l.revives && (limits.LatencyAwareness == 0 || len(l.cands) < int(limits.LatencyAwareness)) &&
		(!limits.HasMaxLag || !l.aurora)
}
