package decision

// Severity says how bad a problem is.
type Severity uint8

// The severities.
const (
	// Error: the configuration can't be compiled.
	Error Severity = iota + 1
	// Warning: it can, but will surprise somebody.
	Warning
)

// String gives "error" or "warning".
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Problem is one thing wrong with a configuration.
type Problem struct {
	RuleID   int64    // the query rule, 0 when it is not about one
	Path     string   // where in the document, e.g. "query_rules[3].match_digest"
	Position int      // byte offset inside the field's text; -1: the whole field
	Code     string   // a stable word for programs, e.g. "regex_syntax"
	Severity Severity // Error or Warning
	Message  string   // what is wrong and how to mend it
}

// Problems are all problems of a configuration, in the document's order.
type Problems []Problem

// HasErrors tells whether any problem is an Error.
func (p Problems) HasErrors() bool {
	for i := range p {
		if p[i].Severity == Error {
			return true
		}
	}
	return false
}
