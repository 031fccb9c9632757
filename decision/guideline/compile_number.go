package guideline

import (
	"math"
	"slices"
)

// numberFunc gives the number of a NUMBER part; the state is yes, null or failed.
type numberFunc func(f *Facts) (float64, state)

// number compiles a NUMBER part.
func (c *compiler) number(n *node) numberFunc {
	switch n.op {
	case opConstant:
		number := n.constant.Number
		return func(*Facts) (float64, state) { return number, yes }
	case opVariable:
		id := n.variable.id
		return func(f *Facts) (float64, state) {
			number, known := f.number(id)
			return number, knownState(known)
		}
	case opNegate:
		part := c.number(n.args[0])
		return func(f *Facts) (float64, state) {
			number, known := part(f)
			return -number, known
		}
	case opAdd, opSubtract, opMultiply, opDivide, opModulo:
		return c.arithmetic(n)
	case opCall:
		if n.function.name == "NUMBER" {
			return c.toNumber(n)
		}
	default:
	}
	return func(f *Facts) (float64, state) {
		d, err := c.eval(n, f)
		switch {
		case err != nil:
			return 0, failed
		case d.Type == Null:
			return 0, null
		}
		return d.Number, yes
	}
}

func (c *compiler) arithmetic(n *node) numberFunc {
	left, right, o := c.number(n.args[0]), c.number(n.args[1]), n.op
	return func(f *Facts) (float64, state) {
		a, as := left(f)
		b, bs := right(f)
		switch {
		case as == failed || bs == failed:
			return 0, failed
		case as == null || bs == null:
			return 0, null
		}
		return calculate(o, a, b), yes
	}
}

func (c *compiler) toNumber(n *node) numberFunc {
	text := c.text(n.args[0])
	return func(f *Facts) (float64, state) {
		t, known := text(f)
		if known != yes {
			return 0, known
		}
		number, ok := toNumber(t)
		if !ok {
			return 0, failed
		}
		return number, yes
	}
}

// numberTruth compiles a NUMBER part of which only the truth matters.
func (c *compiler) numberTruth(n *node) truthFunc {
	number := c.number(n)
	return func(f *Facts) state {
		v, known := number(f)
		if known != yes {
			return known
		}
		return stateOf(math.Abs(v) > epsilon)
	}
}

// numberIn compiles the comparison of a NUMBER part with several constants.
func (c *compiler) numberIn(with *comparison) truthFunc {
	number, equal := c.number(with.needle), with.equal
	wanted := make([]float64, len(with.constants))
	for i, constant := range with.constants {
		wanted[i] = constant.constant.Number
	}
	return func(f *Facts) state {
		v, known := number(f)
		if known == failed {
			return failed
		}
		return stateOf((known == yes && slices.Contains(wanted, v)) == equal)
	}
}

// sameNumber compiles the comparison of two NUMBER parts.
func (c *compiler) sameNumber(left, right *node, equal bool) truthFunc {
	l, r := c.number(left), c.number(right)
	return func(f *Facts) state {
		a, as := l(f)
		b, bs := r(f)
		if as == failed || bs == failed {
			return failed
		}
		return stateOf((as == null && bs == null || as == yes && bs == yes && a == b) == equal)
	}
}

// numberOrder compiles the ordering of two NUMBER parts.
func (c *compiler) numberOrder(n *node) truthFunc {
	l, r, o := c.number(n.args[0]), c.number(n.args[1]), n.op
	return func(f *Facts) state {
		a, as := l(f)
		b, bs := r(f)
		switch {
		case as == failed || bs == failed:
			return failed
		case as == null || bs == null:
			return no
		}
		return stateOf(ordered(o, a, b))
	}
}

// numberTest is the test whether a NUMBER part lies in a range, or else outside it or is NULL.
type numberTest struct {
	needle    *node
	low, high float64 // both included; NaN is in no range, and makes none
	inside    bool
}

// numberTestOf takes a comparison with one constant for a test of a number, or gives nil.
func numberTestOf(n *node) *numberTest {
	if with := comparisonOf(n); with != nil && with.needle.typ == Number && len(with.constants) == 1 {
		want := with.constants[0].constant.Number
		return &numberTest{needle: with.needle, low: want, high: want, inside: with.equal}
	}
	if n.op < opLess || n.op > opGreaterEqual || n.args[0].typ != Number || n.args[1].typ != Number {
		return nil
	}
	left, right, o := n.args[0], n.args[1], n.op
	if left.isConstant() {
		left, right, o = right, left, mirrored(o)
	}
	if !right.isConstant() {
		return nil
	}
	low, high := rangeOf(o, right.constant.Number)
	return &numberTest{needle: left, low: low, high: high, inside: true}
}

// numberTest compiles a test of a number.
func (c *compiler) numberTest(t *numberTest) truthFunc {
	number, low, high := c.number(t.needle), t.low, t.high
	within, outside := stateOf(t.inside), stateOf(!t.inside)
	return func(f *Facts) state {
		v, known := number(f)
		switch {
		case known == failed:
			return failed
		case known == yes && v >= low && v <= high:
			return within
		}
		return outside
	}
}

// mirrored gives the operator that says the same with the operands exchanged.
func mirrored(o op) op {
	switch o {
	case opLess:
		return opGreater
	case opLessEqual:
		return opGreaterEqual
	case opGreater:
		return opLess
	default:
		return opLessEqual
	}
}

// rangeOf gives the numbers that are in an order to another, both ends included. NaN is in no range, and makes none.
func rangeOf(o op, bound float64) (low, high float64) {
	infinity := math.Inf(1)
	switch o {
	case opLess:
		if bound == -infinity {
			return math.NaN(), math.NaN()
		}
		return -infinity, math.Nextafter(bound, -infinity)
	case opLessEqual:
		return -infinity, bound
	case opGreater:
		if bound == infinity {
			return math.NaN(), math.NaN()
		}
		return math.Nextafter(bound, infinity), infinity
	default:
		return bound, infinity
	}
}
