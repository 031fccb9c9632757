package fastroute

import "math/bits"

// Entry is one row.
type Entry struct {
	Username             string // empty: any user who has no row of his own
	Schemaname           string // no wildcard: empty matches the empty schema only
	FlagIn               int32
	DestinationHostgroup int32
}

// Duplicate says that two entries, by their places, have the same key. The first one counts.
type Duplicate struct {
	First, Second int
}

// Table finds destinations by key. The nil Table is empty.
type Table struct {
	users   map[string]uint32 // numbered from 1
	schemas map[string]uint32
	anyUser uint32 // the number of the empty username; 0: there is no such row
	slots   []slot // a power of two of them
	entries int
}

// slot holds one entry, its strings replaced by their numbers. The user 0 marks a free slot.
type slot struct {
	user, schema uint32
	flag         int32
	hostgroup    int32
}

// Build makes a table of entries, in any order.
func Build(entries []Entry) (*Table, []Duplicate) {
	t := &Table{users: map[string]uint32{}, schemas: map[string]uint32{}, slots: make([]slot, slotsFor(len(entries)))}
	places := make([]int, len(t.slots)) // of the entries in the slots
	var duplicates []Duplicate
	for i := range entries {
		e := &entries[i]
		user, schema := number(t.users, e.Username), number(t.schemas, e.Schemaname)
		at, found := t.find(user, schema, e.FlagIn)
		if found {
			duplicates = append(duplicates, Duplicate{First: places[at], Second: i})
			continue
		}
		t.slots[at] = slot{user, schema, e.FlagIn, e.DestinationHostgroup}
		places[at] = i
		t.entries++
	}
	t.anyUser = t.users[""]
	return t, duplicates
}

// Len gives the number of entries.
func (t *Table) Len() int {
	if t == nil {
		return 0
	}
	return t.entries
}

// Lookup gives the destination for the user, the session's schema and the flag at the end of the rules: that of the
// user's own row, else that of the row with the empty username.
func (t *Table) Lookup(username, schemaname string, flagIn int32) (hostgroup int32, ok bool) {
	if t.Len() == 0 {
		return 0, false
	}
	schema := t.schemas[schemaname]
	if schema == 0 {
		return 0, false
	}
	if user := t.users[username]; user != 0 {
		if at, found := t.find(user, schema, flagIn); found {
			return t.slots[at].hostgroup, true
		}
	}
	if t.anyUser != 0 {
		if at, found := t.find(t.anyUser, schema, flagIn); found {
			return t.slots[at].hostgroup, true
		}
	}
	return 0, false
}

// find gives the place of a key's slot, or of the free slot where it belongs.
func (t *Table) find(user, schema uint32, flag int32) (at int, found bool) {
	mask := uint64(len(t.slots) - 1)
	for i := hash(user, schema, flag) & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.user == user && s.schema == schema && s.flag == flag {
			return int(i), true
		}
		if s.user == 0 {
			return int(i), false
		}
	}
}

// hash spreads keys over all bits: users, schemas and flags are small numbers that count up.
func hash(user, schema uint32, flag int32) uint64 {
	high, low := bits.Mul64(uint64(user)<<32|uint64(schema), 0x9E3779B97F4A7C15)
	high, low = bits.Mul64(high^low^uint64(uint32(flag)), 0xD6E8FEB86659FD93)
	return high ^ low
}

// slotsFor gives a power of two that leaves at least a quarter of the slots free.
func slotsFor(entries int) int {
	return 1 << bits.Len(uint(entries+entries/3))
}

// number gives the number of a name and numbers a new one.
func number(names map[string]uint32, name string) uint32 {
	n, ok := names[name]
	if !ok {
		n = uint32(len(names) + 1)
		names[name] = n
	}
	return n
}
