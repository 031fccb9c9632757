package pattern

// Bounds of a program. Beyond them a repetition counts with a register instead of being written out.
const (
	maxCopies       = 1000   // instructions of one written-out repetition
	maxInstructions = 20_000 // of a program with written-out repetitions
	endless         = 1 << 40
)

// analyze fills shortest and cost of n and all below it. copies is the limit for one written-out repetition.
func analyze(n *node, copies int) {
	for _, sub := range n.subs {
		analyze(sub, copies)
	}
	n.cost = 2
	switch n.kind {
	case kindSet:
		n.shortest, n.cost = 1, 1
	case kindConcat:
		n.shortest, n.cost = 0, 0
		for _, sub := range n.subs {
			n.shortest = min(n.shortest+sub.shortest, endless)
			n.cost += sub.cost
		}
	case kindAlternate:
		n.shortest, n.cost = endless, 0
		for _, sub := range n.subs {
			n.shortest = min(n.shortest, sub.shortest)
			n.cost += sub.cost + 2
		}
	case kindRepeat:
		n.shortest = min(n.subs[0].shortest*n.min, endless)
		n.cost = 1
		if n.subs[0].kind != kindSet {
			n.cost = n.subs[0].cost + 4
			if n.writtenOut(copies) {
				n.cost = n.copies()*(n.subs[0].cost+2) + 2
			}
		}
	case kindCapture, kindAtomic:
		n.shortest = n.subs[0].shortest
		n.cost += n.subs[0].cost
	case kindLook:
		n.shortest = 0
		n.cost += n.subs[0].cost + 2
	case kindCondGroup, kindCondLook:
		branches := n.subs[len(n.subs)-2:]
		n.shortest = min(branches[0].shortest, branches[1].shortest)
		for _, sub := range n.subs {
			n.cost += sub.cost
		}
	case kindEmpty, kindBackref, kindAssert, kindKeep:
		n.shortest = 0
	}
}

// copies tells how often a repetition must write its item.
func (n *node) copies() int {
	if n.max == unlimited {
		return max(n.min, 1)
	}
	return n.max
}

// writtenOut tells whether a repetition of a group becomes copies of its item, or counts with a register.
func (n *node) writtenOut(limit int) bool {
	return n.copies() <= 1 || n.copies()*(n.subs[0].cost+2) <= limit
}

// width gives the length of all matches of n, if they have the same one.
func width(n *node) (length int, fixed bool) {
	switch n.kind {
	case kindEmpty, kindLook, kindAssert, kindKeep:
		return 0, true
	case kindSet:
		return 1, true
	case kindConcat:
		for _, sub := range n.subs {
			w, ok := width(sub)
			if !ok {
				return 0, false
			}
			length += w
		}
		return length, true
	case kindAlternate:
		return sameWidth(n.subs)
	case kindCondGroup, kindCondLook:
		return sameWidth(n.subs[len(n.subs)-2:])
	case kindRepeat:
		if n.max == 0 {
			return 0, true
		}
		w, ok := width(n.subs[0])
		return w * n.min, ok && n.min == n.max
	case kindCapture, kindAtomic:
		return width(n.subs[0])
	case kindBackref:
	}
	return 0, false
}

func sameWidth(nodes []*node) (length int, fixed bool) {
	length, fixed = width(nodes[0])
	for _, n := range nodes[1:] {
		w, ok := width(n)
		if !ok || w != length {
			return 0, false
		}
	}
	return length, fixed
}

// checkLooks refuses a look-behind without a fixed width, and \K in a look-around.
func checkLooks(n *node, inside bool) *SyntaxError {
	switch {
	case n.kind == kindKeep && inside:
		return syntaxErrorf(n.pos, `\K can't stand in a look-around; put it behind`)
	case n.kind == kindLook && n.behind:
		for _, branch := range branchesOf(n.subs[0]) {
			if w, ok := width(branch); !ok || w > maxCount {
				return syntaxErrorf(n.pos, `each alternative of a look-behind must have one fixed length; write alternatives of different length at its top, as in (?<=a|bc), and no *, + or ?`)
			}
		}
	}
	for _, sub := range n.subs {
		if err := checkLooks(sub, inside || n.kind == kindLook); err != nil {
			return err
		}
	}
	return nil
}

func branchesOf(n *node) []*node {
	if n.kind == kindAlternate {
		return n.subs
	}
	return []*node{n}
}

// firstBytes gives the bytes a match of n can begin with. If n can match without a byte, what comes behind n counts, too.
func firstBytes(n *node) (first byteSet, empty bool) {
	switch n.kind {
	case kindSet:
		return n.set, false
	case kindConcat:
		for _, sub := range n.subs {
			s, e := firstBytes(sub)
			first.addSet(&s)
			if !e {
				return first, false
			}
		}
		return first, true
	case kindAlternate:
		return firstOf(n.subs)
	case kindCondGroup, kindCondLook:
		return firstOf(n.subs[len(n.subs)-2:])
	case kindRepeat:
		first, empty = firstBytes(n.subs[0])
		return first, empty || n.min == 0
	case kindCapture, kindAtomic:
		return firstBytes(n.subs[0])
	case kindBackref:
		return negated(byteSet{}), true
	case kindEmpty, kindLook, kindAssert, kindKeep:
	}
	return byteSet{}, true
}

func firstOf(nodes []*node) (first byteSet, empty bool) {
	for _, n := range nodes {
		s, e := firstBytes(n)
		first.addSet(&s)
		empty = empty || e
	}
	return first, empty
}

// anchored tells whether each match begins where the text does.
func anchored(n *node) bool {
	switch n.kind {
	case kindAssert:
		return n.assertion == assertTextBegin
	case kindConcat:
		for _, sub := range n.subs {
			if anchored(sub) {
				return true
			}
			if sub.kind != kindLook && sub.kind != kindAssert && sub.kind != kindKeep && sub.kind != kindEmpty {
				return false
			}
		}
	case kindAlternate:
		for _, sub := range n.subs {
			if !anchored(sub) {
				return false
			}
		}
		return true
	case kindRepeat:
		return n.min > 0 && anchored(n.subs[0])
	case kindCapture, kindAtomic:
		return anchored(n.subs[0])
	case kindEmpty, kindSet, kindLook, kindBackref, kindCondGroup, kindCondLook, kindKeep:
	}
	return false
}
