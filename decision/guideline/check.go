package guideline

import (
	"fmt"
	"strconv"
)

// opNames are the operators as error texts have them.
var opNames = [...]string{
	opNegate: "-", opAdd: "+", opSubtract: "-", opMultiply: "*", opDivide: "/", opModulo: "%",
	opEqual: "=", opUnequal: "<>", opLess: "<", opLessEqual: "<=", opGreater: ">", opGreaterEqual: ">=",
	opIn: "in", opNotIn: "in", opLike: "LIKE", opNotLike: "LIKE",
}

// check makes the node of an operation: it checks the types of the operands (spec 4.4) and computes it if they are constant.
func (p *parser) check(o op, f *function, operands []operand, place operand) (*node, *ExpressionError) {
	n := &node{op: o, typ: Boolean, function: f, start: int32(place.start), end: int32(place.end)}
	if err := p.gather(n, operands); err != nil {
		return nil, err
	}
	if p.parts++; p.parts > maxExpressionParts {
		return nil, p.tooManyParts()
	}
	var message string
	switch o {
	case opNegate, opAdd, opSubtract, opMultiply, opDivide, opModulo:
		n.typ = Number
		message = checkArithmetic(n)
	case opEqual, opUnequal:
		message = checkEqual(n)
	case opLess, opLessEqual, opGreater, opGreaterEqual:
		message = checkOrder(n)
	case opIn, opNotIn:
		message = checkIn(n)
	case opLike, opNotLike:
		message = checkLike(n)
	case opCall:
		n.typ = f.result
		message = p.checkCall(n)
	default: // AND, OR and NOT take anything
	}
	if message != "" {
		return nil, p.fault(message, place.start, place.end)
	}
	if o == opCall && f.resolves {
		host := Host{n.args[0].constant.Text, f.v6}
		if p.known == nil {
			p.known = make(map[Host]bool)
		}
		if !p.known[host] {
			p.known[host] = true
			p.hosts = append(p.hosts, host)
		}
	}
	if message := fold(n); message != "" {
		return nil, p.fault("Function execution failed with error: "+message, place.start, place.end)
	}
	return n, nil
}

// gather gives a node its arguments. A chain of ANDs or ORs is one node: their values are those of the chain, and however
// long it is it is no deeper than one.
func (p *parser) gather(n *node, operands []operand) *ExpressionError {
	args := make([]*node, len(operands))
	for i, o := range operands {
		args[i] = o.node
	}
	if n.op >= opEqual && n.op <= opNotIn {
		if err := p.jsonBesideTag(args[0], args[1:]); err != nil {
			return err
		}
	} else if err := p.onlyBesideTag(args...); err != nil {
		return err
	}
	n.args = args
	if (n.op == opAnd || n.op == opOr) && args[0].op == n.op {
		chain := args[0]
		chain.args = append(chain.args, args[1])
		n.args, n.depth = chain.args, chain.depth
		args = args[1:]
	}
	for _, arg := range args {
		n.depth = max(n.depth, arg.depth+1)
	}
	if n.depth > maxExpressionDepth {
		return &ExpressionError{
			Message: fmt.Sprintf("expression is nested too deep: at most %d operations inside each other are allowed", maxExpressionDepth),
			Start:   int(n.start), End: int(n.end),
		}
	}
	return nil
}

// jsonBesideTag sees to it that objects and arrays are compared with tags only.
func (p *parser) jsonBesideTag(needle *node, elements []*node) *ExpressionError {
	if needle.isTag() {
		return nil
	}
	for _, element := range elements {
		if element.isTag() {
			continue
		}
		if err := p.onlyBesideTag(needle, element); err != nil {
			return err
		}
	}
	return nil
}

func expected(want, got Type) string {
	return "expected " + want.String() + " but got " + got.String()
}

func checkArithmetic(n *node) string {
	for i, arg := range n.args {
		if arg.typ == Number {
			continue
		}
		side := ""
		if n.op != opNegate {
			side = [...]string{"left operand, ", "right operand, "}[i]
		}
		return "type error, " + opNames[n.op] + " operator, " + side + expected(Number, arg.typ)
	}
	return ""
}

// comparable tells whether two operands may be compared: their types are the same, or one is a tag read as JSON and the other
// a literal that JSON has, too.
func mayCompare(left, right *node) bool {
	if left.typ == right.typ {
		return true
	}
	return left.isTag() && right.isConstant() && right.typ != RoleType ||
		right.isTag() && left.isConstant() && left.typ != RoleType
}

func checkEqual(n *node) string {
	left, right := n.args[0], n.args[1]
	if !mayCompare(left, right) && left.typ != Null && right.typ != Null {
		return "type error, " + opNames[n.op] + " operator, the type of left operand does not match right, " +
			expected(left.typ, right.typ)
	}
	const member, cluster = "'MEMBER ROLE'", "'CLUSTER ROLE'"
	switch l, r := roleKindOf(left), roleKindOf(right); {
	case l == memberRole && r == clusterRole:
		return "type error, incompatible operands for comparison: " + member + " vs " + cluster
	case l == clusterRole && r == memberRole:
		return "type error, incompatible operands for comparison: " + cluster + " vs " + member
	}
	return ""
}

// roleKind tells which roles a ROLE can be.
type roleKind uint8

const (
	anyRole roleKind = iota
	memberRole
	clusterRole
)

func roleKindOf(n *node) roleKind {
	switch {
	case n.typ != RoleType:
	case n.op == opVariable && n.variable.id == serverMemberRole:
		return memberRole
	case n.op == opVariable:
		return clusterRole
	case n.isConstant():
		switch role, _ := ParseRole(n.constant.Text); role {
		case Secondary, ReadReplica:
			return memberRole
		case Replica:
			return clusterRole
		case Undefined, Primary:
		}
	}
	return anyRole
}

func checkOrder(n *node) string {
	left, right := n.args[0], n.args[1]
	if left.typ != Number && left.typ != String {
		return "type error, " + left.typ.String() + " type arguments cannot be compared with " + opNames[n.op] + " operator"
	}
	ordered := right.typ == Number || right.typ == String
	if !mayCompare(left, right) || !ordered {
		return "type error, " + opNames[n.op] + " operator, the type of left operand does not match right, " +
			expected(left.typ, right.typ)
	}
	return ""
}

func checkIn(n *node) string {
	needle := n.args[0]
	for i, element := range n.args[1:] {
		if !mayCompare(needle, element) && needle.typ != Null && element.typ != Null {
			return fmt.Sprintf("type error, in operator, type of element at offset %d does not match the type of searched element, %s",
				i, expected(needle.typ, element.typ))
		}
	}
	return ""
}

func checkLike(n *node) string {
	text, pattern := n.args[0], n.args[1]
	switch {
	case text.typ != String:
		return "type error, LIKE operator, left operand, " + expected(String, text.typ)
	case pattern.typ != String:
		return "type error, LIKE operator, right operand, " + expected(String, pattern.typ)
	case !pattern.isConstant():
		return "LIKE operator only accepts string literals as its right operand"
	}
	n.pattern = newLikePattern(pattern.constant.Text)
	return ""
}

var ordinals = [...]string{"1st", "2nd", "3rd"}

func (p *parser) checkCall(n *node) string {
	f := n.function
	if f.variadic {
		if len(n.args) == 0 {
			return f.name + " function, no arguments provided"
		}
		return ""
	}
	if len(n.args) != len(f.params) {
		noun, got := "arguments", "none"
		if len(f.params) == 1 {
			noun = "argument"
		}
		if len(n.args) > 0 {
			got = strconv.Itoa(len(n.args))
		}
		return fmt.Sprintf("syntax error, function %s expected %d %s but got %s", f.name, len(f.params), noun, got)
	}
	for i, want := range f.params {
		if got := n.args[i].typ; got != want {
			which := ""
			if len(f.params) > 1 {
				which = ordinals[i] + " argument, "
			}
			return "type error, " + f.name + " function, " + which + expected(want, got)
		}
	}
	if f.check != nil {
		return f.check(p, n)
	}
	return ""
}
