package pattern

import "slices"

// maxSetSize is the size of the largest expression that a Set takes: bytes and places once counts are written out.
const maxSetSize = 2000

// fitsSet tells whether a Set takes an expression of classical syntax.
func fitsSet(root *node) bool { return plainGreed(root) && sizeOf(root) <= maxSetSize }

// plainGreed tells whether no quantifier is possessive. Other kinds of greed choose among matches, and a Set asks only
// whether there is one.
func plainGreed(n *node) bool {
	if n.kind == kindRepeat && n.greed == possessive && n.min != n.max {
		return false
	}
	for _, sub := range n.subs {
		if !plainGreed(sub) {
			return false
		}
	}
	return true
}

// sizeOf gives how many bytes and places an expression has once its counts are written out, or more than maxSetSize.
func sizeOf(n *node) int {
	size := 0
	for _, sub := range n.subs {
		size = min(size+sizeOf(sub), maxSetSize)
	}
	if n.kind == kindRepeat {
		size *= n.copies()
	}
	return 1 + min(size, maxSetSize)
}

// nullable tells whether n matches the empty text at every place.
func nullable(n *node) bool {
	switch n.kind { //nolint:exhaustive // A Set has no others.
	case kindEmpty:
		return true
	case kindConcat:
		for _, sub := range n.subs {
			if !nullable(sub) {
				return false
			}
		}
		return true
	case kindAlternate:
		return slices.ContainsFunc(n.subs, nullable)
	case kindRepeat:
		return n.min == 0 || nullable(n.subs[0])
	case kindCapture:
		return nullable(n.subs[0])
	}
	return false
}

// blank tells whether n matches the empty text alone, at every place.
func blank(n *node) bool {
	switch n.kind { //nolint:exhaustive // A Set has no others.
	case kindEmpty:
		return true
	case kindSet, kindAssert:
		return false
	case kindRepeat:
		if n.max == 0 {
			return true
		}
	}
	for _, sub := range n.subs {
		if !blank(sub) {
			return false
		}
	}
	return true
}
