package pattern

import (
	"cmp"
	"slices"
)

// What a node has.
const (
	hasStep   = 1 << iota // edges that take a byte
	hasFree               // edges that take nothing and ask nothing
	hasAssert             // edges that ask for an assertion
	hasAccept             // something is found here
)

// fewClasses is how many classes a set may have to become an edge for each.
const fewClasses = 2

// nfa is a nondeterministic automaton, packed for searching.
type nfa struct {
	alphabet *alphabet
	sets     []byteSet
	nodes    []packedNode // and one more, where the edges of the last one end
	edges    []packedEdge
	has      []uint8 // by node
	ids      []int32 // what is found, see found
	idsBegin []int32 // by accept: its first in ids, and one more

	entry []packedState // by symbol, if rootAsserts also by before: where it leads from rootAnywhere
	late  [][]int32     // by before and next, if rootAsserts: accepts that assertions lead to from rootAnywhere
	// rootAsserts tells that rootAnywhere has assertions, so that each state depends on what came before.
	rootAsserts bool
	anywhere    bool // a match may begin anywhere
}

// packedNode tells where the edges of a node begin: those of edgeClass, sorted, come behind all others.
type packedNode struct {
	others, classes uint32
}

// packedEdge is a trieEdge without its origin.
type packedEdge struct {
	to  int32
	arg int32 // its lowest bits are the edgeKind
}

const (
	kindBits = 3
	kindMask = 1<<kindBits - 1
)

func (e packedEdge) kind() edgeKind { return edgeKind(e.arg & kindMask) }

// packedState is a state without what it is made of.
type packedState struct {
	live, accepts []int32
}

// newNFA packs a trie.
func newNFA(t *trie) *nfa {
	words := false
	for _, e := range t.edges {
		if a := assertion(e.arg); e.kind == edgeAssert && (a == assertBoundary || a == assertNoBoundary) {
			words = true
		}
	}
	n := &nfa{alphabet: newAlphabet(t.sets, words), sets: t.sets, anywhere: t.anywhere}
	edges := n.byClass(t)
	t.edges = nil
	n.has = make([]uint8, t.nodes)
	n.nodes = make([]packedNode, t.nodes+1)
	for _, e := range edges {
		n.has[e.from] |= [...]uint8{hasAccept, hasFree, hasAssert, hasStep, hasStep}[e.kind]
		if e.kind != edgeClass {
			n.nodes[e.from].others++
		} else {
			n.nodes[e.from].classes++
		}
	}
	begin := uint32(0)
	for i := range n.nodes {
		others, classes := n.nodes[i].others, n.nodes[i].classes
		n.nodes[i] = packedNode{begin, begin + others}
		begin += others + classes
	}
	// Each place is counted up while it is filled, and set back below.
	n.edges = make([]packedEdge, len(edges))
	for _, e := range edges {
		at := &n.nodes[e.from].others
		if e.kind == edgeClass {
			at = &n.nodes[e.from].classes
		}
		n.edges[*at] = packedEdge{e.to, e.arg<<kindBits | int32(e.kind)}
		*at++
	}
	begin = 0
	for i := range n.nodes {
		end := n.nodes[i].classes
		n.nodes[i] = packedNode{begin, n.nodes[i].others}
		slices.SortFunc(n.edges[n.nodes[i].classes:end], func(a, b packedEdge) int { return cmp.Compare(a.arg, b.arg) })
		begin = end
	}
	for _, ids := range t.found {
		n.idsBegin = append(n.idsBegin, int32(len(n.ids)))
		n.ids = append(n.ids, ids...)
	}
	n.idsBegin = append(n.idsBegin, int32(len(n.ids)))
	n.enter()
	return n
}

// byClass gives the edges of a trie, those of small sets by class.
func (n *nfa) byClass(t *trie) []trieEdge {
	classes := make([][]int32, len(t.sets))
	for i := range t.sets {
		for c, b := range n.alphabet.bytes {
			if t.sets[i].has(b) {
				classes[i] = append(classes[i], int32(c))
			}
		}
	}
	edges := make([]trieEdge, 0, len(t.edges)+len(t.edges)/8)
	for _, e := range t.edges {
		if e.kind != edgeSet || len(classes[e.arg]) > fewClasses {
			edges = append(edges, e)
			continue
		}
		for _, c := range classes[e.arg] {
			edges = append(edges, trieEdge{e.from, e.to, edgeClass, c})
		}
	}
	return edges
}

// enter fills entry and late. rootAnywhere itself is part of no state: it is entered everywhere.
func (n *nfa) enter() {
	n.entry = make([]packedState, n.alphabet.symbols())
	if !n.anywhere {
		return
	}
	w := newWorker(n)
	w.begin(rootAnywhere)
	root := slices.Clone(w.live)
	if !w.pending {
		n.enterFrom(w, root, nexts)
		return
	}
	entry := make([]packedState, int(befores)*n.alphabet.symbols())
	late := make([][]int32, int(befores)*int(nexts))
	for b := range befores {
		for x := range nexts {
			w.resetState()
			from := slices.Clone(w.resolve(root, b, x))
			late[int(b)*int(nexts)+int(x)] = slices.Clone(w.accepts)
			n.entry = entry[int(b)*n.alphabet.symbols():]
			n.enterFrom(w, from, x)
		}
	}
	n.entry, n.late, n.rootAsserts = entry, late, true
}

// enterFrom fills entry with what each symbol leads to from the nodes; only those symbols that are x, or all.
func (n *nfa) enterFrom(w *worker, from []int32, x next) {
	for symbol := range n.alphabet.symbols() {
		class, ok := n.alphabet.consumed(symbol)
		if !ok || x != nexts && n.alphabet.next[symbol] != x {
			continue
		}
		w.resetState()
		w.take(from, class)
		n.entry[symbol] = packedState{slices.Clone(w.live), slices.Clone(w.accepts)}
	}
}

// memory gives the bytes of the automaton.
func (n *nfa) memory() int {
	bytes := 32*len(n.sets) + 8*len(n.nodes) + 8*len(n.edges) + len(n.has) + 4*len(n.ids) + 4*len(n.idsBegin)
	for _, e := range n.entry {
		bytes += 48 + 4*len(e.live) + 4*len(e.accepts)
	}
	return bytes
}
