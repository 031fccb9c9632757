package pattern

import (
	"slices"
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
	list   []*Regexp
	light  *light // nil if all expressions are light, or none

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
	limit := min(o.MaxMemory, maxMemory)
	if limit <= 0 {
		limit = defaultMemory
	}
	return newSet(list, nil, limit)
}

// newSet is NewSet. With only, it is a Set of those expressions alone, whose ids are the same.
func newSet(list []*Regexp, only []bool, limit int) *Set {
	t := newTrie()
	is := make([]bool, len(list))
	heavy := 0
	for id, r := range list {
		if !r.inSet || only != nil && !only[id] {
			continue
		}
		root, _ := r.tree()
		all := branches(root)
		t.insert(int32(id), all)
		if is[id] = isLight(root, all); !is[id] {
			heavy++
		}
	}
	s := &Set{size: len(list), always: t.always, limit: limit}
	if only == nil && heavy > 0 && slices.Contains(is, true) {
		s.list, s.light = list, &light{is: is}
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
	bytes := 4*len(s.always) + s.nfa.memory() + c.bytes(len(c.list))
	if s.light != nil {
		bytes += len(s.light.is)
		if s.light.set != nil {
			bytes += s.light.set.Memory()
		}
	}
	return bytes
}

// Find fills f with the expressions that match anywhere in text.
func (s *Set) Find(f *Found, text []byte) { s.find(f, text, false) }

// FindSlow does what Find does, but follows all threads byte by byte and remembers nothing.
func (s *Set) FindSlow(f *Found, text []byte) { s.find(f, text, true) }

func (s *Set) find(f *Found, text []byte, slow bool) {
	f.reset(s.size)
	s.search(f, text, allowance(text), slow)
	if f.GaveUp {
		if light := s.lightSet(); light != nil && light.search(f, text, allowance(text), slow) {
			f.light = s.light.is
		}
	}
	f.finish()
}

// search adds to f what it finds, and gives up beyond work. It tells whether it did not.
func (s *Set) search(f *Found, text []byte, work int, slow bool) (ok bool) {
	f.addAll(s.always)
	if s.nfa == nil {
		return true
	}
	x := search{set: s, found: f, work: work}
	if slow {
		x.simulateAll(text)
	} else {
		x.run(text)
	}
	f.Work += work - max(x.work, 0)
	return x.work >= 0
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
