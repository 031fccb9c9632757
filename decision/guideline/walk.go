package guideline

import "math"

// walker evaluates a tree node by node. It is what an expression means; the compiled form only gives the same answers sooner.
type walker struct {
	facts *Facts
	extra []Variable
	dry   bool        // no facts: every variable has its default (spec 2.3.3)
	seen  *[]Variable // nil: nobody wants to know
	stack []datum     // arguments of calls and lists
}

// datum is a value on its way. That of a tag which is read as JSON has its text as stored, too.
type datum struct {
	Value

	json string
}

// truth of a tag is that of its JSON.
func (d *datum) truth() bool {
	if d.json != "" {
		return jsonTruth(d.json)
	}
	return d.Value.truth()
}

// failure is why an evaluation failed.
type failure struct {
	message string
	node    *node
	placed  bool // the message says where
}

func textDatum(text string) datum    { return datum{Value: Value{Type: String, Text: text}} }
func numberDatum(n float64) datum    { return datum{Value: Value{Type: Number, Number: n}} }
func booleanDatum(b bool) datum      { return datum{Value: Value{Type: Boolean, Bool: b}} }
func roleDatum(r Role) datum         { return datum{Value: Value{Type: RoleType, Text: r.String()}} }
func (n *node) constantDatum() datum { return datum{Value: *n.constant} }

func (w *walker) eval(n *node) (datum, *failure) {
	switch n.op {
	case opConstant, opJSON:
		return n.constantDatum(), nil
	case opVariable, opAttribute, opTag, opAbsent, opExtra:
		d := w.variable(n)
		if w.seen != nil {
			w.note(n.variable.name, d.Value)
		}
		return d, nil
	case opNegate, opAdd, opSubtract, opMultiply, opDivide, opModulo:
		return w.arithmetic(n)
	case opEqual, opUnequal:
		return w.equality(n)
	case opLess, opLessEqual, opGreater, opGreaterEqual:
		return w.order(n)
	case opIn, opNotIn:
		return w.in(n)
	case opLike, opNotLike:
		return w.like(n)
	case opAnd, opOr:
		return w.andOr(n)
	case opNot:
		d, failed := w.eval(n.args[0])
		return booleanDatum(failed == nil && !d.truth()), failed
	case opCall:
		return w.call(n)
	}
	return datum{}, &failure{message: "unknown operation", node: n, placed: true}
}

// note remembers what was seen of a variable, once.
func (w *walker) note(name string, v Value) {
	for i := range *w.seen {
		if (*w.seen)[i].Name == name {
			return
		}
	}
	*w.seen = append(*w.seen, Variable{name, v})
}

func (w *walker) variable(n *node) datum {
	if w.dry {
		return dryVariable(n)
	}
	r := n.variable
	switch n.op {
	case opExtra:
		return datum{Value: w.extra[r.id].Value}
	case opAttribute:
		if text, known := w.facts.attribute(r); known {
			return textDatum(text)
		}
	case opTag:
		if stored, known := w.facts.attribute(r); known {
			d := textDatum(jsonContent(stored))
			d.json = stored
			return d
		}
	case opVariable:
		return w.builtin(n)
	default: // what is absent
	}
	return datum{}
}

func (w *walker) builtin(n *node) datum {
	id := n.variable.id
	if !w.facts.known(id) {
		return datum{}
	}
	switch n.typ {
	case String:
		text, _ := w.facts.text(id)
		return textDatum(text)
	case Number:
		number, _ := w.facts.number(id)
		return numberDatum(number)
	case RoleType:
		role, _ := w.facts.role(id)
		d := roleDatum(role)
		if text := w.facts.spelled[id]; text != "" {
			d.Text = text
		}
		return d
	case Boolean:
		return booleanDatum(w.facts.Server.IsClusterInvalidated)
	case Null:
	}
	return datum{}
}

// dryVariable gives the default of a variable.
func dryVariable(n *node) datum {
	if n.op != opVariable {
		return datum{}
	}
	if n.typ == RoleType {
		return roleDatum(Undefined)
	}
	return datum{Value: Value{Type: n.typ}}
}

func (w *walker) arithmetic(n *node) (datum, *failure) {
	left, failed := w.eval(n.args[0])
	if failed != nil {
		return datum{}, failed
	}
	if n.op == opNegate {
		if left.Type == Null {
			return datum{}, nil
		}
		return numberDatum(-left.Number), nil
	}
	right, failed := w.eval(n.args[1])
	if failed != nil || left.Type == Null || right.Type == Null {
		return datum{}, failed
	}
	return numberDatum(calculate(n.op, left.Number, right.Number)), nil
}

// calculate computes as C does with doubles; math.Mod is C's fmod.
func calculate(o op, a, b float64) float64 {
	switch o {
	case opAdd:
		return a + b
	case opSubtract:
		return a - b
	case opMultiply:
		return a * b
	case opDivide:
		return a / b
	default:
		return math.Mod(a, b)
	}
}

func (w *walker) both(n *node) (left, right datum, failed *failure) {
	if left, failed = w.eval(n.args[0]); failed == nil {
		right, failed = w.eval(n.args[1])
	}
	return left, right, failed
}

func (w *walker) equality(n *node) (datum, *failure) {
	left, right, failed := w.both(n)
	if failed != nil {
		return datum{}, failed
	}
	same, ok := equal(n.args[0], n.args[1], &left, &right)
	if !ok {
		return datum{}, incomparable(n, &left, &right)
	}
	return booleanDatum(same == (n.op == opEqual)), nil
}

func incomparable(n *node, left, right *datum) *failure {
	return &failure{
		message: "Incompatible operands for comparison: '" + left.Type.String() + "' vs '" + right.Type.String() + "'",
		node:    n, placed: true,
	}
}

// equal compares two operands and their values (spec 4.5).
func equal(leftNode, rightNode *node, left, right *datum) (same, ok bool) {
	switch {
	case leftNode.isTag():
		return tagEqual(left, rightNode, right), true
	case rightNode.isTag():
		return tagEqual(right, leftNode, left), true
	case left.Type == Null || right.Type == Null:
		return left.Type == right.Type, true
	case left.Type == Boolean || right.Type == Boolean:
		return left.truth() == right.truth(), true
	case left.Type != right.Type:
		return false, false
	case left.Type == Number:
		return left.Number == right.Number, true
	}
	return equalFold(left.Text, right.Text), true
}

func (w *walker) order(n *node) (datum, *failure) {
	left, right, failed := w.both(n)
	if failed != nil {
		return datum{}, failed
	}
	if n.args[0].isTag() || n.args[1].isTag() {
		return booleanDatum(tagOrder(n, &left, &right)), nil
	}
	if left.Type == Null || right.Type == Null {
		return booleanDatum(false), nil
	}
	if left.Type == Number {
		return booleanDatum(ordered(n.op, left.Number, right.Number)), nil
	}
	return booleanDatum(ordered(n.op, compareFold(left.Text, right.Text), 0)), nil
}

// ordered compares two numbers. NaN is in no order to anything.
func ordered[T int | float64](o op, a, b T) bool {
	switch o {
	case opLess:
		return a < b
	case opLessEqual:
		return a <= b
	case opGreater:
		return a > b
	default:
		return a >= b
	}
}

// in evaluates every element before it compares any, and compares from the last on (spec 4.5).
func (w *walker) in(n *node) (datum, *failure) {
	base := len(w.stack)
	d, failed := w.inValues(n, base)
	w.stack = w.stack[:base]
	return d, failed
}

func (w *walker) inValues(n *node, base int) (datum, *failure) {
	for _, arg := range n.args {
		d, failed := w.eval(arg)
		if failed != nil {
			return datum{}, failed
		}
		w.stack = append(w.stack, d)
	}
	values := w.stack[base:]
	for i := len(values) - 1; i > 0; i-- {
		same, ok := equal(n.args[0], n.args[i], &values[0], &values[i])
		if !ok {
			return datum{}, incomparable(n, &values[0], &values[i])
		}
		if same {
			return booleanDatum(n.op == opIn), nil
		}
	}
	return booleanDatum(n.op == opNotIn), nil
}

func (w *walker) like(n *node) (datum, *failure) {
	p := n.pattern
	if p.always {
		return booleanDatum(n.op == opLike), nil
	}
	text, failed := w.eval(n.args[0])
	switch {
	case failed != nil:
		return datum{}, failed
	case p.tooCostly(text.Text):
		return datum{}, &failure{message: "LIKE, " + costText(text.Text, len(p.parts)), node: n, placed: true}
	case text.Type != Null:
		return booleanDatum(p.match(text.Text) == (n.op == opLike)), nil
	case n.op == opNotLike: // NOT NULL
		return booleanDatum(true), nil
	}
	return datum{}, nil
}

// andOr stops at the first operand that decides. The value is the first operand itself if it was that one, else its truth.
func (w *walker) andOr(n *node) (datum, *failure) {
	for i, arg := range n.args {
		d, failed := w.eval(arg)
		if failed != nil {
			return datum{}, failed
		}
		if truth := d.truth(); truth == (n.op == opOr) {
			if i == 0 {
				return d, nil
			}
			return booleanDatum(truth), nil
		}
	}
	return booleanDatum(n.op == opAnd), nil
}

func (w *walker) call(n *node) (datum, *failure) {
	base := len(w.stack)
	d, failed := w.callWith(n, base)
	w.stack = w.stack[:base]
	return d, failed
}

// callWith evaluates every argument, also behind one that is NULL: what fails there fails the call.
func (w *walker) callWith(n *node, base int) (datum, *failure) {
	null := false
	for _, arg := range n.args {
		d, failed := w.eval(arg)
		if failed != nil {
			return datum{}, failed
		}
		null = null || d.Type == Null
		w.stack = append(w.stack, d)
	}
	if null && !n.function.takesNull {
		return datum{}, nil
	}
	d, message := n.function.call(w, n, w.stack[base:])
	if message != "" {
		return datum{}, &failure{message: message, node: n, placed: !n.function.unfolded}
	}
	return d, nil
}
