package digest

import (
	"encoding/binary"
	"testing"
)

// TestHashTails holds hashes of all lengths of the last block against the plain way to add it: as a block of its own.
func TestHashTails(t *testing.T) {
	text := make([]byte, 5*blockSize)
	for i := range text {
		text[i] = byte(i*i>>3 + 7*i)
	}
	for n := shortLimit; n <= len(text); n++ {
		var h [stateWords]uint64
		for k := 2; k < stateWords; k += 3 {
			h[k] = seedWord
		}
		rest := text[:n]
		for ; len(rest) >= blockSize; rest = rest[blockSize:] {
			mixLong(&h, (*[blockSize]byte)(rest))
		}
		var last [blockSize]byte
		copy(last[:], rest)
		last[blockSize-1] = byte(len(rest))
		for k := range h {
			h[k] += binary.LittleEndian.Uint64(last[8*k:])
		}
		for range 3 {
			endLong(&h)
		}
		if got := Hash(text[:n], len(text)); got != h[0] {
			t.Fatalf("%d bytes: %#x, want %#x", n, got, h[0])
		}
	}
}
