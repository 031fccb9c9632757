package pattern

import (
	"sync/atomic"
	"unsafe"
)

// Bounds of what is kept.
const (
	defaultMemory = 8 << 20
	maxMemory     = 1 << 30 // so that a row fits into an entry
	firstRows     = 32      // of a table, doubled as it grows
	leastStates   = 4       // that are kept however little memory is granted
	maxKeptCost   = 4096    // of a state
	chunk         = 1 << 12 // nodes whose memory is taken at once, at most
)

// state is a set of nodes that a text can lead to, and what is found where it does. It never changes.
type state struct {
	live    []int32
	accepts []int32
	before  before
	pending bool
	late    int32
	cost    int32  // work to find out what comes next, and number of what is found
	row     uint32 // where its row begins in the table, in bytes
	hash    uint64
}

// is tells whether w has computed this state.
func (s *state) is(w *worker) bool {
	if len(s.live) != len(w.live) || len(s.accepts) != len(w.accepts) || s.before != w.before || int(s.late) != w.late {
		return false
	}
	for _, at := range s.live {
		if !w.mark.has(at) {
			return false
		}
	}
	for _, accept := range s.accepts {
		if !w.done.has(accept) {
			return false
		}
	}
	return true
}

// An entry of the table is 0 while nobody knows it, or the row of a state. Its sign is set if the state has to be looked
// at: something is found there, or nothing can be found behind it, or its work is counted.
const (
	notable   = 1 << 31
	entrySize = 4 // bytes
)

// states is a deterministic automaton that is written while texts are searched. Readers take no lock: what they can
// reach doesn't change, but for entries that become known. Writers hold the mutex of the Set.
//
// Each row has an entry for each symbol, and one more that holds its place in list.
type states struct {
	table []uint32
	list  []*state

	stride   int
	anywhere bool // of the nfa
	life     int  // counts how often all states were dropped

	// For writers alone.
	used   int      // of list; 0 is none
	places []uint32 // in list, by hash; a power of two of them, at least half empty
	nodes  []int32  // room for those of states to come
	states []state  // room for states to come
	memory int      // bytes of the states themselves
	limit  int
}

func newStates(n *nfa, limit, life int) *states {
	c := &states{stride: n.alphabet.symbols() + 1, anywhere: n.anywhere, life: life, limit: limit, used: 1}
	c.resize(firstRows)
	return c
}

// resize makes room for more rows. Readers may go on with the old ones.
func (c *states) resize(rows int) {
	c.table = append(make([]uint32, 0, rows*c.stride), c.table...)[:rows*c.stride]
	c.list = append(make([]*state, 0, rows), c.list...)[:rows]
	size := 2 * firstRows
	for size < 2*rows {
		size *= 2
	}
	if size == len(c.places) {
		return
	}
	c.places = make([]uint32, size)
	for i, s := range c.list[1:c.used] {
		place := c.place(s.hash, nil)
		c.places[place] = uint32(i + 1)
	}
}

// bytes tells how much memory is held, with so many rows.
func (c *states) bytes(rows int) int {
	return rows*c.stride*entrySize + rows*int(unsafe.Sizeof((*state)(nil))) + 4*len(c.places) + c.memory
}

// get gives the state of a row.
func (c *states) get(row uint32) *state { return c.list[c.table[int(row)/entrySize+c.stride-1]] }

// first gives the state where a text begins.
func (c *states) first() *state { return c.list[1] }

// entry gives what is known about where a symbol leads.
func (c *states) entry(row uint32, symbol int) uint32 {
	return atomic.LoadUint32(&c.table[int(row)/entrySize+symbol])
}

// set makes known where a symbol leads.
func (c *states) set(from uint32, symbol int, to *state) {
	atomic.StoreUint32(&c.table[int(from)/entrySize+symbol], c.toward(to))
}

// toward gives the entry that leads to a state.
func (c *states) toward(to *state) uint32 {
	if len(to.accepts) > 0 || to.cost > manyNodes || len(to.live) == 0 && !c.anywhere {
		return to.row | notable
	}
	return to.row
}

// place gives where in places the state that w has computed stands, or is to stand. Without w it is new.
func (c *states) place(hash uint64, w *worker) int {
	mask := len(c.places) - 1
	for i := int(hash) & mask; ; i = (i + 1) & mask {
		at := c.places[i]
		if at == 0 || w != nil && c.list[at].hash == hash && c.list[at].is(w) {
			return i
		}
	}
}

// keep gives the state that w has computed, and the states to go on with, which are others if the table had to grow. The
// state is nil if there is no room for it.
func (c *states) keep(w *worker, hash uint64) (*states, *state) {
	place := c.place(hash, w)
	if at := c.places[place]; at != 0 {
		return c, c.list[at]
	}
	size := int(unsafe.Sizeof(state{})) + 4*(len(w.live)+len(w.accepts))
	if c.used == len(c.list) {
		rows := 2 * c.used
		if c.bytes(rows)+size > c.limit {
			rows = c.used + (c.limit-c.bytes(c.used)-size)/(c.stride*entrySize+16)
		}
		if rows < c.used+c.used/8 {
			return c, nil
		}
		grown := *c
		grown.resize(rows)
		c = &grown
		place = c.place(hash, nil)
	}
	if c.used > leastStates && c.bytes(len(c.list))+size > c.limit {
		return c, nil
	}
	if len(c.states) == 0 {
		c.states = make([]state, min(len(c.list)-c.used, chunk/64))
	}
	s := &c.states[0]
	c.states = c.states[1:]
	*s = state{
		live: c.copied(w.live), accepts: c.copied(w.accepts), before: w.before, pending: w.pending,
		late: int32(w.late), cost: int32(w.cost), row: uint32(c.used * c.stride * entrySize), hash: hash,
	}
	c.table[c.used*c.stride+c.stride-1] = uint32(c.used)
	c.list[c.used] = s
	c.places[place] = uint32(c.used)
	c.used++
	c.memory += size
	return c, s
}

// copied copies nodes into memory that many states share.
func (c *states) copied(nodes []int32) []int32 {
	if len(nodes) == 0 {
		return nil
	}
	if len(nodes) > cap(c.nodes)-len(c.nodes) {
		if len(nodes) > chunk/8 {
			return append([]int32(nil), nodes...)
		}
		c.nodes = make([]int32, 0, min(chunk, chunk/64*c.used))
	}
	begin := len(c.nodes)
	c.nodes = append(c.nodes, nodes...)
	return c.nodes[begin:len(c.nodes):len(c.nodes)]
}
