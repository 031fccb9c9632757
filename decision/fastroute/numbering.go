package fastroute

import (
	"encoding/binary"
	"hash/maphash"
)

// numbering collects names. It is an open hash table that grows.
type numbering struct {
	seed  maphash.Seed
	slots []numbered // a power of two of them
	list  []string   // in the order in which they came
	text  []byte     // less than 4 GiB
}

// numbered is a name with its id. The id 0 marks a free slot.
type numbered struct {
	tag uint32 // bits of the name's hash
	id  uint32
}

func newNumbering() numbering {
	// The byte in front keeps the id 0 free.
	return numbering{seed: maphash.MakeSeed(), slots: make([]numbered, 64), text: make([]byte, 1, 1024)}
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
	n.list = append(n.list, name)
	n.slots[at] = numbered{tag, id}
	if len(n.list) > len(n.slots)/2 {
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
	n.slots = make([]numbered, 4*len(n.slots))
	id := uint32(1)
	for _, name := range n.list {
		at, tag := n.find(name)
		n.slots[at] = numbered{tag, id}
		id += lengthSize + uint32(len(name))
	}
}

// names gives what lookups use.
func (n *numbering) names() names {
	out := names{text: append(make([]byte, 0, len(n.text)), n.text...)}
	hashes := make([]uint64, len(n.list))
	for ok := false; !ok; {
		out.salt, out.seed = newSalt(), maphash.MakeSeed()
		for i, name := range n.list {
			first, last := ends(name)
			hashes[i] = out.hash(name, first, last)
		}
		out.place, ok = newPerfect(hashes)
	}
	out.slots = make([]nameSlot, out.place.places)
	id := uint32(1)
	for i, name := range n.list {
		first, last := ends(name)
		out.slots[out.place.place(hashes[i])] = nameSlot{first, last, uint32(len(name)), id}
		id += lengthSize + uint32(len(name))
	}
	return out
}
