package pattern

import "math/bits"

// Found is the outcome of one search of a Set. Its zero value is ready, and it keeps its buffers for the next search.
type Found struct {
	IDs    []int32 // the expressions that match, each once, ascending
	GaveUp bool    // the search was over its bound: those expressions that Knows leaves out must be matched by themselves
	Work   int     // done in states of many nodes, the same for the same set and text

	bits  []uint64 // one for each id
	words []uint64 // one for each of bits: it is not 0
	light []bool   // by id: known although the search gave up
}

// Has tells whether the expression with this id was found.
func (f *Found) Has(id int) bool {
	return uint(id)/64 < uint(len(f.bits)) && f.bits[id/64]&(1<<(id%64)) != 0
}

// Knows tells whether the search has an outcome for the expression with this id: all of them, unless it GaveUp.
func (f *Found) Knows(id int) bool { return !f.GaveUp || id < len(f.light) && f.light[id] }

// reset empties f for a set of n expressions.
func (f *Found) reset(n int) {
	f.clear()
	f.IDs, f.GaveUp, f.Work, f.light = f.IDs[:0], false, 0, nil
	if size := (n + 63) / 64; size > cap(f.bits) {
		f.bits = make([]uint64, size)
		f.words = make([]uint64, (size+63)/64)
	} else {
		f.bits = f.bits[:size]
		f.words = f.words[:(size+63)/64]
	}
}

// clear looks only where something was found.
func (f *Found) clear() {
	for i, word := range f.words {
		for ; word != 0; word &= word - 1 {
			f.bits[i*64+bits.TrailingZeros64(word)] = 0
		}
		f.words[i] = 0
	}
}

func (f *Found) addAll(ids []int32) {
	for _, id := range ids {
		f.bits[id/64] |= 1 << (id % 64)
		f.words[id/4096] |= 1 << (id / 64 % 64)
	}
}

func (f *Found) giveUp() {
	f.clear()
	f.GaveUp = true
}

// finish lists the ids.
func (f *Found) finish() {
	for i, word := range f.words {
		for ; word != 0; word &= word - 1 {
			at := i*64 + bits.TrailingZeros64(word)
			for ids := f.bits[at]; ids != 0; ids &= ids - 1 {
				f.IDs = append(f.IDs, int32(at*64+bits.TrailingZeros64(ids)))
			}
		}
	}
}
