package pattern

const (
	maxSpread = 4096 // copies of elements that come from giving each alternative at the end its own branch
	frequent  = 26   // bytes of a set that most texts have one of in their first bytes
)

// A branch is a list of elements, one behind the other. An element is a set, an assertion, an alternation, or a
// repetition x?, x{0,n}, x* or x+. An expression matches where one of its branches does.
type branch struct {
	elements []*node
	anchored bool // matches begin where the text does; a leading assertion that says so is gone
}

// branches takes an expression apart. A Set asks only whether there is a match, so what may be missing at the end of a
// branch is dropped, and also at its beginning if a match may begin anywhere.
func branches(root *node) []branch {
	return split(nil, flatten(nil, root))
}

func split(all []branch, parts []*node) []branch {
	parts = trimEnd(parts)
	if last := len(parts) - 1; last >= 0 && parts[last].kind == kindAlternate && len(parts[last].subs)*last <= maxSpread {
		for _, sub := range parts[last].subs {
			all = split(all, flatten(parts[:last:last], sub))
		}
		return all
	}
	return append(all, newBranch(parts))
}

func newBranch(parts []*node) branch {
	var b branch
	for len(parts) > 0 && parts[0].isTextBegin() {
		parts, b.anchored = parts[1:], true
	}
	b.anchored = b.anchored || anchored(concat(parts))
	if !b.anchored {
		parts = trimBegin(parts)
		if len(parts) == 1 && parts[0].kind == kindSet && parts[0].set.size() >= frequent {
			// [a-z] would be found again and again, ^[^a-z]*[a-z] is found once.
			others := &node{kind: kindRepeat, subs: []*node{setNode(negated(parts[0].set))}, max: unlimited}
			parts, b.anchored = []*node{others, parts[0]}, true
		}
	}
	b.elements = written(parts)
	return b
}

func (n *node) isTextBegin() bool {
	return n.kind == kindAssert && (n.assertion == assertTextBegin || n.assertion == assertFrom)
}

// flatten appends the parts of n, one behind the other.
func flatten(to []*node, n *node) []*node {
	switch {
	case blank(n):
	case n.kind == kindConcat || n.kind == kindCapture:
		for _, sub := range n.subs {
			to = flatten(to, sub)
		}
	case n.kind == kindRepeat && n.min == n.max:
		for range n.min {
			to = flatten(to, n.subs[0])
		}
	default:
		to = append(to, n)
	}
	return to
}

// written writes out counts, so that parts become elements.
func written(parts []*node) []*node {
	var to []*node
	for _, n := range parts {
		if n.kind != kindRepeat || n.min == 0 {
			to = append(to, n)
			continue
		}
		most, least := n.max-n.min, n.min
		if n.max == unlimited {
			most, least = unlimited, n.min-1
		}
		item := written(flatten(nil, n.subs[0]))
		for range least {
			to = append(to, item...)
		}
		to = append(to, &node{kind: kindRepeat, subs: n.subs, min: n.min - least, max: most})
	}
	return to
}

// leastOf gives the parts of a repetition that is made as seldom as it may be.
func (n *node) leastOf() []*node {
	return flatten(nil, &node{kind: kindRepeat, subs: n.subs, min: n.min, max: n.min})
}

func trimEnd(parts []*node) []*node {
	for last := len(parts) - 1; last >= 0; last = len(parts) - 1 {
		n := parts[last]
		if n.kind != kindRepeat && !nullable(n) {
			break
		}
		parts = parts[:last:last]
		if !nullable(n) {
			parts = append(parts, n.leastOf()...)
		}
	}
	return parts
}

func trimBegin(parts []*node) []*node {
	for len(parts) > 0 {
		n := parts[0]
		if n.kind != kindRepeat && !nullable(n) {
			break
		}
		parts = parts[1:]
		if !nullable(n) {
			parts = append(n.leastOf(), parts...)
		}
	}
	return parts
}
