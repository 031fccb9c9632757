package rules

import "github.com/pointsman/pointsman/decision/pattern"

// maxSteps is how many steps all expressions of one walk may take that are matched by themselves. When they are used up,
// rules with an expression don't match any more.
const maxSteps = 20_000_000

// What a rewrite costs, and a step for each byte of both texts besides: the new text has to be searched again. An
// expression that backtracks may need many steps to find all that it replaces, and nobody counts them.
const (
	stepsARewrite      = 16_000
	stepsABacktracking = 1_000_000
)

// scan is one pass of a pattern.Set over a text.
type scan struct {
	found pattern.Found
	done  bool
}

func (c *scan) over(set *pattern.Set, text []byte) *pattern.Found {
	if !c.done {
		set.Find(&c.found, text)
		c.done = true
	}
	return &c.found
}

// tryAlone matches an expression within the bound of the walk. One that gives up does not match, not even negated.
func (w *Walk) tryAlone(e *entry, re *pattern.Regexp, text []byte) bool {
	matched, err := re.MatchWithin(text, &w.steps)
	return err == nil && matched != e.Negate
}
