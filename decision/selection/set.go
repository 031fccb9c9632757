package selection

// Set is a set of places in a list of candidates: bit i%64 of word i/64. The nil Set is empty.
type Set []uint64

// Add puts i, which must not be negative, into the set.
func (s *Set) Add(i int) {
	for len(*s) <= i/64 {
		*s = append(*s, 0)
	}
	(*s)[i/64] |= 1 << (i % 64)
}

// Has reports whether i is in the set.
func (s *Set) Has(i int) bool {
	w := uint(i) / 64
	return w < uint(len(*s)) && (*s)[w]>>(uint(i)%64)&1 != 0
}

// Clear empties the set and keeps its memory.
func (s *Set) Clear() { *s = (*s)[:0] }
