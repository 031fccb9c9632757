package selection

// Ring is a list of candidates that are taken in their order and not by chance, as the tiers of a routing guideline are. A
// candidate may be in it several times. It never changes. No server comes back by itself here, and what concerns a hostgroup
// as a whole (its most online servers, Aurora's writer, the mean latency) does not count.
type Ring struct{ rows []row }

// NewRing prepares a ring. places are what stands for the candidates in draws.
func NewRing(cands []Candidate, places []int) *Ring {
	g := &Ring{rows: make([]row, 0, len(cands))}
	for i := range cands {
		if r, ok := newRow(&cands[i], places[i]); ok {
			g.rows = append(g.rows, r)
		}
	}
	return g
}

// First gives the place of the first candidate that is eligible, -1 when there is none. used may be nil.
func (g *Ring) First(limits *Limits, excluded Set, used Used) int {
	var d draw
	d.excluded, d.used = excluded, used
	d.init(limits)
	for i := range g.rows {
		if d.takes(&g.rows[i]) {
			return int(g.rows[i].place)
		}
	}
	return -1
}

// Takes tells whether the candidate of a place is in the ring and eligible.
func (g *Ring) Takes(place int, limits *Limits, excluded Set, used Used) bool {
	var d draw
	d.excluded, d.used = excluded, used
	d.init(limits)
	for i := range g.rows {
		if r := &g.rows[i]; int(r.place) == place {
			return d.takes(r)
		}
	}
	return false
}

// Next gives the candidate whose turn it is: turns that count up go round those that are eligible, and each of them has as
// many turns one after the other as its weight says. So the share of one that is not eligible goes to all others by their
// weights.
func (g *Ring) Next(limits *Limits, turn uint64, excluded Set, used Used) int {
	var d draw
	d.excluded, d.used = excluded, used
	d.init(limits)
	var sum uint64
	for i := range g.rows {
		sum += uint64(d.weight(&g.rows[i]))
	}
	if sum == 0 {
		return -1
	}
	turn %= sum
	last := -1 // used may tell less the second time
	for i := range g.rows {
		weight := uint64(d.weight(&g.rows[i]))
		if weight == 0 {
			continue
		}
		last = int(g.rows[i].place)
		if turn < weight {
			return last
		}
		turn -= weight
	}
	return last
}

// Eligible appends the places of all that could be taken, each as often as it is in the ring.
func (g *Ring) Eligible(places []int, limits *Limits, excluded Set, used Used) []int {
	var d draw
	d.excluded, d.used = excluded, used
	d.init(limits)
	for i := range g.rows {
		if d.takes(&g.rows[i]) {
			places = append(places, int(g.rows[i].place))
		}
	}
	return places
}
