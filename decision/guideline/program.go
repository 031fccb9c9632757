package guideline

import "slices"

// step is a test and where to go from it. NULL does not pass a test.
type step struct {
	kind       stepKind
	holds, not int32  // the next step, or the end
	text       string // what a variable is to equal, or an attribute's key
	predicate  *textPredicate
	low, high  float64 // numbers from low to high
	mask, want uint32
	call       truthFunc
}

type stepKind uint8

const (
	stepCall stepKind = iota // everything without a kind of its own
	stepUserEquals
	stepUser
	stepSchemaEquals
	stepSchema
	stepSource
	stepAttribute // of the connection
	stepNetwork
	stepPort
	stepRandom
)

// program is steps of one expression, or of several that are tried one after the other.
type program struct {
	steps []step
	entry int32 // the first step, or the end when it is constant
}

// Ends of a program. Those of further expressions that are true follow endsYes downwards.
const (
	endsNo  int32 = -1
	endsYes int32 = -2
)

// program compiles a part of which only the truth matters.
func (c *compiler) program(n *node) program {
	var p program
	p.entry = c.emit(&p, n, endsYes, endsNo)
	return p
}

// programOf makes one program of several expressions.
func programOf(expressions []*Expression) program {
	p := program{entry: endsNo}
	for i, e := range slices.Backward(expressions) {
		c := &compiler{extra: e.extra}
		p.entry = c.emit(&p, e.tree, endsYes-int32(i), p.entry)
	}
	return p
}

// emit appends the steps of a part that goes on to one of two places, and gives the first of them. It goes from the end to
// the beginning, so that the places are known.
func (c *compiler) emit(p *program, n *node, holds, not int32) int32 {
	switch n.op {
	case opConstant:
		if n.constant.truth() {
			return holds
		}
		return not
	case opNot:
		return c.emit(p, n.args[0], not, holds)
	case opAnd:
		for _, arg := range slices.Backward(n.args) {
			holds = c.emit(p, arg, holds, not)
		}
		return holds
	case opOr:
		for _, arg := range slices.Backward(n.args) {
			not = c.emit(p, arg, holds, not)
		}
		return not
	default:
	}
	s := c.step(n)
	if s.holds == endsNo { // a test that something is not so
		holds, not = not, holds
	}
	s.holds, s.not = holds, not
	p.steps = append(p.steps, s)
	return int32(len(p.steps) - 1)
}

// step makes the step of a test. It ends with yes when the test holds, or with no when it is a test of the opposite.
func (c *compiler) step(n *node) step {
	s := step{holds: endsYes, not: endsNo}
	positive := true
	if t := textTestOf(n); t != nil && textStep(t) == stepAttribute {
		s.kind, s.predicate, s.text = stepAttribute, t.predicate, t.needle.variable.key
		positive = t.positive
	} else if t != nil {
		s.kind, s.predicate, s.text = textStep(t), t.predicate, t.predicate.text
		positive = t.positive
	} else if t := numberTestOf(n); t != nil {
		s.kind, s.low, s.high = numberStep(t), t.low, t.high
		positive = t.inside
	} else if t := networkTestOf(n); t != nil && t.isSource() && len(t.wanted) == 1 {
		s.kind, s.mask, s.want = stepNetwork, t.mask, t.wanted[0]
		positive = t.equal
	}
	switch {
	case s.kind == stepCall:
		s.call = c.truth(n)
	case !positive:
		s.holds, s.not = s.not, s.holds
	}
	return s
}

// textStep gives the kind of step for a test of a session's variable; stepCall for others.
func textStep(t *textTest) stepKind {
	equals := t.predicate.kind == equalsText
	switch {
	case t.predicate.kind == likesAnything || t.predicate.mayFail(): // NULL passes, too; a long text fails
		return stepCall
	case t.needle.op == opAttribute && t.needle.variable.scope == scopeSession:
		return stepAttribute
	case t.needle.op != opVariable:
		return stepCall
	}
	switch t.needle.variable.id {
	case sessionUser:
		if equals {
			return stepUserEquals
		}
		return stepUser
	case sessionSchema:
		if equals {
			return stepSchemaEquals
		}
		return stepSchema
	case sessionSourceIP:
		return stepSource
	}
	return stepCall
}

func numberStep(t *numberTest) stepKind {
	if t.needle.op != opVariable {
		return stepCall
	}
	switch t.needle.variable.id {
	case sessionTargetPort:
		return stepPort
	case sessionRandomValue:
		return stepRandom
	}
	return stepCall
}

// nothingKnown stands in for a session that is absent.
var nothingKnown = Session{Null: AllVariables()}

// run gives the index of the first expression that is true of the facts, -1 when none is; false when one before it fails.
func (p *program) run(f *Facts) (int, bool) {
	session := f.Session
	if session == nil {
		session = &nothingKnown
	}
	at := p.entry
	for at >= 0 {
		s := &p.steps[at]
		holds := false
		switch s.kind {
		case stepCall:
			t := s.call(f)
			if t == failed {
				return -1, false
			}
			holds = t == yes
		case stepUserEquals:
			holds = isLowered(session.User, s.text) && session.Null&(1<<sessionUser) == 0
		case stepUser:
			holds = session.Null&(1<<sessionUser) == 0 && s.predicate.holds(session.User)
		case stepSchemaEquals:
			holds = isLowered(session.Schema, s.text) && session.Null&(1<<sessionSchema) == 0
		case stepSchema:
			holds = session.Null&(1<<sessionSchema) == 0 && s.predicate.holds(session.Schema)
		case stepSource:
			holds = session.Null&(1<<sessionSourceIP) == 0 && s.predicate.holds(session.SourceIP)
		case stepAttribute:
			if text, known := session.ConnectAttrs[s.text]; known {
				holds = s.predicate.holds(text)
			}
		case stepNetwork:
			address, ok := f.sourceIPv4()
			if !ok {
				return -1, false
			}
			holds = address&s.mask == s.want
		case stepPort:
			holds = session.TargetPort >= s.low && session.TargetPort <= s.high && session.Null&(1<<sessionTargetPort) == 0
		case stepRandom:
			holds = session.RandomValue >= s.low && session.RandomValue <= s.high && session.Null&(1<<sessionRandomValue) == 0
		}
		if holds {
			at = s.holds
		} else {
			at = s.not
		}
	}
	return int(endsYes - at), true
}
