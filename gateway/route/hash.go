package route

import "hash/maphash"

// Hash tells texts apart. It is seeded per process, so that nobody can prepare texts that collide. No text has the zero
// Hash.
type Hash struct{ a, b uint64 }

var seedA, seedB = maphash.MakeSeed(), maphash.MakeSeed()

// HashOf gives the hash of a text.
func HashOf(text []byte) Hash {
	return Hash{maphash.Bytes(seedA, text), maphash.Bytes(seedB, text) | 1}
}
