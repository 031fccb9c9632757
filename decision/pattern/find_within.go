package pattern

// Bounds of a search for a single expression.
const (
	aloneMemory = 64 << 10 // for its states
	stepsToPack = 1000     // to make its automaton, and for each node besides:
	stepsANode  = 8
	workAStep   = 2
)

// FindWithin is MatchWithin for an expression that is InSet. It makes an automaton of the expression for this one search,
// which is worth it for long texts: the time is linear in the text.
func (r *Regexp) FindWithin(text []byte, steps *int) (bool, error) {
	const bytesAStep = 16 // as in MatchWithin
	*steps -= stepsToPack + len(text)/bytesAStep
	if *steps < 0 {
		return false, ErrTooComplex
	}
	s := newSet([]*Regexp{r}, nil, aloneMemory)
	if s.nfa == nil {
		return len(s.always) > 0, nil
	}
	if *steps -= stepsANode * len(s.nfa.has); *steps < 0 {
		return false, ErrTooComplex
	}
	var f Found
	f.reset(1)
	allowed := *steps * workAStep
	s.search(&f, text, allowed, false)
	*steps -= (f.Work + workAStep - 1) / workAStep
	if f.GaveUp {
		return false, ErrTooComplex
	}
	return f.Has(0), nil
}
