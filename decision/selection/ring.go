package selection

import "slices"

// Ring is a list of candidates that are taken in their order and not by chance, as the tiers of a routing guideline are. A
// candidate may be in it several times. It never changes. No server comes back by itself here, and what concerns a hostgroup
// as a whole (its most online servers, Aurora's writer, the mean latency) does not count.
type Ring struct {
	rows []row
	ends []uint64 // of each row's stretch of turns
}

// NewRing prepares a ring. places are what stands for the candidates in draws.
func NewRing(cands []Candidate, places []int) *Ring {
	g := &Ring{}
	var end uint64
	for i := range cands {
		r, ok := newRow(&cands[i], places[i])
		if !ok {
			continue
		}
		end += uint64(r.weight)
		g.rows, g.ends = append(g.rows, r), append(g.ends, end)
	}
	return g
}

// First gives the place of the first candidate that is eligible, -1 when there is none. used may be nil.
func (g *Ring) First(limits *Limits, excluded Set, used Used) int {
	return g.from(0, limits, excluded, used)
}

// Next gives the candidate whose turn it is: turns that count up go round the ring, and each candidate that is usable at all
// has as many turns one after the other as its weight says. One that is not eligible leaves its turn to the next one that is.
func (g *Ring) Next(limits *Limits, turn uint64, excluded Set, used Used) int {
	if len(g.rows) == 0 {
		return -1
	}
	turn %= g.ends[len(g.ends)-1]
	start, _ := slices.BinarySearch(g.ends, turn+1)
	return g.from(start, limits, excluded, used)
}

// from goes once round the ring.
func (g *Ring) from(start int, limits *Limits, excluded Set, used Used) int {
	var d draw
	d.excluded, d.used = excluded, used
	d.init(limits)
	for i := start; i < len(g.rows); i++ {
		if d.takes(&g.rows[i]) {
			return int(g.rows[i].place)
		}
	}
	for i := range start {
		if d.takes(&g.rows[i]) {
			return int(g.rows[i].place)
		}
	}
	return -1
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
