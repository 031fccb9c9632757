package guideline

import (
	"fmt"
	"slices"
)

// Limits of an expression. They are far above what people write; what passes one is refused with a text that names it.
const (
	maxExpressionBytes = 256 << 10
	maxExpressionDepth = 4096    // operations inside each other; parentheses alone don't count
	maxExpressionParts = 250_000 // operands and operations, and the size of regular expressions as maxRegexpSize counts it
)

// How tightly operators bind (spec 4.2).
const (
	bindsOr = 1 + iota
	bindsAnd
	bindsNot     // none beside each other
	bindsCompare // none beside each other
	bindsAdd
	bindsMultiply
)

// operand is a part that has been read, and its place with the parentheses around it.
type operand struct {
	node       *node
	start, end int
	afterTag   bool // an object or array that so far stands where a tag is compared with it
}

// waiting is an operator whose right operand is being read, or something that was opened and not closed.
type waiting struct {
	op       op
	binds    int // 0: opened
	token    token
	function *function // opened by a call
	base     int       // opened by a call or IN: where its operands begin
}

// isOpen tells a parenthesis, a call or the list of an IN.
func (w *waiting) isOpen() bool { return w.binds == 0 }

// isList tells what commas may separate things in.
func (w *waiting) isList() bool { return w.isOpen() && w.token.kind != tokenOpen }

// parser reads an expression with a stack of its own, so that no nesting reaches the goroutine's stack. It computes and
// checks each operation as soon as it is whole: of several faults it meets the one that stands first in the text.
type parser struct {
	text     string
	options  *ParseOptions
	scanner  scanner
	token    token // the next one
	last     token // the one before it
	operands []operand
	waiting  []waiting
	uses     []VariableUse
	hosts    []Host
	known    map[Host]bool // those in hosts
	parts    int           // read so far, for maxExpressionParts
}

// parse reads the whole text.
func (p *parser) parse() (*node, *ExpressionError) {
	tree, err := p.whole()
	if err != nil {
		return nil, p.first(err)
	}
	return tree, nil
}

// first gives the fault that stands first in the text: an object or array may wait for a tag in vain before a fault.
func (p *parser) first(err *ExpressionError) *ExpressionError {
	at := err.Start
	if p.token.kind == tokenEnd { // it is shown at the last token
		at = p.token.start
	}
	for _, o := range p.operands {
		if o.node.op == opJSON && !o.afterTag && int(o.node.start) < at {
			return p.strayJSON(int(o.node.start))
		}
	}
	return err
}

func (p *parser) whole() (*node, *ExpressionError) {
	p.advance()
	if p.token.kind == tokenEnd {
		return &node{op: opConstant, typ: Null, constant: &Value{}}, nil
	}
	for {
		if err := p.operand(); err != nil {
			return nil, err
		}
		for {
			more, err := p.afterOperand()
			if err != nil {
				return nil, err
			}
			if more {
				break
			}
			if p.token.kind == tokenEnd && len(p.waiting) == 0 {
				whole := p.operands[0]
				return whole.node, p.onlyBesideTag(whole.node)
			}
		}
	}
}

func (p *parser) advance() {
	p.last = p.token
	p.token = p.scanner.next()
}

// operand reads what may precede an operand, and the operand.
func (p *parser) operand() *ExpressionError {
	for {
		t := p.token
		switch t.kind {
		case tokenNot:
			p.waiting = append(p.waiting, waiting{op: opNot, binds: bindsNot, token: t})
		case tokenMinus:
			p.waiting = append(p.waiting, waiting{op: opNegate, binds: bindsAdd, token: t})
		case tokenOpen:
			p.waiting = append(p.waiting, waiting{token: t})
		case tokenFunction:
			if err := p.open(waiting{op: opCall, token: t, function: t.function}); err != nil {
				return err
			}
			if p.token.kind == tokenClose {
				return nil // afterOperand closes it
			}
			continue
		default:
			n, err := p.leaf(t)
			if err != nil {
				return err
			}
			if p.parts++; p.parts > maxExpressionParts {
				return p.tooManyParts()
			}
			n.start, n.end, n.depth = int32(t.start), int32(t.end), 1
			p.operands = append(p.operands, operand{n, t.start, t.end, n.op == opJSON && p.comparesTag()})
			p.advance()
			return nil
		}
		p.advance()
	}
}

// leaf makes the node of a token that is an operand by itself.
func (p *parser) leaf(t token) (*node, *ExpressionError) {
	switch t.kind {
	case tokenWord, tokenString:
		return constantNode(Value{Type: String, Text: t.text}), nil
	case tokenNumber:
		return constantNode(Value{Type: Number, Number: t.number}), nil
	case tokenTrue, tokenFalse:
		return constantNode(Value{Type: Boolean, Bool: t.kind == tokenTrue}), nil
	case tokenNull:
		return constantNode(Value{}), nil
	case tokenRole:
		return constantNode(Value{Type: RoleType, Text: t.text}), nil
	case tokenJSON:
		if t.invalid != "" {
			return nil, p.invalidJSON(t)
		}
		n := constantNode(Value{Type: String, Text: t.text})
		n.op = opJSON
		return n, nil
	case tokenVariable:
		n := variableNode(t.text, p.options)
		if n == nil {
			return nil, p.fault("undefined variable: "+t.text, t.start, t.end)
		}
		p.uses = append(p.uses, VariableUse{t.text, t.start, t.end})
		return n, nil
	default:
	}
	if len(p.operands) == 0 && len(p.waiting) == 0 {
		return nil, p.unexpected("end of expression or error")
	}
	return nil, p.unexpected("")
}

func constantNode(v Value) *node {
	return &node{op: opConstant, typ: v.Type, constant: &v, depth: 1}
}

// open takes the parenthesis that has to follow a function's name or IN.
func (p *parser) open(w waiting) *ExpressionError {
	if p.advance(); p.token.kind != tokenOpen {
		return p.unexpected("(")
	}
	p.advance()
	w.base = len(p.operands)
	p.waiting = append(p.waiting, w)
	return nil
}

// binary are the operators between two operands.
var binary = [...]struct {
	op    op
	binds int
}{
	tokenOr:           {opOr, bindsOr},
	tokenAnd:          {opAnd, bindsAnd},
	tokenNot:          {opNotLike, bindsNot}, // or opNotIn, the next token tells
	tokenIn:           {opIn, bindsCompare},
	tokenLike:         {opLike, bindsCompare},
	tokenEqual:        {opEqual, bindsCompare},
	tokenUnequal:      {opUnequal, bindsCompare},
	tokenLess:         {opLess, bindsCompare},
	tokenLessEqual:    {opLessEqual, bindsCompare},
	tokenGreater:      {opGreater, bindsCompare},
	tokenGreaterEqual: {opGreaterEqual, bindsCompare},
	tokenPlus:         {opAdd, bindsAdd},
	tokenMinus:        {opSubtract, bindsAdd},
	tokenTimes:        {opMultiply, bindsMultiply},
	tokenDivide:       {opDivide, bindsMultiply},
	tokenModulo:       {opModulo, bindsMultiply},
	tokenNull:         {},
}

// afterOperand takes the token after an operand. It tells whether an operand has to follow.
func (p *parser) afterOperand() (more bool, err *ExpressionError) {
	t := p.token
	if b := binary[t.kind]; b.binds > 0 {
		return true, p.operator(t, b.op, b.binds)
	}
	if err := p.reduce(0); err != nil {
		return false, err
	}
	if len(p.waiting) == 0 {
		if t.kind == tokenEnd {
			return false, nil
		}
		return false, p.unexpected("end of expression or error")
	}
	open := &p.waiting[len(p.waiting)-1]
	switch {
	case t.kind == tokenClose:
		return false, p.close(open)
	case t.kind == tokenComma && open.isList():
		p.advance()
		return true, nil
	case open.isList():
		return false, p.unexpected(`) or ","`)
	}
	return false, p.unexpected("")
}

// operator takes an operator between operands, and the parenthesis of an IN.
func (p *parser) operator(t token, o op, binds int) *ExpressionError {
	if err := p.reduce(binds); err != nil {
		return err
	}
	if top := len(p.waiting) - 1; top >= 0 && p.waiting[top].binds == binds {
		// Those that bind equally were reduced unless they may not stand beside each other: reduce it, it may be at fault.
		if err := p.reduce(binds - 1); err != nil {
			return err
		}
		return p.unexpected("")
	}
	p.operands[len(p.operands)-1].afterTag = false // it is the operator's
	if o == opNotLike {
		p.advance()
		switch p.token.kind {
		case tokenIn:
			o = opNotIn
		case tokenLike:
			binds = bindsCompare
		default:
			return p.unexpected("T_IN or T_LIKE")
		}
	}
	if o == opIn || o == opNotIn {
		if err := p.open(waiting{op: o, token: t}); err != nil {
			return err
		}
		p.waiting[len(p.waiting)-1].base--
		return nil
	}
	p.waiting = append(p.waiting, waiting{op: o, binds: binds, token: t})
	p.advance()
	return nil
}

// reduce completes the operators on top of the stack that bind tighter than the next one does, or as tight and to the left.
func (p *parser) reduce(binds int) *ExpressionError {
	for len(p.waiting) > 0 {
		w := p.waiting[len(p.waiting)-1]
		left := w.binds != bindsNot && w.binds != bindsCompare
		if w.isOpen() || w.binds < binds || w.binds == binds && !left {
			return nil
		}
		p.waiting = p.waiting[:len(p.waiting)-1]
		operands := 2
		if w.op == opNegate || w.op == opNot {
			operands = 1
		}
		first := len(p.operands) - operands
		place := operand{start: p.operands[first].start, end: p.operands[len(p.operands)-1].end}
		if operands == 1 {
			place.start = w.token.start
		}
		if err := p.complete(w.op, nil, first, place); err != nil {
			return err
		}
	}
	return nil
}

// close takes the parenthesis that ends what was opened last.
func (p *parser) close(open *waiting) *ExpressionError {
	w, t := *open, p.token
	p.waiting = p.waiting[:len(p.waiting)-1]
	if !w.isList() {
		top := &p.operands[len(p.operands)-1]
		top.start, top.end = w.token.start, t.end
		p.advance()
		return nil
	}
	place := operand{start: w.token.start, end: t.end}
	if w.op != opCall {
		place.start = p.operands[w.base].start
	}
	if err := p.complete(w.op, w.function, w.base, place); err != nil {
		return err
	}
	p.advance()
	return nil
}

// complete makes one operand of those from first on.
func (p *parser) complete(o op, f *function, first int, place operand) *ExpressionError {
	n, err := p.check(o, f, p.operands[first:], place)
	if err != nil {
		// What can't be read further on is a fault of its own (spec 4.7).
		if p.token.kind == tokenBad || p.token.kind == tokenJSON {
			err.Message += ", " + p.unexpected("").Message
		}
		return err
	}
	place.node = n
	p.operands = append(p.operands[:first], place)
	return nil
}

// unexpected is a syntax error at the next token. At the end of the text it is shown at the last one.
func (p *parser) unexpected(expecting string) *ExpressionError {
	t := p.token
	if t.kind == tokenBad {
		return p.fault(t.text, t.start, t.end)
	}
	if t.kind == tokenJSON {
		return p.strayJSON(t.start)
	}
	message := "syntax error, unexpected " + tokenNames[t.kind]
	if expecting != "" {
		message += ", expecting " + expecting
	}
	if t.kind == tokenEnd {
		t = p.last
	}
	return p.fault(message, t.start, t.end)
}

// strayJSON refuses an object or array that is not compared with a tag: nothing else can be equal to one.
func (p *parser) strayJSON(at int) *ExpressionError {
	return p.fault("syntax error, unexpected character: '"+p.text[at:at+1]+"'", at, at+1)
}

// invalidJSON refuses what begins like an object or array: for its fault if it is to be compared with a tag, else altogether.
func (p *parser) invalidJSON(t token) *ExpressionError {
	if p.comparesTag() {
		return p.fault(t.invalid, t.start, t.end)
	}
	return p.strayJSON(t.start)
}

// comparesTag tells whether the next operand is one that a tag is compared with.
func (p *parser) comparesTag() bool {
	for _, w := range slices.Backward(p.waiting) {
		switch {
		case w.isOpen() && !w.isList(): // parentheses around it
		case w.op == opIn || w.op == opNotIn:
			return p.operands[w.base].node.isTag()
		default:
			return w.op >= opEqual && w.op <= opGreaterEqual && p.operands[len(p.operands)-1].node.isTag()
		}
	}
	return false
}

// onlyBesideTag refuses an object or array in any other place.
func (p *parser) onlyBesideTag(nodes ...*node) *ExpressionError {
	for _, n := range nodes {
		if n.op == opJSON {
			return p.strayJSON(int(n.start))
		}
	}
	return nil
}

func (p *parser) fault(message string, start, end int) *ExpressionError {
	return &ExpressionError{Message: message + placeSuffix(p.text, start, end), Start: start, End: end}
}

func (p *parser) tooManyParts() *ExpressionError {
	return &ExpressionError{
		Message: fmt.Sprintf("expression has too many parts: at most %d operands, operations and parts of regular expressions are allowed", maxExpressionParts),
		End:     len(p.text),
	}
}

// tooLong refuses a text without looking at it.
func tooLong(text string) *ExpressionError {
	return &ExpressionError{
		Message: fmt.Sprintf("expression is too long: %d bytes, at most %d are allowed", len(text), maxExpressionBytes),
		End:     len(text),
	}
}
