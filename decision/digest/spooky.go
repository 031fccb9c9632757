package digest

import (
	"encoding/binary"
	"math/bits"
)

// SpookyHash V2 is Bob Jenkins' non-cryptographic hash, in the public domain: https://burtleburtle.net/bob/hash/spooky.html.
// Texts below shortLimit bytes go through a smaller mixer with four words of state, longer ones through one with twelve.
const (
	seedWord   = 0xdeadbeefdeadbeef // "Not zero, odd, and not very regular".
	stateWords = 12
	blockSize  = stateWords * 8
	shortLimit = 2 * blockSize
)

// Hash gives the digest: SpookyHash V2, 64 bits, seed 0, of the text cut at maxDigestLength bytes, as in ProxySQL.
func Hash(digestText []byte, maxDigestLength int) uint64 {
	text := digestText[:max(0, min(len(digestText), maxDigestLength))]
	if len(text) < shortLimit {
		return hashShort(text)
	}
	return hashLong(text)
}

func hashShort(text []byte) uint64 {
	p := text
	a, b, c, d := uint64(0), uint64(0), uint64(seedWord), uint64(seedWord)
	for len(p) >= 32 {
		c += binary.LittleEndian.Uint64(p)
		d += binary.LittleEndian.Uint64(p[8:])
		a, b, c, d = mixShort(a, b, c, d)
		a += binary.LittleEndian.Uint64(p[16:])
		b += binary.LittleEndian.Uint64(p[24:])
		p = p[32:]
	}
	if len(p) >= 16 {
		c += binary.LittleEndian.Uint64(p)
		d += binary.LittleEndian.Uint64(p[8:])
		a, b, c, d = mixShort(a, b, c, d)
		p = p[16:]
	}
	d += uint64(len(text)) << 56
	// The up to 15 bytes that are left make two little-endian words; none at all count as two seed words.
	switch {
	case len(p) >= 8:
		c += binary.LittleEndian.Uint64(p)
		d += tail(text, len(text)-len(p)+8)
	case len(p) > 0:
		c += tail(text, len(text)-len(p))
	default:
		c += seedWord
		d += seedWord
	}
	return endShort(a, b, c, d)
}

func mixShort(a, b, c, d uint64) (uint64, uint64, uint64, uint64) {
	c = bits.RotateLeft64(c, 50) + d
	a ^= c
	d = bits.RotateLeft64(d, 52) + a
	b ^= d
	a = bits.RotateLeft64(a, 30) + b
	c ^= a
	b = bits.RotateLeft64(b, 41) + c
	d ^= b
	c = bits.RotateLeft64(c, 54) + d
	a ^= c
	d = bits.RotateLeft64(d, 48) + a
	b ^= d
	a = bits.RotateLeft64(a, 38) + b
	c ^= a
	b = bits.RotateLeft64(b, 37) + c
	d ^= b
	c = bits.RotateLeft64(c, 62) + d
	a ^= c
	d = bits.RotateLeft64(d, 34) + a
	b ^= d
	a = bits.RotateLeft64(a, 5) + b
	c ^= a
	b = bits.RotateLeft64(b, 36) + c
	d ^= b
	return a, b, c, d
}

func endShort(a, b, c, d uint64) uint64 {
	d ^= c
	c = bits.RotateLeft64(c, 15)
	d += c
	a ^= d
	d = bits.RotateLeft64(d, 52)
	a += d
	b ^= a
	a = bits.RotateLeft64(a, 26)
	b += a
	c ^= b
	b = bits.RotateLeft64(b, 51)
	c += b
	d ^= c
	c = bits.RotateLeft64(c, 28)
	d += c
	a ^= d
	d = bits.RotateLeft64(d, 9)
	a += d
	b ^= a
	a = bits.RotateLeft64(a, 47)
	b += a
	c ^= b
	b = bits.RotateLeft64(b, 54)
	c += b
	d ^= c
	c = bits.RotateLeft64(c, 32)
	d += c
	a ^= d
	d = bits.RotateLeft64(d, 25)
	a += d
	return bits.RotateLeft64(a, 63)
}

func hashLong(text []byte) uint64 {
	p := text
	var h [stateWords]uint64
	for k := 2; k < stateWords; k += 3 {
		h[k] = seedWord
	}
	for len(p) >= blockSize {
		mixLong(&h, (*[blockSize]byte)(p))
		p = p[blockSize:]
	}
	// The last block is what is left, zeros, and its length in the last byte; it is added without mixing.
	h[stateWords-1] += uint64(len(p)) << 56
	k := 0
	for ; len(p) >= 8; k++ {
		h[k] += binary.LittleEndian.Uint64(p)
		p = p[8:]
	}
	if len(p) > 0 {
		h[k] += tail(text, len(text)-len(p))
	}
	for range 3 {
		endLong(&h)
	}
	return h[0]
}

func mixLong(h *[stateWords]uint64, p *[blockSize]byte) {
	h0, h1, h2, h3, h4, h5 := h[0], h[1], h[2], h[3], h[4], h[5]
	h6, h7, h8, h9, h10, h11 := h[6], h[7], h[8], h[9], h[10], h[11]

	h0 += binary.LittleEndian.Uint64(p[0:])
	h2 ^= h10
	h11 ^= h0
	h0 = bits.RotateLeft64(h0, 11)
	h11 += h1

	h1 += binary.LittleEndian.Uint64(p[8:])
	h3 ^= h11
	h0 ^= h1
	h1 = bits.RotateLeft64(h1, 32)
	h0 += h2

	h2 += binary.LittleEndian.Uint64(p[16:])
	h4 ^= h0
	h1 ^= h2
	h2 = bits.RotateLeft64(h2, 43)
	h1 += h3

	h3 += binary.LittleEndian.Uint64(p[24:])
	h5 ^= h1
	h2 ^= h3
	h3 = bits.RotateLeft64(h3, 31)
	h2 += h4

	h4 += binary.LittleEndian.Uint64(p[32:])
	h6 ^= h2
	h3 ^= h4
	h4 = bits.RotateLeft64(h4, 17)
	h3 += h5

	h5 += binary.LittleEndian.Uint64(p[40:])
	h7 ^= h3
	h4 ^= h5
	h5 = bits.RotateLeft64(h5, 28)
	h4 += h6

	h6 += binary.LittleEndian.Uint64(p[48:])
	h8 ^= h4
	h5 ^= h6
	h6 = bits.RotateLeft64(h6, 39)
	h5 += h7

	h7 += binary.LittleEndian.Uint64(p[56:])
	h9 ^= h5
	h6 ^= h7
	h7 = bits.RotateLeft64(h7, 57)
	h6 += h8

	h8 += binary.LittleEndian.Uint64(p[64:])
	h10 ^= h6
	h7 ^= h8
	h8 = bits.RotateLeft64(h8, 55)
	h7 += h9

	h9 += binary.LittleEndian.Uint64(p[72:])
	h11 ^= h7
	h8 ^= h9
	h9 = bits.RotateLeft64(h9, 54)
	h8 += h10

	h10 += binary.LittleEndian.Uint64(p[80:])
	h0 ^= h8
	h9 ^= h10
	h10 = bits.RotateLeft64(h10, 22)
	h9 += h11

	h11 += binary.LittleEndian.Uint64(p[88:])
	h1 ^= h9
	h10 ^= h11
	h11 = bits.RotateLeft64(h11, 46)
	h10 += h0

	*h = [stateWords]uint64{h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, h10, h11}
}

// endLong is written out: a loop over the words, with its places and rotations to look up, took as long as all the rest.
func endLong(h *[stateWords]uint64) {
	h0, h1, h2, h3, h4, h5 := h[0], h[1], h[2], h[3], h[4], h[5]
	h6, h7, h8, h9, h10, h11 := h[6], h[7], h[8], h[9], h[10], h[11]

	h11 += h1
	h2 ^= h11
	h1 = bits.RotateLeft64(h1, 44)

	h0 += h2
	h3 ^= h0
	h2 = bits.RotateLeft64(h2, 15)

	h1 += h3
	h4 ^= h1
	h3 = bits.RotateLeft64(h3, 34)

	h2 += h4
	h5 ^= h2
	h4 = bits.RotateLeft64(h4, 21)

	h3 += h5
	h6 ^= h3
	h5 = bits.RotateLeft64(h5, 38)

	h4 += h6
	h7 ^= h4
	h6 = bits.RotateLeft64(h6, 33)

	h5 += h7
	h8 ^= h5
	h7 = bits.RotateLeft64(h7, 10)

	h6 += h8
	h9 ^= h6
	h8 = bits.RotateLeft64(h8, 13)

	h7 += h9
	h10 ^= h7
	h9 = bits.RotateLeft64(h9, 38)

	h8 += h10
	h11 ^= h8
	h10 = bits.RotateLeft64(h10, 53)

	h9 += h11
	h0 ^= h9
	h11 = bits.RotateLeft64(h11, 42)

	h10 += h0
	h1 ^= h10
	h0 = bits.RotateLeft64(h0, 54)

	*h = [stateWords]uint64{h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, h10, h11}
}
