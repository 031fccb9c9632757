package pattern

import "strings"

// escapeItem reads an escape outside a class.
func (p *parser) escapeItem() (item *node, repeatable bool, err *SyntaxError) {
	begin := p.pos
	if begin+1 == len(p.expr) {
		return nil, false, syntaxErrorf(begin, `a \ ends the expression; write \\ for the character`)
	}
	c := p.expr[begin+1]
	if place, ok := places[c]; ok {
		p.pos += 2
		return &node{kind: kindAssert, assertion: place}, false, p.nothingToRepeat()
	}
	switch c {
	case 'K':
		p.pos += 2
		return &node{kind: kindKeep}, false, p.nothingToRepeat()
	case 'R':
		p.pos += 2
		return newlineSequence(), true, nil
	case 'C':
		p.pos += 2
		return setNode(negated(byteSet{})), true, nil
	case 'N':
		if !p.has(`\N{`) || p.countsAt(begin+2) {
			p.pos += 2
			return setNode(negated(singleton('\n'))), true, nil
		}
	case 'k':
		p.pos += 2
		item, err = p.namedReference(begin)
		return item, true, err
	case 'g':
		p.pos += 2
		item, err = p.groupReference(begin)
		return item, true, err
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if n := p.decimalAt(begin + 1); n <= p.groups || n < 8 {
			p.pos++
			p.digits()
			return p.backref(n, ""), true, nil
		}
	case 'X', 'p', 'P':
		return nil, false, syntaxErrorf(begin, `\%c needs Unicode, but expressions work on bytes; list the bytes or characters in [...]`, c)
	}
	if set, ok := classEscapes[c]; ok {
		p.pos += 2
		return setNode(set), true, nil
	}
	b, err := p.escapedByte()
	if err != nil {
		return nil, false, err
	}
	return p.literal(b), true, nil
}

var places = map[byte]assertion{
	'A': assertTextBegin,
	'Z': assertFinalEnd,
	'z': assertTextEnd,
	'b': assertBoundary,
	'B': assertNoBoundary,
	'G': assertFrom,
}

// classEscapes holds the escapes that are sets, in a class and outside.
var classEscapes = map[byte]byteSet{
	'd': ranges(digitBytes),
	'D': negated(ranges(digitBytes)),
	's': ranges(spaceBytes),
	'S': negated(ranges(spaceBytes)),
	'w': ranges(wordBytes),
	'W': negated(ranges(wordBytes)),
	'h': ranges(horizontalBytes),
	'H': negated(ranges(horizontalBytes)),
	'v': ranges(verticalBytes),
	'V': negated(ranges(verticalBytes)),
}

// newlineSequence is \R: a CRLF that is never taken apart, or one vertical space.
func newlineSequence() *node {
	return &node{kind: kindAtomic, subs: []*node{{kind: kindAlternate, subs: []*node{
		concat([]*node{setNode(singleton('\r')), setNode(singleton('\n'))}),
		setNode(ranges(verticalBytes)),
	}}}}
}

func (p *parser) countsAt(pos int) bool {
	q := parser{expr: p.expr, pos: pos}
	_, _, ok, _ := q.counts()
	return ok
}

func (p *parser) decimalAt(pos int) int {
	q := parser{expr: p.expr, pos: pos}
	return number(q.digits())
}

// namedReference reads the rest of \k<name>, \k'name' or \k{name}.
func (p *parser) namedReference(begin int) (*node, *SyntaxError) {
	var end string
	switch {
	case p.take("<"):
		end = ">"
	case p.take("'"):
		end = "'"
	case p.take("{"):
		end = "}"
	default:
		return nil, syntaxErrorf(begin, `\k needs a group's name, as in \k<name>`)
	}
	name, err := p.name(end)
	if err != nil {
		return nil, err
	}
	return p.backref(0, name), nil
}

// groupReference reads the rest of \g1, \g{1}, \g-1, \g{-1} or \g{name}.
func (p *parser) groupReference(begin int) (*node, *SyntaxError) {
	if p.has("<") || p.has("'") {
		return nil, syntaxErrorf(begin, `calls of groups, such as \g<1>, are not supported; write the group out again, or \g{1} for its text`)
	}
	braced := p.take("{")
	if braced && p.more() && isWord(p.expr[p.pos]) && !isDigit(p.expr[p.pos]) {
		name, err := p.name("}")
		if err != nil {
			return nil, err
		}
		return p.backref(0, name), nil
	}
	relative := p.take("-")
	n := number(p.digits())
	if n == 0 || braced && !p.take("}") {
		return nil, syntaxErrorf(begin, `\g needs a group's number, as in \g{1} or \g{-1}, or its name, as in \g{name}`)
	}
	if relative {
		if n > p.groups {
			return nil, syntaxErrorf(begin, `\g{-%d} goes back over more groups than begin before it (%d)`, n, p.groups)
		}
		n = p.groups + 1 - n
	}
	return p.backref(n, ""), nil
}

// escapedByte reads an escape that stands for one byte, in a class or outside.
func (p *parser) escapedByte() (byte, *SyntaxError) {
	begin := p.pos
	c := p.expr[begin+1]
	p.pos += 2
	switch c {
	case 'a':
		return '\a', nil
	case 'e':
		return 0x1b, nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'c':
		return p.control(begin)
	case 'o':
		if !p.take("{") {
			return 0, syntaxErrorf(begin, `\o needs octal digits in braces, as in \o{101}`)
		}
		return p.braced(begin, 8)
	case 'x':
		if p.take("{") {
			return p.braced(begin, 16)
		}
		return byte(p.value(16, 2)), nil
	case '0', '1', '2', '3', '4', '5', '6', '7':
		p.pos--
		n := p.value(8, 3)
		if n > 0xff {
			return 0, syntaxErrorf(begin, `the octal value is above \377; expressions work on bytes`)
		}
		return byte(n), nil
	case 'L', 'l', 'N', 'U', 'u':
		return 0, syntaxErrorf(begin, `\%c is not supported, nor by PCRE; write the bytes, or %c without the \`, c, c)
	}
	return c, nil
}

// control reads the rest of \cX.
func (p *parser) control(begin int) (byte, *SyntaxError) {
	if !p.more() || p.expr[p.pos] >= 0x80 {
		return 0, syntaxErrorf(begin, `\c needs an ASCII character behind it, as in \cA`)
	}
	c := p.expr[p.pos]
	p.pos++
	if c >= 'a' && c <= 'z' {
		c -= 'a' - 'A'
	}
	return c ^ 0x40, nil
}

// braced reads digits and the closing brace.
func (p *parser) braced(begin, base int) (byte, *SyntaxError) {
	n := 0
	digits := 0
	for p.more() && digit(p.expr[p.pos], base) >= 0 {
		n = min(n*base+digit(p.expr[p.pos], base), 1<<16)
		p.pos++
		digits++
	}
	switch {
	case digits == 0 || !p.take("}"):
		return 0, syntaxErrorf(begin, "the braces need digits to base %d, and a } behind them", base)
	case n > 0xff:
		return 0, syntaxErrorf(begin, `the value is above 255; expressions work on bytes, so write each byte, such as \xC3\xA9`)
	}
	return byte(n), nil
}

// value reads at most width digits, which may be none.
func (p *parser) value(base, width int) int {
	n := 0
	for ; width > 0 && p.more() && digit(p.expr[p.pos], base) >= 0; width-- {
		n = n*base + digit(p.expr[p.pos], base)
		p.pos++
	}
	return n
}

// digit gives the value of a digit to the base, or -1.
func digit(c byte, base int) int {
	if n := strings.IndexByte("0123456789abcdef", foldTable[c]); n < base {
		return n
	}
	return -1
}
