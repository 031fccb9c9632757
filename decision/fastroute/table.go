package fastroute

// Entry is one row.
type Entry struct {
	Username             string // empty: any user who has no row of his own
	Schemaname           string // no wildcard: empty matches the empty schema only
	FlagIn               int32
	DestinationHostgroup int32
}

// Table finds destinations by key. The nil Table is empty.
type Table struct {
	users   names
	schemas names
	anyUser uint32 // the id of the empty username; 0: there is no such row
	salt    salt
	place   perfect
	slots   []slot
	entries int
}

// slot holds one entry. A free slot has the names 0.
type slot struct {
	names     uint64 // a pair
	flag      int32
	hostgroup int32
}

// pair holds the ids of a user and a schema.
func pair(user, schema uint32) uint64 { return uint64(user)<<32 | uint64(schema) }

const slotSize = 16

// Len gives the number of entries.
func (t *Table) Len() int {
	if t == nil {
		return 0
	}
	return t.entries
}

// Memory gives the bytes that the table takes, its names included.
func (t *Table) Memory() int {
	if t == nil {
		return 0
	}
	return t.place.memory() + len(t.slots)*slotSize + t.NamesMemory()
}

// NamesMemory gives the bytes of the distinct usernames and schemas alone.
func (t *Table) NamesMemory() int {
	if t == nil {
		return 0
	}
	return t.users.memory() + t.schemas.memory()
}

// UserID gives the number by which [Table.LookupIDs] knows a username, 0 when no entry has it. Numbers are good for
// this table only.
func (t *Table) UserID(username string) uint32 {
	if t == nil {
		return 0
	}
	return t.users.id(username)
}

// SchemaID gives the number by which [Table.LookupIDs] knows a schema, 0 when no entry has it.
func (t *Table) SchemaID(schemaname string) uint32 {
	if t == nil {
		return 0
	}
	return t.schemas.id(schemaname)
}

// Lookup gives the destination for the user, the session's schema and the flag at the end of the rules: that of the
// user's own row, else that of the row with the empty username.
func (t *Table) Lookup(username, schemaname string, flagIn int32) (hostgroup int32, ok bool) {
	schema := t.SchemaID(schemaname)
	if schema == 0 {
		return 0, false
	}
	return t.LookupIDs(t.UserID(username), schema, flagIn)
}

// LookupIDs is Lookup by the table's own numbers of the user and the schema.
func (t *Table) LookupIDs(user, schema uint32, flagIn int32) (hostgroup int32, ok bool) {
	if schema == 0 || t.Len() == 0 {
		return 0, false
	}
	if user != 0 {
		names := pair(user, schema)
		if s := t.slot(names, flagIn); s.is(names, flagIn) {
			return s.hostgroup, true
		}
	}
	if t.anyUser != 0 {
		names := pair(t.anyUser, schema)
		if s := t.slot(names, flagIn); s.is(names, flagIn) {
			return s.hostgroup, true
		}
	}
	return 0, false
}

// Has tells whether there is an entry of this very user, schema and flag.
func (t *Table) Has(username, schemaname string, flagIn int32) bool {
	user, schema := t.UserID(username), t.SchemaID(schemaname)
	names := pair(user, schema)
	return user != 0 && schema != 0 && t.slot(names, flagIn).is(names, flagIn)
}

// slot gives the only slot that can hold the key.
func (t *Table) slot(names uint64, flag int32) *slot {
	return &t.slots[t.place.place(t.salt.hash(names, uint64(uint32(flag))))]
}

func (s *slot) is(names uint64, flag int32) bool { return s.names == names && s.flag == flag }
