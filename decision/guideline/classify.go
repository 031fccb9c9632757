package guideline

import "slices"

// ClassError is a destination class whose rule could not be evaluated.
type ClassError struct {
	Class string
	Err   error
}

// Error gives "destinations.<name>: <message>".
func (e *ClassError) Error() string { return "destinations." + e.Class + ": " + e.Err.Error() }

// Unwrap gives what the rule failed with.
func (e *ClassError) Unwrap() error { return e.Err }

// Classify gives the classes that f.Server belongs to, as indexes of Classes in the document's order. A rule that fails
// leaves the server out of its class; the errors, each a *ClassError, come newest first as MySQL Router reports them.
func (g *Guideline) Classify(f *Facts) (classes []int, errs []error) {
	for i := range g.classes {
		class := &g.classes[i]
		matched, err := class.rule.Match(f)
		if err != nil {
			errs = append(errs, &ClassError{Class: class.Name, Err: err})
		} else if matched {
			classes = append(classes, i)
		}
	}
	slices.Reverse(errs)
	return classes, errs
}

// Hidden tells whether a server's tags keep new sessions away from it: `_hidden` is true. It has classes like any other
// but must not be given to Tiers.
func Hidden(tags map[string]string) bool { return tags["_hidden"] == "true" }
