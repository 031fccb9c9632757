package guideline

import "slices"

// NeverMatches tells whether the class's rule is true of no server, as its constants alone show. A word without "$." is a
// text, so session.user = 'app' is such a rule.
func (c *Class) NeverMatches() bool { return neverTrue(c.rule.tree) }

// NeverMatches tells whether the route's rule is true of no session, as its constants alone show.
func (r *Route) NeverMatches() bool { return neverTrue(r.rule.tree) }

// neverTrue tells whether a part is true of no facts for sure. It looks at each node once.
func neverTrue(n *node) bool {
	switch n.op {
	case opAnd:
		return slices.ContainsFunc(n.args, neverTrue)
	case opOr:
		return !slices.ContainsFunc(n.args, func(arg *node) bool { return !neverTrue(arg) })
	default:
	}
	if !looksAtNothing(n) {
		return false
	}
	w := walker{}
	d, failed := w.eval(n)
	return failed == nil && !d.truth()
}

// looksAtNothing tells whether a part is the same whatever the facts are.
func looksAtNothing(n *node) bool {
	switch n.op {
	case opVariable, opAttribute, opTag, opAbsent, opExtra:
		return false
	case opCall:
		if n.function.resolves {
			return false
		}
	default:
	}
	return !slices.ContainsFunc(n.args, func(arg *node) bool { return !looksAtNothing(arg) })
}
