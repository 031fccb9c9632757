package rules

import "github.com/pointsman/pointsman/decision/pattern"

// Bounds of what one walk may spend, in steps.
const (
	// maxSteps is for all expressions that are matched by themselves, for rewrites, and for the passes over rewritten
	// texts. The passes over the question's own texts are free, and what a pass has found counts whatever is left.
	maxSteps = 20_000_000
	// One expression gets no more than its share, so that the others get theirs: at most half.
	share      = 4_000_000
	shareAByte = 4
)

// What a rewrite costs: it has to read and write the text, and to search for all that it replaces. An expression that
// backtracks may need many steps for that, and nobody counts them.
const (
	stepsARewrite      = 16_000
	stepsABacktracking = 1_000_000
	bytesAStep         = 16 // of both texts
	workAStep          = 4  // of a pass over the new text
)

// Lack says why an expression has no outcome. Its rule doesn't match then, not even if it is negated.
type Lack uint8

// The reasons.
const (
	LackNone     Lack = iota // it has an outcome
	LackOfBound              // it takes too many steps on the text
	LackOfOthers             // other expressions and rewrites left it too few steps, or none
)

// scan is one pass of a pattern.Set over a text.
type scan struct {
	found pattern.Found
	done  bool
}

// scanDigest makes the one pass over the digest text.
func (w *Walk) scanDigest(set *pattern.Set, text []byte) *pattern.Found {
	if !w.digest.done {
		set.Find(&w.digest.found, text)
		w.digest.done = true
	}
	return &w.digest.found
}

// scanText makes the one pass over the text, and again when it was rewritten: nil if there are no steps left for that.
func (w *Walk) scanText(set *pattern.Set) *pattern.Found {
	if w.text.done {
		return &w.text.found
	}
	if w.Rewritten && w.steps <= 0 {
		return nil
	}
	set.Find(&w.text.found, w.Text)
	w.text.done = true
	if w.Rewritten {
		w.steps -= w.text.found.Work / workAStep
	}
	return &w.text.found
}

// alone matches an expression by itself. Without an outcome it does not hold, not even negated.
func (w *Walk) alone(re *pattern.Regexp, text []byte, negate bool) (holds bool, lack Lack) {
	if w.steps <= 0 {
		w.TooComplex = true
		return false, LackOfOthers
	}
	fair := min(share+shareAByte*len(text), maxSteps/2)
	granted := min(fair, w.steps)
	left := granted
	var found bool
	var err error
	if re.InSet() {
		found, err = re.FindWithin(text, &left)
	} else {
		found, err = re.MatchWithin(text, &left)
	}
	w.steps -= granted - left
	switch {
	case err == nil:
		return found != negate, LackNone
	case granted < fair:
		lack = LackOfOthers
	default:
		lack = LackOfBound
	}
	w.TooComplex = true
	return false, lack
}
