package pattern

import "strings"

// class reads [...].
func (p *parser) class() (*node, *SyntaxError) {
	begin := p.pos
	if name, ok := p.posixName(); ok {
		return nil, syntaxErrorf(begin, "[%s] stands outside a class; write [[%s]]", name, name)
	}
	p.pos++
	if word := p.wordEdge(); word != nil {
		return word, nil
	}
	p.skipQuotes()
	negate := p.take("^")
	var set byteSet
	for first := true; ; first = false {
		p.skipQuotes()
		if !p.more() {
			return nil, syntaxErrorf(begin, `the class that begins here has no end; close it with ], or write \[ for the character`)
		}
		if !first && !p.quoted && p.take("]") {
			break
		}
		if err := p.member(&set); err != nil {
			return nil, err
		}
	}
	if p.flags.caseless {
		set.fold()
	}
	if negate {
		set.negate()
	}
	return setNode(set), nil
}

// wordEdge reads the rest of [[:<:]] and [[:>:]], the beginning and end of a word.
func (p *parser) wordEdge() *node {
	look := &node{kind: kindLook, subs: []*node{setNode(ranges(wordBytes))}}
	switch {
	case p.take("[:<:]]"):
	case p.take("[:>:]]"):
		look.behind = true
	default:
		return nil
	}
	return concat([]*node{{kind: kindAssert, assertion: assertBoundary}, look})
}

// skipQuotes goes past \Q and \E.
func (p *parser) skipQuotes() {
	for {
		switch {
		case p.take(`\E`):
			p.quoted = false
		case !p.quoted && p.take(`\Q`):
			p.quoted = true
		default:
			return
		}
	}
}

// member reads one byte, range, escape or [:name:] of a class into set.
func (p *parser) member(set *byteSet) *SyntaxError {
	begin := p.pos
	if s, ok, err := p.subset(); ok || err != nil {
		set.addSet(&s)
		return err
	}
	low, err := p.classByte()
	if err != nil {
		return err
	}
	high := low
	if p.rangeFollows() {
		if _, ok, _ := p.subset(); ok {
			return syntaxErrorf(begin, `a range can't end in a set of bytes; put the - first or last in the class, or write \-`)
		}
		if high, err = p.classByte(); err != nil {
			return err
		}
		if low > high {
			return syntaxErrorf(begin, `the range %q-%q is out of order; swap its ends, or write \- for the character`, low, high)
		}
	}
	set.addRange(low, high)
	return nil
}

// rangeFollows goes past a - with an upper end behind it. Without one the - is a plain byte and stays.
func (p *parser) rangeFollows() bool {
	begin, quoted := p.pos, p.quoted
	if p.take(`\E`) {
		p.quoted = false
	}
	if !p.quoted && p.take("-") {
		p.skipQuotes()
		if p.more() && (p.quoted || !p.has("]")) {
			return true
		}
	}
	p.pos, p.quoted = begin, quoted
	return false
}

// subset reads an escape or [:name:] that is a set. If something else comes it reads nothing.
func (p *parser) subset() (set byteSet, ok bool, err *SyntaxError) {
	begin := p.pos
	switch {
	case p.quoted || !p.more():
		return set, false, nil
	case p.expr[p.pos] == '[':
		return p.posixClass()
	case p.expr[p.pos] == '\\' && p.pos+1 < len(p.expr):
		if set, ok = classEscapes[p.expr[p.pos+1]]; ok {
			p.pos += 2
			return set, true, nil
		}
		switch c := p.expr[p.pos+1]; c {
		case 'p', 'P':
			return set, false, syntaxErrorf(begin, `\%c needs Unicode, but expressions work on bytes; list the bytes in the class`, c)
		case 'N':
			return set, false, syntaxErrorf(begin, `\N can't stand in a class; write [^\n]`)
		}
	}
	return set, false, nil
}

// posixName looks at [:name:], [.name.] or [=name=] and gives it without the brackets. It reads nothing.
func (p *parser) posixName() (string, bool) {
	rest := p.expr[p.pos:]
	if len(rest) < len("[::]") || !strings.ContainsRune(":.=", rune(rest[1])) {
		return "", false
	}
	end := strings.IndexAny(rest[2:], rest[1:2]+`[]\`) + 2
	if end < 2 || rest[end] != rest[1] || !strings.HasPrefix(rest[end+1:], "]") {
		return "", false
	}
	return rest[1 : end+1], true
}

func (p *parser) posixClass() (set byteSet, ok bool, err *SyntaxError) {
	begin := p.pos
	name, ok := p.posixName()
	if !ok {
		return set, false, nil
	}
	p.pos += len(name) + 2
	if name[0] != ':' {
		return set, false, syntaxErrorf(begin, "collating elements like [%s] are not supported, nor by PCRE; list the bytes", name)
	}
	key, inverse := strings.CutPrefix(strings.Trim(name, ":"), "^")
	if p.flags.caseless && (key == "upper" || key == "lower") {
		key = "alpha"
	}
	set, ok = posixClasses[key]
	if !ok {
		return set, false, syntaxErrorf(begin, "[%s] is no class PCRE knows; it has alnum, alpha, ascii, blank, cntrl, digit, graph, lower, print, punct, space, upper, word, xdigit", name)
	}
	if inverse {
		set.negate()
	}
	return set, true, nil
}

// classByte reads one byte of a class, plain or escaped.
func (p *parser) classByte() (byte, *SyntaxError) {
	c := p.expr[p.pos]
	if p.quoted || c != '\\' {
		p.pos++
		return c, nil
	}
	if p.pos+1 == len(p.expr) {
		return 0, syntaxErrorf(p.pos, `a \ ends the expression; write \\ for the character`)
	}
	if p.has(`\b`) {
		p.pos += 2
		return '\b', nil
	}
	return p.escapedByte()
}
