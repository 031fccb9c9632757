package selection

import "math/bits"

// Pick draws one of the candidates that are eligible and gives its place in the list, -1 when there is none. excluded
// are places not to draw.
//
// Each eligible candidate wins in proportion to its weight. The same arguments always give the same place; seeds that
// count up give independent draws. Which seed leads to which server may change between releases.
func Pick(cands []Candidate, limits *Limits, seed uint64, excluded Set) int {
	if len(excluded) == 0 && isPlain(len(cands), limits) {
		if i, ok := pickPlain(cands, limits, seed); ok {
			return i
		}
	}
	v, t := look(cands, limits, excluded)
	return v.draw(cands, t.weight, seed)
}

// draw draws one of the view's candidates, whose weights come to sum.
func (v *view) draw(cands []Candidate, sum, seed uint64) int {
	if sum == 0 {
		return -1
	}
	left := below(seed, sum)
	for i := range cands {
		c := &cands[i]
		if v.check(i, c) != Passed {
			continue
		}
		if left < uint64(c.Weight) {
			return i
		}
		left -= uint64(c.Weight)
	}
	return -1
}

// plainServers is how many servers pickPlain has marks for.
const plainServers = 256

// isPlain reports whether no limit asks for steps that look at all candidates.
func isPlain(servers int, l *Limits) bool {
	return servers <= plainServers && !l.HasMaxLag && (l.LatencyAwareness == 0 || servers < int(l.LatencyAwareness))
}

// pickPlain is the short way for nearly all draws: nobody is excluded, nobody may come back, no step is to be taken.
// It gives what look and draw would give, several times faster. Not ok: something is not plain.
func pickPlain(cands []Candidate, limits *Limits, seed uint64) (place int, ok bool) {
	var (
		bounds = limits.bounds()
		marks  [plainServers / 64]uint64
		online int
		sum    uint64
	)
	for i := range cands {
		c := &cands[i]
		if c.Status != Online {
			if c.ShunnedAutomatic {
				return -1, false
			}
			continue
		}
		online++
		if c.CurrentConnections < c.MaxConnections && bounds.unfit(c) == Passed {
			marks[i/64%len(marks)] |= 1 << (i % 64)
			sum += uint64(c.Weight)
		}
	}
	if sum == 0 || online > int(limits.MaxNumOnlineServers) {
		return -1, true
	}
	left := below(seed, sum)
	for i := range cands {
		if marks[i/64%len(marks)]>>(i%64)&1 == 0 {
			continue
		}
		w := uint64(cands[i].Weight)
		if left < w {
			return i, true
		}
		left -= w
	}
	return -1, true
}

// PickAt gives the first place whose cumulative weight reaches k, where k is in 1..sum of the weights, and -1 when
// none does. This is how a random number becomes a server, as in ProxySQL.
func PickAt(weights []uint32, k uint64) int {
	for i, w := range weights {
		if w > 0 && k <= uint64(w) {
			return i
		}
		k -= uint64(w)
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

// below turns a seed into a number in [0, n), every one of which is equally likely. n must not be 0.
func below(seed, n uint64) uint64 {
	for {
		seed += 0x9E3779B97F4A7C15
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
