package pattern

import "encoding/binary"

// maxKey is how long the key of an element may be for the element to be shared.
const maxKey = 1 << 10

// Nodes that every trie has.
const (
	rootAnywhere = iota // entered at each place of the text
	rootBegin           // entered where the text begins
	roots
)

// edgeKind says what an edge between two nodes needs.
type edgeKind uint8

const (
	edgeAccept edgeKind = iota // not to a node: what is found here
	edgeFree                   // nothing
	edgeAssert                 // an assertion holds
	edgeSet                    // one byte of a set
	edgeClass                  // one byte of a class
)

// trieEdge leads from one node to another.
type trieEdge struct {
	from, to int32
	kind     edgeKind
	arg      int32 // edgeAssert: the assertion; edgeSet: the place in sets; edgeClass: the class
}

// trie is a nondeterministic automaton under construction. Branches that begin with the same elements share the nodes
// for them, so that of a thousand expressions that are in their first .* only one thread is alive.
type trie struct {
	nodes    int32
	edges    []trieEdge
	sets     []byteSet
	found    [][]int32 // by edgeAccept.to: ids of expressions
	always   []int32   // ids of expressions that match every text
	anywhere bool      // a branch begins at rootAnywhere

	setIndex map[byteSet]int32
	keys     map[string]int32 // of elements that are no sets
	numbers  int32            // of such keys
	children map[uint64]int32 // by node and key of the element
	foundAt  map[int32]int32  // by node: its place in found
	key      []byte
}

func newTrie() *trie {
	return &trie{
		nodes: roots, setIndex: map[byteSet]int32{}, keys: map[string]int32{},
		children: map[uint64]int32{}, foundAt: map[int32]int32{},
	}
}

// insert adds an expression by its branches.
func (t *trie) insert(id int32, all []branch) {
	for _, b := range all {
		if len(b.elements) == 0 {
			t.always = append(t.always, id)
			return
		}
	}
	for _, b := range all {
		at := int32(rootBegin)
		if !b.anchored {
			at, t.anywhere = rootAnywhere, true
		}
		t.accept(t.walk(at, b.elements), id)
	}
}

// walk gives the node behind the elements.
func (t *trie) walk(at int32, elements []*node) int32 {
	for _, n := range elements {
		at = t.child(at, n)
	}
	return at
}

// child gives the node behind one element, which nothing else leads to.
func (t *trie) child(at int32, n *node) int32 {
	edge := uint64(at)<<32 | uint64(t.elementKey(n))
	if child, ok := t.children[edge]; ok {
		return child
	}
	to := t.node()
	t.children[edge] = to
	if n.kind != kindRepeat || n.max != unlimited {
		t.connect(at, n, to)
		return to
	}
	item := n.subs[0]
	switch {
	case n.min == 0:
		t.edge(at, to, edgeFree, 0)
		t.connect(to, item, to)
	case item.kind == kindSet:
		t.connect(at, item, to)
		t.connect(to, item, to)
	default:
		head := t.node()
		t.edge(at, head, edgeFree, 0)
		t.connect(head, item, to)
		t.edge(to, head, edgeFree, 0)
	}
	return to
}

// connect adds what leads from one node over n to another that exists. The nodes between are shared where walk finds
// them: what they stand for is the way to them, whatever comes behind.
func (t *trie) connect(from int32, n *node, to int32) {
	switch {
	case blank(n):
		t.edge(from, to, edgeFree, 0)
	case n.kind == kindSet:
		t.edge(from, to, edgeSet, t.set(n.set))
	case n.kind == kindAssert:
		t.edge(from, to, edgeAssert, int32(n.assertion))
	case n.kind == kindAlternate:
		for _, sub := range n.subs {
			t.edge(t.walk(from, written(flatten(nil, sub))), to, edgeFree, 0)
		}
	case n.kind == kindRepeat && n.max == unlimited && n.min <= 1:
		t.edge(t.child(from, n), to, edgeFree, 0)
	case n.kind == kindRepeat && n.min == 0:
		for range n.max - 1 {
			next := t.node()
			t.edge(from, to, edgeFree, 0)
			t.connect(from, n.subs[0], next)
			from = next
		}
		t.edge(from, to, edgeFree, 0)
		t.connect(from, n.subs[0], to)
	default:
		elements := written(flatten(nil, n))
		last := len(elements) - 1
		t.connect(t.walk(from, elements[:last]), elements[last], to)
	}
}

func (t *trie) node() int32 {
	t.nodes++
	return t.nodes - 1
}

func (t *trie) edge(from, to int32, kind edgeKind, arg int32) {
	if kind != edgeFree || from != to {
		t.edges = append(t.edges, trieEdge{from, to, kind, arg})
	}
}

func (t *trie) accept(at, id int32) {
	index, ok := t.foundAt[at]
	if !ok {
		index = int32(len(t.found))
		t.foundAt[at] = index
		t.found = append(t.found, nil)
		t.edge(at, index, edgeAccept, 0)
	}
	if ids := t.found[index]; len(ids) == 0 || ids[len(ids)-1] != id {
		t.found[index] = append(ids, id)
	}
}

func (t *trie) set(s byteSet) int32 {
	index, ok := t.setIndex[s]
	if !ok {
		index = int32(len(t.sets))
		t.setIndex[s] = index
		t.sets = append(t.sets, s)
	}
	return index
}

// elementKey gives elements that are alike the same number, unless they are long.
func (t *trie) elementKey(n *node) uint32 {
	if n.kind == kindSet {
		return uint32(t.set(n.set)) << 1
	}
	t.key = t.appendKey(t.key[:0], n)
	index, ok := t.keys[string(t.key)]
	if !ok {
		index = t.numbers
		t.numbers++
		if len(t.key) < maxKey {
			t.keys[string(t.key)] = index
		}
	}
	return uint32(index)<<1 | 1
}

// appendKey spells n: two nodes are spelled the same only if they match the same texts, or are long.
func (t *trie) appendKey(key []byte, n *node) []byte {
	if len(key) >= maxKey {
		return key
	}
	if n.kind == kindCapture {
		return t.appendKey(key, n.subs[0])
	}
	key = append(key, byte(n.kind))
	switch n.kind { //nolint:exhaustive // The others have nothing but subs.
	case kindSet:
		key = binary.AppendUvarint(key, uint64(t.set(n.set)))
	case kindAssert:
		key = append(key, byte(n.assertion))
	case kindRepeat:
		key = binary.AppendVarint(key, int64(n.min))
		key = binary.AppendVarint(key, int64(n.max))
	}
	key = binary.AppendUvarint(key, uint64(len(n.subs)))
	for _, sub := range n.subs {
		key = t.appendKey(key, sub)
	}
	return key
}
