package guideline

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// REGEXP_LIKE takes ECMAScript's regular expressions. They are written anew for Go's engine, whose time is linear in the
// text: letters become classes of both cases (Go's own folding knows more than ASCII), `.` and the classes mean what
// ECMAScript says. What can't be matched in linear time is refused: look-ahead, look-behind and back-references.

const (
	maxRegexpBytes = 4096
	maxRegexpDepth = 100
	maxRegexpCount = 1000   // of one {n,m}, the engine's own limit
	maxRegexpSize  = 20_000 // characters and classes when every repetition is written out
)

// wholeRegexp is an expression that has to match a whole text.
type wholeRegexp struct {
	*regexp.Regexp

	size int // characters and classes when every repetition is written out
}

// compileRegexp compiles an expression that has to match a whole text, whatever the case of ASCII letters. Its size is at
// most largest.
func compileRegexp(pattern string, largest int) (*wholeRegexp, error) {
	if len(pattern) > maxRegexpBytes {
		return nil, fmt.Errorf("it has %d bytes, at most %d are allowed", len(pattern), maxRegexpBytes)
	}
	if !utf8.ValidString(pattern) {
		return nil, errNotUTF8
	}
	e := ecma{pattern: pattern}
	e.out.WriteString(`\A(?:`)
	size, err := e.alternatives()
	if err == nil && e.at < len(pattern) {
		err = e.fail("unmatched )")
	}
	if err != nil {
		return nil, err
	}
	if size > largest {
		return nil, fmt.Errorf("with its repetitions written out it has %d parts, at most %d are allowed", size, largest)
	}
	e.out.WriteString(`)\z`)
	re, err := regexp.Compile(e.out.String())
	if bad, ok := errors.AsType[*syntax.Error](err); ok && bad.Code == syntax.ErrInvalidRepeatSize {
		return nil, fmt.Errorf("repetitions inside each other come to more than %d times", maxRegexpCount)
	}
	if err != nil {
		return nil, err
	}
	return &wholeRegexp{Regexp: re, size: size}, nil
}

var errNotUTF8 = errors.New("it is not UTF-8")

// ecma writes an ECMAScript expression for Go's engine.
type ecma struct {
	pattern string
	at      int
	depth   int
	out     strings.Builder
}

func (e *ecma) fail(message string) error {
	return fmt.Errorf("%s at character %d", message, utf8.RuneCountInString(e.pattern[:e.at])+1)
}

func (e *ecma) accept(text string) bool {
	if strings.HasPrefix(e.pattern[e.at:], text) {
		e.at += len(text)
		return true
	}
	return false
}

// alternatives reads up to the end or a closing parenthesis, and gives how large the automaton gets by it.
func (e *ecma) alternatives() (size int, err error) {
	for e.at < len(e.pattern) && e.pattern[e.at] != ')' {
		if e.accept("|") {
			e.out.WriteByte('|')
			size++
			continue
		}
		n, err := e.term()
		if err != nil {
			return 0, err
		}
		size = min(size+n, maxRegexpSize+1)
	}
	return size, nil
}

// term reads an assertion, or an atom and its quantifier.
func (e *ecma) term() (int, error) {
	for _, a := range [...]struct{ ecma, goes string }{{`^`, `\A`}, {`$`, `\z`}, {`\b`, `\b`}, {`\B`, `\B`}} {
		if e.accept(a.ecma) {
			e.out.WriteString(a.goes)
			return 1, nil
		}
	}
	size, err := e.atom()
	if err != nil {
		return 0, err
	}
	return e.quantifier(size)
}

// atom reads a character, a class or a group. What it writes is one unit that a quantifier may follow.
func (e *ecma) atom() (int, error) {
	switch c := e.pattern[e.at]; c {
	case '(':
		return e.group()
	case '[':
		return 1, e.class()
	case '.':
		e.at++
		e.out.WriteString(`[^\n\r\x{2028}\x{2029}]`)
		return 1, nil
	case '*', '+', '?':
		return 0, e.fail("nothing to repeat")
	case '{':
		return 0, e.fail(`{ that no count follows here, for the character write \{`)
	case '\\':
		set, err := e.escape(false)
		if err != nil {
			return 0, err
		}
		e.write(set, false)
		return 1, nil
	}
	r, size := utf8.DecodeRuneInString(e.pattern[e.at:])
	e.at += size
	e.write(runeSet{{r, r}}, false)
	return 1, nil
}

// group reads a parenthesis. Nothing asks for what was captured, so all are alike.
func (e *ecma) group() (int, error) {
	start := e.at
	e.at++
	if e.accept("?") && !e.accept(":") {
		e.at = start
		for _, look := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
			if strings.HasPrefix(e.pattern[start:], look) {
				return 0, e.fail("look-ahead and look-behind can't be matched in linear time: " + look)
			}
		}
		return 0, e.fail("unknown kind of group")
	}
	if e.depth++; e.depth > maxRegexpDepth {
		return 0, fmt.Errorf("groups are nested too deep, at most %d are allowed", maxRegexpDepth)
	}
	e.out.WriteString("(?:")
	size, err := e.alternatives()
	if err != nil {
		return 0, err
	}
	if !e.accept(")") {
		e.at = start
		return 0, e.fail("unclosed (")
	}
	e.depth--
	e.out.WriteByte(')')
	return size + 1, nil
}

// quantifier reads what may follow an atom of that size. Whether it is greedy makes no difference to a whole match.
func (e *ecma) quantifier(size int) (int, error) {
	start := e.at
	low, high, unbounded := 0, 1, false
	switch {
	case e.accept("*"):
		unbounded = true
	case e.accept("+"):
		low, unbounded = 1, true
	case e.accept("?"):
	case e.at < len(e.pattern) && e.pattern[e.at] == '{':
		var ok bool
		if low, high, unbounded, ok = e.counts(); !ok {
			e.at = start
			return 0, e.fail(`{ that no count follows here, for the character write \{`)
		}
	default:
		return size, nil
	}
	e.accept("?")
	fault := ""
	switch {
	case low > maxRegexpCount || !unbounded && high > maxRegexpCount:
		fault = fmt.Sprintf("repetition of more than %d times", maxRegexpCount)
	case !unbounded && high < low:
		fault = "repetition with more at least than at most"
	case e.at < len(e.pattern) && strings.IndexByte("*+?{", e.pattern[e.at]) >= 0:
		start, fault = e.at, "nothing to repeat"
	}
	if fault != "" {
		e.at = start
		return 0, e.fail(fault)
	}
	if unbounded {
		fmt.Fprintf(&e.out, "{%d,}", low)
		high = low + 1
	} else {
		fmt.Fprintf(&e.out, "{%d,%d}", low, high)
	}
	return min(size*max(high, 1), maxRegexpSize+1), nil
}

// counts reads {n}, {n,} or {n,m}.
func (e *ecma) counts() (low, high int, unbounded, ok bool) {
	e.at++
	low, ok = e.count()
	if !ok {
		return 0, 0, false, false
	}
	high = low
	if e.accept(",") {
		high, ok = e.count()
		unbounded = !ok
	}
	return low, high, unbounded, e.accept("}")
}

// count reads digits. What is far beyond the limit stays there.
func (e *ecma) count() (int, bool) {
	start, n := e.at, 0
	for e.at < len(e.pattern) && isDigit(e.pattern[e.at]) {
		n = min(n*10+int(e.pattern[e.at]-'0'), maxRegexpCount+1)
		e.at++
	}
	return n, e.at > start
}
