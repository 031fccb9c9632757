package fastroute

import (
	"encoding/binary"
	"hash/maphash"
)

// names knows distinct names by number: a name's id is where it stands in text. All of it is plain bytes, so that the
// garbage collector has nothing to follow in a table of a million names.
type names struct {
	seed  maphash.Seed // spreads names over slots; no answer depends on it
	place perfect
	slots []nameSlot
	text  []byte // each name after its length
}

// nameSlot holds one name. The id 0 marks a free slot.
type nameSlot struct {
	tag uint32 // bits of the name's hash
	id  uint32
}

const (
	nameSlotSize = 8
	lengthSize   = 4 // bytes in front of each name
)

// id gives the number of a name, 0 when it is unknown.
func (n *names) id(name string) uint32 {
	if len(n.slots) == 0 {
		return 0
	}
	h := maphash.String(n.seed, name)
	s := n.slots[n.place.place(h)]
	if s.tag != uint32(h) || s.id == 0 || string(nameAt(n.text, s.id)) != name {
		return 0
	}
	return s.id
}

func (n *names) memory() int { return n.place.memory() + len(n.slots)*nameSlotSize + cap(n.text) }

func nameAt(text []byte, id uint32) []byte {
	text = text[id:]
	length := binary.LittleEndian.Uint32(text)
	return text[lengthSize:][:length]
}

// numbering collects names. It is an open hash table that grows.
type numbering struct {
	seed  maphash.Seed
	slots []nameSlot // a power of two of them
	ids   []uint32   // in the order in which the names came
	text  []byte     // less than 4 GiB
}

func newNumbering() numbering {
	// The byte in front keeps the id 0 free.
	return numbering{seed: maphash.MakeSeed(), slots: make([]nameSlot, 64), text: make([]byte, 1, 1024)}
}

// add gives the number of a name and numbers a new one.
func (n *numbering) add(name string) uint32 {
	at, tag := n.find(name)
	if id := n.slots[at].id; id != 0 {
		return id
	}
	id := uint32(len(n.text))
	n.text = binary.LittleEndian.AppendUint32(n.text, uint32(len(name)))
	n.text = append(n.text, name...)
	n.ids = append(n.ids, id)
	n.slots[at] = nameSlot{tag, id}
	if len(n.ids) > len(n.slots)/2 {
		n.grow()
	}
	return id
}

// find gives the place of a name's slot, or of the free slot where it belongs.
func (n *numbering) find(name string) (at uint64, tag uint32) {
	h := maphash.String(n.seed, name)
	tag = uint32(h >> 32)
	mask := uint64(len(n.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		s := n.slots[i]
		if s.id == 0 || s.tag == tag && string(nameAt(n.text, s.id)) == name {
			return i, tag
		}
	}
}

func (n *numbering) grow() {
	n.slots = make([]nameSlot, 4*len(n.slots))
	for _, id := range n.ids {
		at, tag := n.find(string(nameAt(n.text, id)))
		n.slots[at] = nameSlot{tag, id}
	}
}

// names gives what lookups use.
func (n *numbering) names() names {
	out := names{text: append(make([]byte, 0, len(n.text)), n.text...)}
	hashes := make([]uint64, len(n.ids))
	for ok := false; !ok; {
		out.seed = maphash.MakeSeed()
		for i, id := range n.ids {
			hashes[i] = maphash.Bytes(out.seed, nameAt(n.text, id))
		}
		out.place, ok = newPerfect(hashes)
	}
	out.slots = make([]nameSlot, out.place.places)
	for i, h := range hashes {
		out.slots[out.place.place(h)] = nameSlot{uint32(h), n.ids[i]}
	}
	return out
}
