package selection

import "math/bits"

// Pick draws one of the candidates that are eligible and gives its place in the list, -1 when there is none. excluded
// are places not to draw.
//
// Each eligible candidate wins in proportion to its weight. The same arguments always give the same place; seeds that
// count up give independent draws. Which seed leads to which server may change between releases.
func Pick(cands []Candidate, limits *Limits, seed uint64, excluded Set) int {
	v, t := look(cands, limits, excluded)
	return v.draw(cands, t.weight, seed)
}

// draw draws one of the view's candidates, whose weights come to sum.
func (v *view) draw(cands []Candidate, sum, seed uint64) int {
	if sum == 0 {
		return -1
	}
	return v.at(cands, below(seed, sum))
}

// at gives the place of the first of the view's candidates whose weight, with those of the ones before it, is above n.
// Without one it gives -1.
func (v *view) at(cands []Candidate, n uint64) int {
	for i := range cands {
		c := &cands[i]
		if v.check(i, c) != Passed {
			continue
		}
		if n < uint64(c.Weight) {
			return i
		}
		n -= uint64(c.Weight)
	}
	return -1
}

// Recover appends to places those servers that a draw with the same arguments brings back from SHUNNED to ONLINE. The
// caller then sets their status and forgets their errors.
func Recover(places []int, cands []Candidate, limits *Limits, excluded Set) []int {
	v, _ := look(cands, limits, excluded)
	for i := range cands {
		if c := &cands[i]; isBack(c, v.check(i, c)) {
			places = append(places, i)
		}
	}
	return places
}

const (
	// seedStep is between the numbers of one draw, as in splitmix64.
	seedStep = 0x9E3779B97F4A7C15
	// tryStep is between the seeds of draws that must not depend on each other.
	tryStep = 0xD1342543DE82EF95
)

// below turns a seed into a number in [0, n), every one of which is equally likely. n must not be 0.
func below(seed, n uint64) uint64 {
	for {
		seed += seedStep
		high, low := bits.Mul64(mix(seed), n)
		// The product's upper half is the number. Some lower halves would favour some numbers; they draw again.
		if low >= n || low >= -n%n {
			return high
		}
	}
}

// mix is the output function of the splitmix64 generator.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
