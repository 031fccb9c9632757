package core

import (
	"math/rand/v2"

	"github.com/pointsman/pointsman/decision/digest"
	"github.com/pointsman/pointsman/deploy/bench"
)

// sink takes results, so that no work can be left out.
var sink uint64 //nolint:unused // that nothing reads it is its purpose

// random is a stream of numbers that is the same in every run.
func random(stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(0x706f696e74736d61, stream)) //nolint:gosec // every run shall measure the same
}

// tableScan is the baseline S: a table lookup for each byte that has to wait for the one before. No automaton that
// looks at each byte can be faster.
func tableScan(texts [][]byte) bench.Op {
	var table [256]byte
	for i, v := range random(1).Perm(len(table)) {
		table[i] = byte(v)
	}
	return bench.Op{Per: len(texts), Run: func() {
		var state byte
		for _, text := range texts {
			for _, c := range text {
				state = table[state^c]
			}
		}
		sink += uint64(state)
	}}
}

// mapLookup is the baseline M: Go's map from uint64 with 10,000 entries, 1,000 of which are asked for.
func mapLookup() bench.Op {
	r := random(2)
	m := make(map[uint64]uint64)
	hot := make([]uint64, 0, 1024)
	for len(m) < 10_000 {
		k := r.Uint64()
		m[k] = uint64(len(m))
		if len(hot) < cap(hot) {
			hot = append(hot, k)
		}
	}
	return bench.Op{Per: len(hot), Run: func() {
		var sum uint64
		for _, k := range hot {
			sum += m[k]
		}
		sink += sum
	}}
}

// byteSum is the baseline B.
func byteSum(texts [][]byte) bench.Op {
	return bench.Op{Per: len(texts), Run: func() {
		var sum uint64
		for _, text := range texts {
			for _, c := range text {
				sum += uint64(c)
			}
		}
		sink += sum
	}}
}

// digests is the baseline P: normal form and hash of each statement.
func digests(texts [][]byte, options *digest.Options) bench.Op {
	var buffer digest.Buffer
	return bench.Op{Per: len(texts), Run: func() {
		var sum uint64
		for _, text := range texts {
			sum += digest.Compute(&buffer, text, options).Hash
		}
		sink += sum
	}}
}
