package guideline

import "strings"

// ParseOptions say how an expression is read.
type ParseOptions struct {
	// JSONTags is for documents of a version above 1.0: tags compare with JSON literals, not as JSON texts.
	JSONTags bool
	// Extra are further variables and their values. Documents have none.
	Extra []Variable
}

// Variable is a variable and its value.
type Variable struct {
	Name  string // without "$."
	Value Value
}

// VariableUse is one place where an expression names a variable: the bytes from Start to End of its text.
type VariableUse struct {
	Name       string
	Start, End int
}

// Expression is a checked and compiled expression. It never changes, and may be used by many goroutines.
type Expression struct {
	text    string
	tree    *node
	program program
	extra   []Variable
	uses    []VariableUse
	hosts   []Host
}

// ExpressionError is what is wrong with an expression, or why it failed.
type ExpressionError struct {
	Message    string // with its place in the text (spec 4.7)
	Start, End int    // the bytes of the text that it is about
}

// Error gives the message.
func (e *ExpressionError) Error() string { return e.Message }

// ParseExpression reads, checks and compiles an expression (spec 4). The blank text is one, too: its value is NULL.
// Of several faults the one that stands first in the text is given.
func ParseExpression(text string, o ParseOptions) (*Expression, *ExpressionError) {
	e, _, err := parseExpression(text, o)
	return e, err
}

// parseExpression tells how many parts were read, too, as maxExpressionParts counts them.
func parseExpression(text string, o ParseOptions) (e *Expression, parts int, err *ExpressionError) {
	if len(text) > maxExpressionBytes {
		return nil, 0, tooLong(text)
	}
	readable, _, _ := strings.Cut(text, "\x00") // as in C
	p := parser{text: text, options: &o, scanner: scanner{text: readable, jsonTags: o.JSONTags}}
	tree, err := p.parse()
	if err != nil {
		return nil, p.parts, err
	}
	c := &compiler{extra: o.Extra}
	e = &Expression{text: text, tree: tree, program: c.program(tree), extra: o.Extra, uses: p.uses, hosts: p.hosts}
	return e, p.parts, nil
}

// Match tells whether the expression is true of the facts: its truth value, whatever its type. It allocates nothing unless
// it fails, or the expression has a CONCAT, a REGEXP_LIKE with a pattern that is not constant, or a tag with JSON escapes.
func (e *Expression) Match(f *Facts) (bool, error) {
	index, ok := e.program.run(f)
	if !ok {
		_, err := e.Eval(f)
		return false, err
	}
	return index == 0, nil
}

// Eval gives the value of the expression, or an [*ExpressionError].
func (e *Expression) Eval(f *Facts) (Value, error) {
	w := f.scratch(e.extra)
	d, failed := w.eval(e.tree)
	return d.Value, e.asError(failed)
}

// DryRun evaluates with the default of every variable: empty texts, zeros, FALSE, UNDEFINED, and NULL for tags and attributes
// (spec 2.3.3). NETWORK only checks its mask, and names resolve to themselves.
func (e *Expression) DryRun() (Value, error) {
	w := walker{facts: &Facts{}, extra: e.extra, dry: true}
	d, failed := w.eval(e.tree)
	return d.Value, e.asError(failed)
}

func (e *Expression) asError(why *failure) error {
	if why == nil {
		return nil
	}
	start, end := int(why.node.start), int(why.node.end)
	message := why.message
	if why.placed {
		message += placeSuffix(e.text, start, end)
	}
	return &ExpressionError{Message: message, Start: start, End: end}
}

// Variables lists every place where a variable is named, in order.
func (e *Expression) Variables() []VariableUse { return e.uses }

// Hosts lists the hosts that RESOLVE_V4 and RESOLVE_V6 ask for, in order of appearance, each once.
func (e *Expression) Hosts() []Host { return e.hosts }
