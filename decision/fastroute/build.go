package fastroute

import (
	"hash/maphash"
	"math/bits"
)

// Duplicate says that two entries, by their places, have the same key. The first one counts.
type Duplicate struct {
	First, Second int
}

// Build makes a table of fewer than 2^31 entries, in any order, and gives the duplicates among them in the order of
// their second places.
func Build(entries []Entry) (*Table, []Duplicate) {
	if len(entries) == 0 {
		return &Table{}, nil
	}
	b := builder{users: newNumbering(), schemas: newNumbering(), salt: newSalt()}
	b.read(entries)
	t := &Table{users: b.users.names(), schemas: b.schemas.names(), entries: len(b.keys)}
	t.anyUser = t.users.id("")
	hashes := make([]uint64, len(b.keys))
	for ok := false; !ok; {
		t.salt = newSalt()
		for i := range b.keys {
			k := &b.keys[i]
			hashes[i] = t.salt.hash(k.names, uint64(uint32(k.flag)))
		}
		t.place, ok = newPerfect(hashes)
	}
	t.slots = make([]slot, t.place.places)
	for i := range b.keys {
		k := b.keys[i]
		k.hostgroup = entries[k.hostgroup].DestinationHostgroup
		t.slots[t.place.place(hashes[i])] = k
	}
	return t, b.duplicates
}

// builder holds the distinct keys of a table to be, with an open hash table to tell them apart. A key's hostgroup is
// the place of its entry.
type builder struct {
	users, schemas numbering
	salt           salt
	keys           []slot
	index          []int32 // a power of two: 1 more than the key's place in keys; 0: free
	duplicates     []Duplicate
}

func (b *builder) read(entries []Entry) {
	b.keys = make([]slot, 0, len(entries))
	b.index = make([]int32, 2<<bits.Len(uint(len(entries))))
	for i := range entries {
		e := &entries[i]
		k := slot{pair(b.users.add(e.Username), b.schemas.add(e.Schemaname)), e.FlagIn, int32(i)}
		at := b.find(&k)
		if known := b.index[at]; known != 0 {
			b.duplicates = append(b.duplicates, Duplicate{First: int(b.keys[known-1].hostgroup), Second: i})
			continue
		}
		b.keys = append(b.keys, k)
		b.index[at] = int32(len(b.keys))
	}
}

// find gives the place of a key in the index, or the free place where it belongs.
func (b *builder) find(k *slot) uint64 {
	mask := uint64(len(b.index) - 1)
	for i := b.salt.hash(k.names, uint64(uint32(k.flag))) & mask; ; i = (i + 1) & mask {
		known := b.index[i]
		if known == 0 || b.keys[known-1].is(k.names, k.flag) {
			return i
		}
	}
}

// salt is a hash function for two words. It only spreads them: no answer depends on it.
type salt struct{ a, b uint64 }

func newSalt() salt {
	seed := maphash.MakeSeed()
	return salt{maphash.String(seed, "a"), maphash.String(seed, "b")}
}

func (s salt) hash(a, b uint64) uint64 {
	high, low := bits.Mul64(a^s.a, b^s.b)
	return high ^ low
}
