package pattern

// Regexp is a compiled expression. It never changes and may be used by many goroutines at once.
type Regexp struct {
	groups int
	prog   *program
}

// Compile reads an expression as PCRE without UTF mode does. With caseless, ASCII letters match in both cases, as with
// ProxySQL's CASELESS. The error is a *SyntaxError.
//
// Recursion, calls of groups, callouts, verbs and Unicode properties are refused; so are expressions of more than
// 64 KiB, groups nested more than 250 deep, and counts above 65535.
func Compile(expr string, caseless bool) (*Regexp, error) {
	root, groups, err := parse(expr, caseless)
	if err == nil {
		err = checkLooks(root, false)
	}
	if err != nil {
		return nil, err
	}
	return &Regexp{groups: groups, prog: assemble(root, groups)}, nil
}

// Groups gives the number of capture groups.
func (r *Regexp) Groups() int { return r.groups }

// Backtracking tells whether matching can take more than linear time and so has a bound, see MatchErr. That is so with
// look-around, back-references, conditions, atomic groups, possessive groups, \K and \R, and with
// very large counts.
func (r *Regexp) Backtracking() bool { return r.prog.memoRows < 0 }

// Match tells whether the expression matches anywhere in the text. Running out of its bound counts as no match.
func (r *Regexp) Match(text []byte) bool {
	found, _ := r.MatchErr(text)
	return found
}

// MatchErr tells whether the expression matches anywhere in the text, or gives ErrTooComplex when it ran out of its
// bound: ten million steps and 16 for each byte of the text. An expression that is not Backtracking has a far
// higher bound, in proportion to the text, and reaches it only on texts of megabytes, if at all.
func (r *Regexp) MatchErr(text []byte) (bool, error) {
	m := borrow(r.prog, text, false)
	defer m.release()
	_, _, found, err := m.search(0, false, false)
	return found, err
}
