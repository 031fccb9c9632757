package resultcache

import (
	"encoding/binary"
	"hash/maphash"
)

// Key names a response. Keys are seeded per process, so that nobody can prepare two statements with equal keys.
type Key struct{ a, b uint64 }

var seedA, seedB = maphash.MakeSeed(), maphash.MakeSeed()

// KeyMaker makes a key of parts, which are told apart: "ab", "c" is not "a", "bc".
type KeyMaker struct{ a, b maphash.Hash }

// NewKeyMaker makes a maker for one key.
func NewKeyMaker() *KeyMaker {
	m := new(KeyMaker)
	m.a.SetSeed(seedA)
	m.b.SetSeed(seedB)
	return m
}

// Bytes adds a part.
func (m *KeyMaker) Bytes(part []byte) {
	m.Number(uint64(len(part)))
	_, _ = m.a.Write(part) // never fails
	_, _ = m.b.Write(part)
}

// String adds a part.
func (m *KeyMaker) String(part string) {
	m.Number(uint64(len(part)))
	_, _ = m.a.WriteString(part) // never fails
	_, _ = m.b.WriteString(part)
}

// Number adds a number.
func (m *KeyMaker) Number(n uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	_, _ = m.a.Write(b[:]) // never fails
	_, _ = m.b.Write(b[:])
}

// Key gives the key of all parts.
func (m *KeyMaker) Key() Key { return Key{m.a.Sum64(), m.b.Sum64()} }
