package pattern

import (
	"sync"
	"sync/atomic"
)

// Set finds in one pass which of many expressions match anywhere in a text. It never changes to its users, and may be
// used by many goroutines at once.
type Set struct {
	size   int
	always []int32 // ids that match every text
	nfa    *nfa    // nil if nothing but always can be found
	limit  int     // bytes for states

	states  atomic.Pointer[states]
	writing sync.Mutex // held by who adds to states
	workers sync.Pool  // of *worker
}

// SetOptions bounds a Set.
type SetOptions struct {
	MaxMemory int // bytes for what is built while texts are searched; 0: 8 MiB
}

// NewSet makes a set of expressions. Their ids are their places in list. Those that are not InSet are never found.
func NewSet(list []*Regexp, o SetOptions) *Set {
	t := newTrie()
	for id, r := range list {
		if r.inSet {
			root, _ := r.tree()
			t.insert(int32(id), root)
		}
	}
	s := &Set{size: len(list), always: t.always, limit: min(o.MaxMemory, maxMemory)}
	if s.limit <= 0 {
		s.limit = defaultMemory
	}
	if len(t.found) == 0 {
		return s
	}
	s.nfa = newNFA(t)
	s.workers.New = func() any { return newWorker(s.nfa) }
	s.states.Store(s.firstStates(0))
	return s
}

// firstStates gives states that are none but the first.
func (s *Set) firstStates(life int) *states {
	w := s.worker()
	defer s.workers.Put(w)
	w.begin(rootBegin)
	c, _ := newStates(s.nfa, s.limit, life).keep(w, w.hash())
	return c
}

func (s *Set) worker() *worker {
	return s.workers.Get().(*worker) //nolint:forcetypeassert // The pool holds nothing else.
}

// Len gives the number of expressions, those never found included.
func (s *Set) Len() int { return s.size }

// Memory gives the bytes held now: the program, and what searches have built so far.
func (s *Set) Memory() int {
	if s.nfa == nil {
		return 4 * len(s.always)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	c := s.states.Load()
	return 4*len(s.always) + s.nfa.memory() + c.bytes(len(c.list))
}

// Find fills f with the expressions that match anywhere in text.
func (s *Set) Find(f *Found, text []byte) {
	f.reset(s.size)
	f.addAll(s.always)
	if s.nfa != nil {
		x := search{set: s, found: f, work: allowance(text)}
		x.run(text)
	}
	f.finish()
}

// FindSlow does what Find does, but follows all threads byte by byte and remembers nothing.
func (s *Set) FindSlow(f *Found, text []byte) {
	f.reset(s.size)
	f.addAll(s.always)
	if s.nfa != nil {
		x := search{set: s, found: f, work: allowance(text)}
		x.simulateAll(text)
	}
	f.finish()
}

// keep makes the state that w has computed one of the states, and gives it with all those to go on with. It is nil if
// there is no room. If from is not 0, it is the row, in states of this life, that the symbol leads from.
func (s *Set) keep(w *worker, life int, from uint32, symbol int) (*states, *state) {
	if w.cost > maxKeptCost {
		return nil, nil
	}
	hash := w.hash()
	s.writing.Lock()
	defer s.writing.Unlock()
	c, to := s.states.Load().keep(w, hash)
	if to == nil { // All is full: begin again.
		c, to = s.firstStates(c.life+1).keep(w, hash)
	}
	s.states.Store(c)
	if to != nil && from != 0 && c.life == life {
		c.set(from, symbol, to)
	}
	return c, to
}
