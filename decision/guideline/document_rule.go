package guideline

import (
	"errors"
	"fmt"
	"strings"
)

// rule is a match as it was read.
type rule struct {
	text       string
	parsed     bool
	expression *Expression // nil: can't be used
}

// scope says which variables a rule must not use.
type scope struct {
	foreign string // beginning of their names
	exempt  string // beginning of names that may be used all the same, and read NULL
	context string // the list that the rule is in
}

var (
	destinationScope = scope{foreign: "session.", exempt: "session.connectAttrs.", context: "destinations"}
	routeScope       = scope{foreign: "server.", exempt: "server.tags.", context: "routes"}
)

// readRule reads and checks a match expression.
func (r *documentReader) readRule(path string, v *jsonValue, in scope) rule {
	text := r.text(path, v)
	if text == "" || r.problems.full {
		return rule{}
	}
	expression, parts, bad := parseExpression(text, r.options)
	if r.parts += parts; r.parts > maxDocumentParts {
		r.problems.last(path, fmt.Sprintf("the expressions of the document up to here have %d operands, operations and parts of regular expressions, the limit is %d",
			r.parts, maxDocumentParts))
		return rule{}
	}
	if bad != nil {
		r.problems.addRule(path, bad.Message, text, bad.Start, bad.End)
		return rule{}
	}
	for _, use := range expression.Variables() {
		if strings.HasPrefix(use.Name, in.foreign) && !strings.HasPrefix(use.Name, in.exempt) {
			r.problems.addRule(path, use.Name+" may not be used in '"+in.context+"' context", text, use.Start, use.End)
		}
	}
	for _, host := range expression.Hosts() {
		if !r.hosts[host] {
			r.hosts[host] = true
			r.guideline.hosts = append(r.guideline.hosts, host)
		}
	}
	read := rule{text: text, parsed: true}
	if r.dryRun(path, text, expression) {
		read.expression = expression
	}
	return read
}

// dryRun evaluates a rule with nothing known, which must give TRUE or FALSE.
func (r *documentReader) dryRun(path, text string, expression *Expression) bool {
	value, err := expression.DryRun()
	if err != nil {
		start, end := -1, -1
		if bad, ok := errors.AsType[*ExpressionError](err); ok {
			start, end = bad.Start, bad.End
		}
		r.problems.addRule(path, err.Error(), text, start, end)
		return false
	}
	if value.Type != Boolean {
		r.problems.addRule(path, "match does not evaluate to boolean", text, 0, len(text))
		return false
	}
	return true
}
