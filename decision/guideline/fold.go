package guideline

// fold computes a node whose operands are constant and turns it into a constant itself (spec 4.8). What comes back is why
// that failed, which makes the expression unusable.
func fold(n *node) string {
	if !foldable(n) {
		return ""
	}
	w := walker{}
	d, failed := w.eval(n)
	if failed != nil {
		return failed.message
	}
	v := d.Value
	n.op, n.typ, n.constant = opConstant, v.Type, &v
	n.args, n.function, n.pattern, n.regexp, n.depth = nil, nil, nil, nil, 1
	return ""
}

func foldable(n *node) bool {
	switch n.op {
	case opIn, opNotIn:
		return false
	case opCall:
		if n.function.unfolded {
			return false
		}
	case opAnd, opOr, opNot:
		for _, arg := range n.args {
			if arg.typ != Boolean {
				return false
			}
		}
	default:
	}
	for _, arg := range n.args {
		if !arg.isConstant() {
			return false
		}
	}
	return true
}
