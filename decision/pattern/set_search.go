package pattern

import (
	"sync/atomic"
	"unsafe"
)

// Bounds of one search. What it may spend depends on the set and the text alone, and so does whether it gives up.
const (
	baseWork  = 16 << 20 // see state.cost; only states of more than manyNodes count
	workAByte = 48       // on top, for long texts

	// So many states are computed for the table, and one more for each few bytes. Then the search does without it for a
	// stretch of the text, twice as long each time: states that are never seen again cost more to keep than to compute,
	// and drive out those that are.
	maxMisses    = 64
	bytesAMiss   = 16
	firstStretch = 256
)

func allowance(text []byte) int { return baseWork + workAByte*len(text) }

// search is the state of one search.
type search struct {
	set    *Set
	found  *Found
	work   int // left
	misses int // states computed for the table since it was taken up
	over   bool

	states *states
	worker *worker // nil until it is needed
	here   state   // what the worker came to, if it can't be kept
}

// run searches with the table.
func (x *search) run(text []byte) {
	defer x.release()
	x.states = x.set.states.Load()
	at := x.states.first()
	x.visit(at)
	for i, stretch := 0, firstStretch; !x.over; stretch *= 2 {
		x.misses = 0
		i, at = x.follow(at, text, i)
		if x.over {
			return
		}
		i = x.simulate(at, text, i, i+stretch)
		if x.over {
			return
		}
		at = x.rejoin()
	}
}

// simulateAll searches without the table.
func (x *search) simulateAll(text []byte) {
	defer x.release()
	x.states = x.set.states.Load()
	first := x.states.first()
	if x.visit(first); !x.over {
		x.simulate(first, text, 0, len(text)+1)
	}
}

// follow goes with the table from a state before the byte at i. It comes back when the search is over, or with the
// place and state where no more states are to be computed.
func (x *search) follow(at *state, text []byte, i int) (int, *state) {
	a := x.set.nfa.alphabet
	body := withoutFinal(text)
	if at == &x.here {
		return i, at
	}
	row, begin := at.row, i
	for i <= len(text) {
		var entry uint32
		if i < len(body) {
			i, row, entry = scan(x.states.table, &a.class, body, i, row)
			if i == len(body) {
				continue
			}
		}
		if entry == 0 {
			entry = x.next(row, a.symbol(text, i), maxMisses+(i-begin)/bytesAMiss)
			if entry == 0 {
				return i, x.states.get(row)
			}
		}
		i++
		row = entry &^ notable
		if entry&notable != 0 {
			if x.visit(x.states.get(row)); x.over {
				return i, nil
			}
		}
	}
	x.over = true
	return i, nil
}

// scan follows the table over text from i on, up to a notable or unknown entry or the end. The row it gives is the one
// in which the entry stands.
//
// Each byte has to wait for the entry of the byte before. Go computes the address of an atomic load apart from it, which
// makes that wait a third longer, so the part of the address that is known early is computed early, and by hand. All
// rows in a table are its own, so a row and a class never lead out of it.
func scan(table []uint32, class *[256]uint8, text []byte, i int, row uint32) (int, uint32, uint32) {
	for ; i < len(text); i++ {
		column := unsafe.Pointer(&table[class[text[i]]]) //nolint:gosec // See above.
		entry := atomic.LoadUint32((*uint32)(unsafe.Add(column, uintptr(row))))
		if int32(entry) <= 0 {
			return i, row, entry
		}
		row = entry
	}
	return i, row, 0
}

// next gives the entry for what a symbol leads to, or 0 if it can't be kept, or so many misses were made already.
func (x *search) next(row uint32, symbol, misses int) uint32 {
	if entry := x.states.entry(row, symbol); entry != 0 {
		return entry
	}
	from := x.states.get(row)
	if newest := x.set.states.Load(); newest != x.states && newest.life == x.states.life {
		x.states = newest
		if entry := newest.entry(row, symbol); entry != 0 {
			return entry
		}
	}
	if x.misses == misses {
		return 0
	}
	x.misses++
	w := x.borrow()
	w.step(from.live, from.before, from.pending, symbol)
	states, to := x.set.keep(w, x.states.life, row, symbol)
	if to == nil {
		return 0
	}
	x.states = states
	return states.toward(to)
}

// visit notes what is found at a state.
func (x *search) visit(s *state) {
	x.look(s.accepts, int(s.cost), len(s.live))
}

// look notes what is found, counts the work, and finds out whether the search is over.
func (x *search) look(accepts []int32, cost, live int) {
	n := x.set.nfa
	for _, accept := range accepts {
		x.found.addAll(n.ids[n.idsBegin[accept]:n.idsBegin[accept+1]])
	}
	if cost > manyNodes {
		if x.work -= cost; x.work < 0 {
			x.found.giveUp()
			x.over = true
		}
	}
	if live == 0 && !n.anywhere {
		x.over = true
	}
}

// simulate goes from a state before the byte at i up to end, or to the end of the text, without the table.
func (x *search) simulate(from *state, text []byte, i, end int) int {
	w := x.borrow()
	live, b, pending := from.live, from.before, from.pending
	for ; i < end; i++ {
		if i > len(text) {
			x.over = true
			break
		}
		w.step(live, b, pending, x.set.nfa.alphabet.symbol(text, i))
		if x.look(w.accepts, w.cost, len(w.live)); x.over {
			break
		}
		live, b, pending = w.live, w.before, w.pending
		w.live, w.last = w.last, w.live
	}
	w.live, w.last = w.last, w.live
	return i
}

// rejoin gives the state that the worker came to, which is x.here if it can't be kept.
func (x *search) rejoin() *state {
	w := x.worker
	states, to := x.set.keep(w, 0, 0, 0)
	if to != nil {
		x.states = states
		return to
	}
	w.live, w.last = w.last, w.live // The next step must not write over it.
	x.here = state{live: w.last, before: w.before, pending: w.pending}
	return &x.here
}

func (x *search) borrow() *worker {
	if x.worker == nil {
		x.worker = x.set.worker()
	}
	return x.worker
}

func (x *search) release() {
	if x.worker != nil {
		x.set.workers.Put(x.worker)
		x.worker = nil
	}
}
