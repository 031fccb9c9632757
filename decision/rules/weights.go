package rules

import "math/bits"

// WeightedFlag is one item of a rule's flagOUTs attribute.
type WeightedFlag struct {
	ID     int32
	Weight uint32
}

// weights is a list of weighted flags without those of weight 0.
type weights struct {
	flags  []WeightedFlag
	total  uint64
	random bool // more than one flag can come out
}

func newWeights(list []WeightedFlag) weights {
	var w weights
	for _, f := range list {
		if f.Weight == 0 {
			continue
		}
		w.random = w.random || (len(w.flags) > 0 && w.flags[0].ID != f.ID)
		w.flags = append(w.flags, f)
		w.total += uint64(f.Weight)
	}
	return w
}

// at gives the flag under r, 0 <= r < total.
func (w *weights) at(r uint64) int32 {
	for _, f := range w.flags {
		if r < uint64(f.Weight) {
			return f.ID
		}
		r -= uint64(f.Weight)
	}
	return w.flags[len(w.flags)-1].ID
}

// draws gives the random numbers of one question: the n-th draw depends on the seed and n alone.
type draws struct {
	state uint64
}

// below gives a number in 0..n-1. The bias of the multiplication is below n/2^64.
func (d *draws) below(n uint64) uint64 {
	d.state += 0x9e3779b97f4a7c15 // splitmix64
	z := d.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	hi, _ := bits.Mul64(z^z>>31, n)
	return hi
}
