package route

import "hash/maphash"

// Hash tells texts apart. It is seeded per process, so that nobody can prepare texts that collide. No text has the zero
// Hash.
type Hash struct{ a, b uint64 }

var seedA, seedB = maphash.MakeSeed(), maphash.MakeSeed()

// HashOfDigest gives the hash of a digest text, from the digest that comes with it. Half of it is seeded, which is enough:
// the digest alone can be prepared to collide, the seeded half can't, and a text is hashed once less.
func HashOfDigest(text []byte, digest uint64) Hash {
	return Hash{maphash.Bytes(seedA, text), digest | 1}
}

// HashOf gives the hash of a text.
func HashOf(text []byte) Hash {
	return Hash{maphash.Bytes(seedA, text), maphash.Bytes(seedB, text) | 1}
}
