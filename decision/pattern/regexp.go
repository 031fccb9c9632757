package pattern

import "sync/atomic"

// Regexp is a compiled expression. To its users it never changes, and many goroutines may use it at once.
type Regexp struct {
	expr         string
	groups       int
	caseless     bool
	backtracking bool
	inSet        bool

	// prog is nil until it is needed, if a Set can take the expression: the Set then does nearly all of the work.
	prog atomic.Pointer[program]
}

// Compile reads an expression as PCRE without UTF mode does. With caseless, ASCII letters match in both cases, as with
// ProxySQL's CASELESS. The error is a *SyntaxError. Any number of goroutines may compile at once.
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
	prog := assemble(root, groups)
	r := &Regexp{expr: expr, groups: groups, caseless: caseless, backtracking: prog.memoRows < 0}
	r.inSet = !r.backtracking && fitsSet(root)
	if !r.inSet {
		r.prog.Store(prog)
	}
	return r, nil
}

// program gives the program, and writes it first if nobody needed it yet.
func (r *Regexp) program() *program {
	if prog := r.prog.Load(); prog != nil {
		return prog
	}
	root, groups := r.tree()
	prog := assemble(root, groups)
	r.prog.Store(prog)
	return prog
}

// tree reads the expression again.
func (r *Regexp) tree() (root *node, groups int) {
	root, groups, err := parse(r.expr, r.caseless)
	if err != nil {
		panic("pattern: an expression that was read before: " + err.Error())
	}
	return root, groups
}

// Groups gives the number of capture groups.
func (r *Regexp) Groups() int { return r.groups }

// Backtracking tells whether matching can take more than linear time and so has a bound, see MatchErr. That is so with
// look-around, back-references, conditions, atomic groups, possessive groups, \K and \R, and with
// very large counts.
func (r *Regexp) Backtracking() bool { return r.backtracking }

// InSet tells whether a Set takes the expression: one that is not Backtracking, has no possessive quantifier, and has
// at most 2,000 bytes and places once its counts are written out.
func (r *Regexp) InSet() bool { return r.inSet }

// Match tells whether the expression matches anywhere in the text. Running out of its bound counts as no match.
func (r *Regexp) Match(text []byte) bool {
	found, _ := r.MatchErr(text)
	return found
}

// MatchErr tells whether the expression matches anywhere in the text, or gives ErrTooComplex when it ran out of its
// bound: ten million steps and 16 for each byte of the text. An expression that is not Backtracking has a far
// higher bound, in proportion to the text, and reaches it only on texts of megabytes, if at all.
func (r *Regexp) MatchErr(text []byte) (bool, error) {
	m := borrow(r.program(), text, false)
	defer m.release()
	_, _, found, err := m.search(0, false, false)
	return found, err
}

// MatchWithin is MatchErr with a bound that many searches share: it takes the steps it used off *steps, at least one
// for each 16 bytes of the text, and gives ErrTooComplex when they run out, or its own bound does.
func (r *Regexp) MatchWithin(text []byte, steps *int) (bool, error) {
	const bytesAStep = 16 // Looking for a byte or literal that a match begins with is that much cheaper than a step.
	if *steps -= 1 + len(text)/bytesAStep; *steps < 0 {
		return false, ErrTooComplex
	}
	m := borrow(r.program(), text, false)
	defer m.release()
	m.limit = *steps
	_, _, found, err := m.search(0, false, false)
	*steps -= m.spent
	return found, err
}
