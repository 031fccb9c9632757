package digest

import "encoding/binary"

// A lanes value holds eight bytes of a text, or in the top bit of each byte the answer to a question about it. Answers
// are exact up to the first byte that stops a run, which is all that is looked at.
type lanes = uint64

const (
	each lanes = 0x0101010101010101
	tops       = 0x80 * each
)

// equal tells which bytes are c. Bytes from 0x80 on count as if they were 0x80 less.
func equal(low lanes, c byte) lanes { return tops - (low ^ lanes(c)*each) }

// within tells which bytes are from one to another, both below 0x80.
func within(low lanes, from, to byte) lanes {
	return (low + (0x80-lanes(from))*each) &^ (low + (0x7f-lanes(to))*each)
}

// lanesAt reads eight bytes from i on; what is not there is 0.
func lanesAt(text []byte, i int) lanes {
	if i <= len(text)-8 {
		return binary.LittleEndian.Uint64(text[i : i+8])
	}
	return tail(text, i)
}

// tail reads the bytes from i on, less than eight.
func tail(text []byte, i int) (x lanes) {
	if len(text) >= 8 {
		return binary.LittleEndian.Uint64(text[len(text)-8:]) >> (64 - 8*(len(text)-i))
	}
	for k, c := range text[i:] {
		x |= lanes(c) << (8 * k)
	}
	return x
}

// capitals tells which bytes are A-Z.
func capitals(x lanes) lanes {
	return within(x&^tops, 'A', 'Z') &^ x & tops
}
