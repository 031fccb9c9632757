package guideline

// The compiled form of an expression is a program of steps (program.go), each a test that says which one is next: AND, OR and
// NOT cost nothing. It allocates nothing, and it makes no errors: an evaluation that fails is done again by the walker, which
// knows why. A test with no form of its own is a closure, and whatever has no quicker closure is left to the walker.

// state is what a part comes to.
type state uint8

const (
	no state = iota
	yes
	null
	failed
)

func stateOf(b bool) state {
	if b {
		return yes
	}
	return no
}

// truthFunc gives the truth of a part: null counts as no.
type truthFunc func(f *Facts) state

// compiler makes closures of a tree.
type compiler struct{ extra []Variable }

// truth compiles a part of which only the truth matters.
func (c *compiler) truth(n *node) truthFunc {
	switch n.op {
	case opConstant:
		truth := stateOf(n.constant.truth())
		return func(*Facts) state { return truth }
	case opAnd, opOr, opNot:
		return c.inner(n)
	default:
	}
	switch n.typ {
	case Boolean:
		return c.boolean(n)
	case Number:
		return c.numberTruth(n)
	case String:
		return c.textTruth(n)
	case Null, RoleType:
	}
	return c.walk(n)
}

// inner compiles AND, OR and NOT inside something that is none of them.
func (c *compiler) inner(n *node) truthFunc {
	p := c.program(n)
	return func(f *Facts) state {
		index, ok := p.run(f)
		if !ok {
			return failed
		}
		return stateOf(index == 0)
	}
}

// boolean compiles a BOOLEAN part, exactly: null is not no. AND and OR have no such form, their value may be anything.
func (c *compiler) boolean(n *node) truthFunc {
	if t := textTestOf(n); t != nil {
		return c.textTest(t)
	}
	if t := numberTestOf(n); t != nil {
		return c.numberTest(t)
	}
	if t := networkTestOf(n); t != nil {
		return c.networkTest(t)
	}
	switch n.op {
	case opConstant, opNot:
		return c.truth(n)
	case opEqual, opUnequal:
		return c.equality(n)
	case opLess, opLessEqual, opGreater, opGreaterEqual:
		return c.order(n)
	case opIn, opNotIn:
		return c.in(n)
	default:
	}
	return c.walk(n)
}

// walk leaves a part to the walker.
func (c *compiler) walk(n *node) truthFunc {
	return func(f *Facts) state {
		d, err := c.eval(n, f)
		switch {
		case err != nil:
			return failed
		case d.Type == Null:
			return null
		}
		return stateOf(d.truth())
	}
}

func (c *compiler) eval(n *node, f *Facts) (datum, *failure) {
	return f.scratch(c.extra).eval(n)
}

// comparison is = or IN, or one of their opposites, of a part with constants of its type.
type comparison struct {
	needle    *node
	constants []*node
	equal     bool
}

// comparisonOf takes an operation for a comparison with constants, or gives nil. Tags that are read as JSON are none: their
// constants may have any type.
func comparisonOf(n *node) *comparison {
	c := comparison{equal: n.op == opEqual || n.op == opIn}
	switch n.op {
	case opEqual, opUnequal:
		c.needle, c.constants = n.args[0], n.args[1:]
		if c.needle.isConstant() { // equality has no direction
			c.needle, c.constants = n.args[1], n.args[:1]
		}
	case opIn, opNotIn:
		c.needle, c.constants = n.args[0], n.args[1:]
	default:
		return nil
	}
	if c.needle.isTag() {
		return nil
	}
	for _, constant := range c.constants {
		if !constant.isConstant() || constant.typ != c.needle.typ || constant.typ == Null {
			return nil
		}
	}
	return &c
}

// equality compiles = and <> of whatever textTestOf and the like don't take.
func (c *compiler) equality(n *node) truthFunc {
	left, right := n.args[0], n.args[1]
	equal := n.op == opEqual
	if with := comparisonOf(n); with != nil {
		return c.compare(n, with)
	}
	if left.isConstant() {
		left, right = right, left
	}
	switch {
	case left.isTag() && right.isConstant():
		return tagIn(left, n.args, equal)
	case left.isTag() || right.isTag():
	case left.typ == String && right.typ == String:
		return c.sameText(left, right, equal)
	case left.typ == Number && right.typ == Number:
		return c.sameNumber(left, right, equal)
	}
	return c.walk(n)
}

// in compiles IN and NOT IN of whatever textTestOf and the like don't take.
func (c *compiler) in(n *node) truthFunc {
	if with := comparisonOf(n); with != nil {
		return c.compare(n, with)
	}
	for _, element := range n.args[1:] {
		if !element.isConstant() {
			return c.walk(n)
		}
	}
	if n.args[0].isTag() {
		return tagIn(n.args[0], n.args[1:], n.op == opIn)
	}
	return c.walk(n)
}

// compare compiles a comparison of numbers, roles or truths.
func (c *compiler) compare(n *node, with *comparison) truthFunc {
	var t truthFunc
	switch with.needle.typ {
	case Number:
		t = c.numberIn(with)
	case RoleType:
		t = roleIn(with)
	case Boolean:
		t = c.booleanIs(with)
	case String, Null:
	}
	if t == nil {
		return c.walk(n)
	}
	return t
}

// booleanIs compiles the comparison of a BOOLEAN part with TRUE or FALSE; nil when there is no quicker way.
func (c *compiler) booleanIs(with *comparison) truthFunc {
	if len(with.constants) > 1 {
		return nil
	}
	n, want, equal := with.needle, with.constants[0].constant.Bool, with.equal
	if n.op == opAnd || n.op == opOr {
		if !want { // NULL is not FALSE, and it may be NULL
			return nil
		}
		if !equal {
			n = &node{op: opNot, typ: Boolean, args: []*node{n}}
		}
		return c.truth(n)
	}
	wanted := stateOf(want)
	part := c.boolean(n)
	return func(f *Facts) state {
		t := part(f)
		if t == failed {
			return failed
		}
		return stateOf((t == wanted) == equal)
	}
}

// roleIn compiles the comparison of a role with constants; nil when there is no quicker way.
func roleIn(with *comparison) truthFunc {
	if with.needle.op != opVariable {
		return nil
	}
	var wanted uint8 // a bit for each role
	for _, constant := range with.constants {
		role, _ := ParseRole(constant.constant.Text)
		wanted |= 1 << role
	}
	id, equal := with.needle.variable.id, with.equal
	return func(f *Facts) state {
		role, known := f.role(id)
		return stateOf((known && wanted&(1<<role) != 0) == equal)
	}
}

// tagIn compiles the comparison of a tag that is read as JSON with those of the operands that are constant.
func tagIn(n *node, operands []*node, equal bool) truthFunc {
	var constants []Value
	for _, operand := range operands {
		if operand.isConstant() {
			constants = append(constants, *operand.constant)
		}
	}
	r := n.variable
	return func(f *Facts) state {
		stored, known := f.attribute(r)
		found := false
		for i := 0; known && !found && i < len(constants); i++ {
			found = storedEquals(stored, constants[i])
		}
		return stateOf(found == equal)
	}
}
