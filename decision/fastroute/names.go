package fastroute

import (
	"encoding/binary"
	"hash/maphash"
)

// names knows distinct names by number: a name's id is where it stands in text. All of it is plain bytes, so that the
// garbage collector has nothing to follow in a table of a million names.
type names struct {
	salt  salt
	seed  maphash.Seed // of long names
	place perfect
	slots []nameSlot
	text  []byte // each name after its length
}

// nameSlot holds one name: a short one whole, of a long one the first and last bytes. The id 0 marks a free slot.
type nameSlot struct {
	first, last uint64 // see ends
	length      uint32
	id          uint32
}

const (
	nameSlotSize = 24
	shortName    = 16 // bytes, that ends can tell
	lengthSize   = 4  // bytes in front of each name
)

// id gives the number of a name, 0 when it is unknown.
func (n *names) id(name string) uint32 {
	if len(n.slots) == 0 {
		return 0
	}
	first, last := ends(name)
	s := &n.slots[n.place.place(n.hash(name, first, last))]
	if s.first != first || s.last != last || int(s.length) != len(name) {
		return 0
	}
	if len(name) > shortName && string(nameAt(n.text, s.id)) != name {
		return 0
	}
	return s.id
}

func (n *names) hash(name string, first, last uint64) uint64 {
	if len(name) > shortName {
		return maphash.String(n.seed, name)
	}
	// The factor is random, or else there were names such as db10 and db100 with one hash whatever the salt.
	return n.salt.hash(first, last^uint64(len(name))*(n.salt.a|1))
}

func (n *names) memory() int { return n.place.memory() + len(n.slots)*nameSlotSize + cap(n.text) }

// ends gives the first and the last bytes of a name, up to 8 of each. With the length they are all of a short name.
func ends(s string) (first, last uint64) {
	n := len(s)
	switch {
	case n >= 8:
		return eight(s), eight(s[n-8:])
	case n >= 4:
		return uint64(four(s)), uint64(four(s[n-4:]))
	case n > 0:
		return uint64(s[0]) | uint64(s[n/2])<<8 | uint64(s[n-1])<<16, 0
	}
	return 0, 0
}

// eight is one load to the processor.
func eight(s string) uint64 {
	return uint64(four(s)) | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func four(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func nameAt(text []byte, id uint32) []byte {
	text = text[id:]
	length := binary.LittleEndian.Uint32(text)
	return text[lengthSize:][:length]
}
