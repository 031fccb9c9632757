package guideline

// Trace is what an evaluation saw.
type Trace struct {
	Value         Value
	Err           error
	Seen          []Variable // each variable once, in the order in which they were looked at
	Deciding      string     // the smallest part of the text that decided, or failed
	DecidingValue Value
}

// Explain evaluates and tells what was looked at.
func (e *Expression) Explain(f *Facts) Trace {
	var t Trace
	w := walker{facts: f, extra: e.extra, seen: &t.Seen}
	d, failed := w.eval(e.tree)
	t.Value, t.Err = d.Value, e.asError(failed)
	w.seen = nil
	if failed != nil {
		t.Deciding = e.text[failed.node.start:failed.node.end]
		return t
	}
	part := w.deciding(e.tree)
	d, _ = w.eval(part)
	t.Deciding, t.DecidingValue = e.text[part.start:part.end], d.Value
	return t
}

// deciding goes from a part that can be evaluated to the one inside it that alone made it what it is.
func (w *walker) deciding(n *node) *node {
	for {
		next := w.decidingArg(n)
		if next == nil {
			return n
		}
		n = next
	}
}

func (w *walker) decidingArg(n *node) *node {
	switch n.op {
	case opNot:
		return n.args[0]
	case opAnd, opOr:
		for _, arg := range n.args {
			if d, failed := w.eval(arg); failed == nil && d.truth() == (n.op == opOr) {
				return arg
			}
		}
	default:
	}
	return nil
}
