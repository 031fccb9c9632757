package pattern

// manyNodes is the cost beyond which the work of a state counts.
const manyNodes = 32

// worker computes which nodes a symbol leads to. It belongs to one search at a time.
type worker struct {
	nfa  *nfa
	mark marks // nodes reached
	done marks // accepts reached

	// The state that was computed last.
	live    []int32 // nodes that take a byte or ask for an assertion
	accepts []int32
	before  before
	pending bool // a live node asks for an assertion
	cost    int
	late    int // nodes reached by assertions alone, if they are many

	from  []int32 // live nodes and those that assertions lead to from them
	last  []int32 // live, of the state before
	stack []int32
}

// marks is a set of small numbers that is emptied in no time.
type marks struct {
	at    []uint32
	stamp uint32
}

func (m *marks) clear() {
	if m.stamp++; m.stamp == 0 {
		clear(m.at)
		m.stamp = 1
	}
}

func (m *marks) has(i int32) bool { return m.at[i] == m.stamp }

// add tells whether i is new.
func (m *marks) add(i int32) bool {
	if m.at[i] == m.stamp {
		return false
	}
	m.at[i] = m.stamp
	return true
}

func newWorker(n *nfa) *worker {
	w := &worker{nfa: n}
	w.mark.at = make([]uint32, len(n.has))
	w.done.at = make([]uint32, len(n.idsBegin))
	return w
}

func (w *worker) resetState() {
	w.mark.clear()
	w.done.clear()
	w.live, w.accepts = w.live[:0], w.accepts[:0]
	w.pending, w.cost, w.late = false, 0, 0
}

// begin computes the state in which only node is reached, where the text begins.
func (w *worker) begin(node int32) {
	w.resetState()
	w.before = beforeBegin
	w.reach(node)
	w.finish()
}

// step computes the state behind a symbol. live, b and pending are the state before it, and not the worker's own.
func (w *worker) step(live []int32, b before, pending bool, symbol int) {
	n := w.nfa
	w.resetState()
	from := live
	if pending {
		from = w.resolve(live, b, n.alphabet.next[symbol])
		w.mark.clear()
	}
	if n.rootAsserts {
		for _, accept := range n.late[int(b)*int(nexts)+int(n.alphabet.next[symbol])] {
			w.accept(accept)
		}
	}
	if class, ok := n.alphabet.consumed(symbol); ok {
		w.take(from, class)
		w.enter(int(b), symbol)
	}
	w.before = n.alphabet.after[symbol]
	w.finish()
}

// enter reaches what a symbol leads to from rootAnywhere.
func (w *worker) enter(b, symbol int) {
	if w.nfa.rootAsserts {
		symbol += b * w.nfa.alphabet.symbols()
	}
	e := &w.nfa.entry[symbol]
	for _, at := range e.live {
		if w.mark.add(at) {
			w.join(at)
		}
	}
	for _, accept := range e.accepts {
		w.accept(accept)
	}
}

func (w *worker) finish() {
	if !w.pending && !w.nfa.rootAsserts {
		w.before = beforeOther
	}
	w.cost += w.late
	for _, accept := range w.accepts {
		w.cost += int(w.nfa.idsBegin[accept+1] - w.nfa.idsBegin[accept])
	}
}

// take reaches what a byte of the class leads to from the nodes.
func (w *worker) take(from []int32, class int32) {
	n := w.nfa
	b := n.alphabet.bytes[class]
	wanted := class<<kindBits | int32(edgeClass)
	for _, at := range from {
		begin, end := n.nodes[at].classes, n.nodes[at+1].others
		for _, e := range n.edges[n.nodes[at].others:begin] {
			if e.kind() == edgeSet && n.sets[e.arg>>kindBits].has(b) {
				w.reach(e.to)
			}
		}
		edges := n.edges[begin:end]
		for len(edges) > 8 { // sorted: half of them can't be the first wanted one
			if half := len(edges) / 2; edges[half-1].arg < wanted {
				edges = edges[half:]
			} else if edges[half].arg > wanted {
				edges = edges[:half]
			} else {
				break
			}
		}
		for _, e := range edges {
			if e.arg == wanted {
				w.reach(e.to)
			}
		}
	}
}

// reach adds a node and those that free edges lead to.
func (w *worker) reach(node int32) {
	if !w.mark.add(node) {
		return
	}
	if w.nfa.has[node] == hasStep {
		w.join(node)
		return
	}
	w.stack = append(w.stack[:0], node)
	for len(w.stack) > 0 {
		at := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		has := w.nfa.has[at]
		if has&(hasStep|hasAssert) != 0 {
			w.join(at)
		}
		if has&(hasFree|hasAccept) != 0 {
			w.follow(at)
		}
	}
}

// join adds a node to the live ones.
func (w *worker) join(at int32) {
	w.live = append(w.live, at)
	w.cost += 1 + int(w.nfa.nodes[at].classes-w.nfa.nodes[at].others)
	w.pending = w.pending || w.nfa.has[at]&hasAssert != 0
}

// follow notes what is found at a node, and puts on the stack what free edges lead to.
func (w *worker) follow(at int32) {
	for _, e := range w.nfa.edges[w.nfa.nodes[at].others:w.nfa.nodes[at].classes] {
		switch e.kind() { //nolint:exhaustive // The others take a byte, or wait for it.
		case edgeAccept:
			w.accept(e.to)
		case edgeFree:
			if w.mark.add(e.to) {
				w.stack = append(w.stack, e.to)
			}
		}
	}
}

// resolve gives the live nodes and those that assertions lead to from them between b and x.
func (w *worker) resolve(live []int32, b before, x next) []int32 {
	w.from = append(w.from[:0], live...)
	for _, at := range live {
		w.mark.add(at)
	}
	w.stack = w.stack[:0]
	for i := 0; i < len(w.from); i++ {
		at := w.from[i]
		if w.nfa.has[at]&hasAssert != 0 {
			for _, e := range w.nfa.edges[w.nfa.nodes[at].others:w.nfa.nodes[at].classes] {
				if e.kind() == edgeAssert && assertion(e.arg>>kindBits).holds(b, x) && w.mark.add(e.to) {
					w.from = append(w.from, e.to)
				}
			}
		}
		if i >= len(live) { // The live ones were followed when they joined.
			w.follow(at)
			w.from = append(w.from, w.stack...)
			w.stack = w.stack[:0]
		}
	}
	if late := len(w.from) - len(live); late > manyNodes {
		w.late = late
	}
	return w.from
}

// accept notes what is found.
func (w *worker) accept(accept int32) {
	if w.done.add(accept) {
		w.accepts = append(w.accepts, accept)
	}
}

// hash is the same for the same state, whatever the order of its nodes.
func (w *worker) hash() uint64 {
	h := uint64(w.before)<<32 | uint64(w.late)
	for _, at := range w.live {
		h += mixed(uint64(at))
	}
	for _, accept := range w.accepts {
		h += mixed(uint64(accept) | 1<<40)
	}
	return h
}

func mixed(x uint64) uint64 {
	x = (x + 1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>29) * 0xbf58476d1ce4e5b9
	return x ^ x>>32
}
