package rules

import "math/bits"

// table maps numbers to numbers above 0 by open addressing: mostly one look at memory for a look-up.
type table struct {
	slots []slot // a power of two of them, at most half in use
	shift uint8  // 64 less the power
	// One bit for what a hash begins with. Most keys that are not in the table end here, in few lines of the cache.
	hints     []uint64
	hintShift uint8
}

// slot with the value 0 is free.
type slot struct {
	key, value uint64
}

func newTable(entries int) table {
	power := bits.Len(uint(2 * entries))
	return table{
		slots: make([]slot, 1<<power), shift: uint8(64 - power),
		hints: make([]uint64, 1<<max(power+3-6, 0)), hintShift: uint8(64 - max(power+3, 6)),
	}
}

func hashOf(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 }

// put adds a key that is not there yet.
func (t *table) put(key, value uint64) {
	*t.find(key) = slot{key, value}
	hint := hashOf(key) >> (t.hintShift & 63)
	t.hints[hint/64] |= 1 << (hint % 64)
}

// get gives the value of a key, 0 if it is not there.
func (t *table) get(key uint64) uint64 {
	hint := hashOf(key) >> (t.hintShift & 63)
	if t.hints[hint/64]>>(hint%64)&1 == 0 {
		return 0
	}
	return t.find(key).value
}

// find gives the slot of a key, or the free slot where it belongs.
func (t *table) find(key uint64) *slot {
	mask := uint64(len(t.slots) - 1)
	for i := hashOf(key) >> (t.shift & 63); ; i++ {
		if s := &t.slots[i&mask]; s.key == key || s.value == 0 {
			return s
		}
	}
}
