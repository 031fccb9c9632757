package guideline

// textFunc gives the text of a STRING part; the state is yes, null or failed.
type textFunc func(f *Facts) (string, state)

// texts compiles a STRING part.
func (c *compiler) text(n *node) textFunc {
	switch n.op {
	case opConstant:
		text := n.constant.Text
		return func(*Facts) (string, state) { return text, yes }
	case opVariable:
		id := n.variable.id
		return func(f *Facts) (string, state) {
			text, known := f.text(id)
			return text, knownState(known)
		}
	case opAttribute:
		r := n.variable
		return func(f *Facts) (string, state) {
			text, known := f.attribute(r)
			return text, knownState(known)
		}
	case opTag:
		r := n.variable
		return func(f *Facts) (string, state) {
			stored, known := f.attribute(r)
			return jsonContent(stored), knownState(known)
		}
	case opCall:
		switch {
		case n.function.resolves:
			return resolve(n)
		case n.function.name == "SUBSTRING_INDEX":
			return c.substringIndex(n)
		}
	default:
	}
	return func(f *Facts) (string, state) {
		d, err := c.eval(n, f)
		switch {
		case err != nil:
			return "", failed
		case d.Type == Null:
			return "", null
		}
		return d.Text, yes
	}
}

func knownState(known bool) state {
	if known {
		return yes
	}
	return null
}

func resolve(n *node) textFunc {
	host := Host{n.args[0].constant.Text, n.function.v6}
	return func(f *Facts) (string, state) {
		address, found := f.Names[host]
		if !found {
			return "", failed
		}
		return address, yes
	}
}

func (c *compiler) substringIndex(n *node) textFunc {
	text, delimiter, count := c.text(n.args[0]), c.text(n.args[1]), c.number(n.args[2])
	return func(f *Facts) (string, state) {
		t, ts := text(f)
		d, ds := delimiter(f)
		n, ns := count(f)
		switch {
		case ts == failed || ds == failed || ns == failed:
			return "", failed
		case ts == null || ds == null || ns == null:
			return "", null
		}
		return substringIndex(t, d, n), yes
	}
}

// textTest is a test of a STRING part against something constant.
type textTest struct {
	needle    *node
	predicate *textPredicate
	positive  bool // false: that it does not pass
	keepsNull bool // the test of NULL is NULL, and not that it does not pass
}

// textTestOf takes an operation for a test of a text, or gives nil.
func textTestOf(n *node) *textTest {
	switch n.op {
	case opLike, opNotLike:
		return &textTest{needle: n.args[0], predicate: likePredicate(n.pattern), positive: n.op == opLike, keepsNull: n.op == opLike}
	case opCall:
		if p := callPredicate(n); p != nil {
			return &textTest{needle: n.args[0], predicate: p, positive: true, keepsNull: true}
		}
		return nil
	default:
	}
	with := comparisonOf(n)
	if with == nil || with.needle.typ != String || isNetwork(with.needle) {
		return nil
	}
	return &textTest{needle: with.needle, predicate: textsPredicate(with.constants), positive: with.equal}
}

// textTest compiles a test of a text.
func (c *compiler) textTest(t *textTest) truthFunc {
	text, p := c.text(t.needle), t.predicate
	holds, not := stateOf(t.positive), stateOf(!t.positive)
	ofNull := not
	if t.keepsNull {
		ofNull = null
	}
	if p.kind == likesAnything {
		return func(*Facts) state { return holds }
	}
	return func(f *Facts) state {
		text, known := text(f)
		switch {
		case known == failed:
			return failed
		case known == null:
			return ofNull
		case p.tooCostly(text):
			return failed
		case p.holds(text):
			return holds
		}
		return not
	}
}

// textTruth compiles a STRING part of which only the truth matters.
func (c *compiler) textTruth(n *node) truthFunc {
	if n.isTag() {
		r := n.variable
		return func(f *Facts) state {
			stored, known := f.attribute(r)
			return stateOf(known && stored != "" && jsonTruth(stored))
		}
	}
	text := c.text(n)
	return func(f *Facts) state {
		t, known := text(f)
		if known == yes {
			return stateOf(t != "")
		}
		return known
	}
}

// sameText compiles the comparison of two STRING parts.
func (c *compiler) sameText(left, right *node, equal bool) truthFunc {
	l, r := c.text(left), c.text(right)
	return func(f *Facts) state {
		a, as := l(f)
		b, bs := r(f)
		if as == failed || bs == failed {
			return failed
		}
		return stateOf((as == bs && equalFold(a, b)) == equal)
	}
}

// order compiles <, <=, > and >=. NULL is in no order.
func (c *compiler) order(n *node) truthFunc {
	left, right := n.args[0], n.args[1]
	if left.isTag() || right.isTag() {
		return c.walk(n)
	}
	if left.typ == Number {
		return c.numberOrder(n)
	}
	l, r, o := c.text(left), c.text(right), n.op
	return func(f *Facts) state {
		a, as := l(f)
		b, bs := r(f)
		switch {
		case as == failed || bs == failed:
			return failed
		case as == null || bs == null:
			return no
		}
		return stateOf(ordered(o, compareFold(a, b), 0))
	}
}
