package pattern

import "strings"

// group reads what begins with an opening parenthesis.
func (p *parser) group() (item *node, repeatable bool, err *SyntaxError) {
	begin := p.pos
	if p.depth++; p.depth > maxDepth {
		return nil, false, syntaxErrorf(begin, "groups are nested more than %d deep; flatten the expression", maxDepth)
	}
	defer func() { p.depth-- }()
	switch {
	case p.has("(?#"):
		return nil, false, p.comment()
	case p.has("(*") && len(p.expr) > begin+2 && isWord(p.expr[begin+2]):
		return nil, false, syntaxErrorf(begin, "verbs like (*UTF8) or (*FAIL) are not supported; remove it")
	case !p.has("(?"):
		p.pos++
		item, err = p.capture(begin, "")
		return item, true, err
	}
	p.pos += len("(?")
	switch {
	case p.take(":"):
		item, err = p.inside(begin)
	case p.take("|"):
		item, err = p.branchReset(begin)
	case p.take(">"):
		item, err = p.wrapped(begin, &node{kind: kindAtomic})
	case p.take("="):
		item, err = p.wrapped(begin, &node{kind: kindLook})
	case p.take("!"):
		item, err = p.wrapped(begin, &node{kind: kindLook, negative: true})
	case p.take("<="):
		item, err = p.wrapped(begin, &node{kind: kindLook, behind: true})
	case p.take("<!"):
		item, err = p.wrapped(begin, &node{kind: kindLook, behind: true, negative: true})
	case p.take("P="):
		var name string
		if name, err = p.name(")"); err == nil {
			item = p.backref(0, name)
		}
	case p.take("P<"), p.take("<"):
		item, err = p.namedCapture(begin, ">")
	case p.take("'"):
		item, err = p.namedCapture(begin, "'")
	case p.take("("):
		item, err = p.conditional(begin)
	default:
		if err = p.unsupportedGroup(begin); err != nil {
			return nil, false, err
		}
		return p.options(begin)
	}
	return item, true, err
}

func (p *parser) unsupportedGroup(begin int) *SyntaxError {
	rest := p.expr[p.pos:]
	switch {
	case rest == "":
		return syntaxErrorf(begin, `(? needs more, such as (?:...); write \( for the character`)
	case rest[0] == 'R', rest[0] == '&', strings.HasPrefix(rest, "P>"), isDigit(rest[0]),
		len(rest) > 1 && (rest[0] == '+' || rest[0] == '-') && isDigit(rest[1]):
		return syntaxErrorf(begin, "recursion and calls of groups, such as (?R), (?1) or (?&name), are not supported; write the group out again")
	case rest[0] == 'C':
		return syntaxErrorf(begin, "callouts (?C) are not supported; remove it")
	}
	return nil
}

// comment goes past (?#...).
func (p *parser) comment() *SyntaxError {
	length := strings.IndexByte(p.expr[p.pos:], ')')
	if length < 0 {
		return syntaxErrorf(p.pos, "the comment (?#... has no end; close it with )")
	}
	p.pos += length + 1
	return nil
}

// closed checks the end of the group that begins at begin.
func (p *parser) closed(begin int) *SyntaxError {
	if p.take(")") {
		return nil
	}
	return syntaxErrorf(begin, `the group that begins here has no end; close it with ), or write \( for the character`)
}

func (p *parser) inside(begin int) (*node, *SyntaxError) {
	item, err := p.alternation()
	if err != nil {
		return nil, err
	}
	return item.grouped(), p.closed(begin)
}

// grouped keeps a group apart from the item inside, so that a quantifier behind it finds one item.
func (n *node) grouped() *node {
	if n.kind == kindLook {
		return &node{kind: kindConcat, subs: []*node{n}}
	}
	return n
}

func (p *parser) wrapped(begin int, outer *node) (*node, *SyntaxError) {
	inner, err := p.inside(begin)
	if err != nil {
		return nil, err
	}
	outer.subs = []*node{inner}
	return outer, nil
}

func (p *parser) capture(begin int, name string) (*node, *SyntaxError) {
	p.groups++
	item := &node{kind: kindCapture, index: p.groups}
	if err := p.register(begin, name); err != nil {
		return nil, err
	}
	p.open = append(p.open, item)
	inner, err := p.inside(begin)
	if err != nil {
		return nil, err
	}
	p.open = p.open[:len(p.open)-1]
	item.subs = []*node{inner}
	if item.ownRef {
		// As in PCRE: a group that refers to itself is not entered again once it has matched.
		return &node{kind: kindAtomic, subs: []*node{item}}, nil
	}
	return item, nil
}

// register gives the group opened last its name.
func (p *parser) register(begin int, name string) *SyntaxError {
	if name == "" {
		return nil
	}
	if other, ok := p.names[name]; ok && other != p.groups {
		return syntaxErrorf(begin, "two groups have the name %q; rename one", name)
	}
	if other, ok := p.nameOf[p.groups]; ok && other != name {
		return syntaxErrorf(begin, "group %d has the names %q and %q; use one", p.groups, other, name)
	}
	p.names[name], p.nameOf[p.groups] = p.groups, name
	return nil
}

func (p *parser) namedCapture(begin int, end string) (*node, *SyntaxError) {
	name, err := p.name(end)
	if err != nil {
		return nil, err
	}
	return p.capture(begin, name)
}

// name reads a group's name and the end behind it.
func (p *parser) name(end string) (string, *SyntaxError) {
	const maxName = 32
	begin := p.pos
	for p.more() && isWord(p.expr[p.pos]) {
		p.pos++
	}
	name := p.expr[begin:p.pos]
	switch {
	case name == "":
		return "", syntaxErrorf(begin, "a group's name must come here: letters, digits and _, not beginning with a digit")
	case isDigit(name[0]):
		return "", syntaxErrorf(begin, "the group's name %q begins with a digit; begin it with a letter or _", name)
	case len(name) > maxName:
		return "", syntaxErrorf(begin, "a group's name is longer than %d bytes; shorten it", maxName)
	case !p.take(end):
		return "", syntaxErrorf(p.pos, "%s must come here, behind the group's name", end)
	}
	return name, nil
}

// branchReset reads the rest of (?|...), whose alternatives all count their groups from the same number.
func (p *parser) branchReset(begin int) (*node, *SyntaxError) {
	outer := p.flags
	first, most := p.groups, p.groups
	branches, err := p.branches(func() {
		most = max(most, p.groups)
		p.groups = first
	})
	if err != nil {
		return nil, err
	}
	p.flags = outer
	p.groups = max(most, p.groups)
	return (&node{kind: kindAlternate, subs: branches}).grouped(), p.closed(begin)
}

// options reads (?imsxU-imsxU), alone or with a group behind a colon.
func (p *parser) options(begin int) (item *node, repeatable bool, err *SyntaxError) {
	outer := p.flags
	on := true
	for p.more() {
		c := p.expr[p.pos]
		p.pos++
		switch c {
		case '-':
			on = false
		case 'i':
			p.flags.caseless = on
		case 'm':
			p.flags.multiline = on
		case 's':
			p.flags.dotAll = on
		case 'x':
			p.flags.extended = on
		case 'U':
			p.flags.ungreedy = on
		case 'J', 'X':
			return nil, false, syntaxErrorf(begin, "the option %c is not supported; i, m, s, x and U are", c)
		case ')':
			return nil, false, p.nothingToRepeat()
		case ':':
			inner, err := p.inside(begin)
			p.flags = outer
			return inner, true, err
		default:
			return nil, false, syntaxErrorf(p.pos-1, `%q means nothing behind (?; write (?:...) for a group, or \( for the character`, c)
		}
	}
	return nil, false, syntaxErrorf(begin, "the options that begin here have no end; close them with )")
}

// conditional reads the rest of (?(condition)yes|no).
func (p *parser) conditional(begin int) (*node, *SyntaxError) {
	condition, err := p.condition(begin)
	if err != nil {
		return nil, err
	}
	outer := p.flags
	branches, err := p.branches(nil)
	if err != nil {
		return nil, err
	}
	p.flags = outer
	switch len(branches) {
	case 1:
		branches = append(branches, &node{kind: kindEmpty})
	case 2:
	default:
		return nil, syntaxErrorf(begin, "a conditional group has at most two branches; put more into (?:...)")
	}
	condition.subs = append(condition.subs, branches...)
	return condition, p.closed(begin)
}

// condition reads what is in the inner parentheses, and the closing one.
func (p *parser) condition(begin int) (*node, *SyntaxError) {
	if p.has("?") {
		p.pos--
		switch {
		case p.has("(?="), p.has("(?!"), p.has("(?<="), p.has("(?<!"):
			look, _, err := p.group()
			return &node{kind: kindCondLook, subs: []*node{look}}, err
		}
		return nil, syntaxErrorf(p.pos, "a condition is a look-around, such as (?(?=a)...), or a group, such as (?(1)...)")
	}
	item := &node{kind: kindCondGroup, pos: begin}
	at := p.pos
	var name string
	var err *SyntaxError
	switch {
	case p.take("<"):
		name, err = p.name(">")
	case p.take("'"):
		name, err = p.name("'")
	case p.more() && (isDigit(p.expr[p.pos]) || p.expr[p.pos] == '+' || p.expr[p.pos] == '-'):
		item.index, err = p.conditionNumber()
	default:
		if name, err = p.name(")"); err == nil {
			p.pos--
		}
	}
	if err != nil {
		return nil, err
	}
	if _, known := p.names[name]; !known && (name == "DEFINE" || name == "R" || strings.HasPrefix(name, "R") && isNumber(name[1:])) {
		return nil, syntaxErrorf(at, "the condition (%s) belongs to recursion, which is not supported", name)
	}
	if !p.take(")") {
		return nil, syntaxErrorf(at, "the condition that begins here has no end; close it with )")
	}
	p.references = append(p.references, reference{item, name})
	return item, nil
}

// conditionNumber reads n, +n or -n; the latter two count from here.
func (p *parser) conditionNumber() (int, *SyntaxError) {
	begin := p.pos
	sign := byte(0)
	if c := p.expr[p.pos]; !isDigit(c) {
		sign = c
		p.pos++
	}
	n := number(p.digits())
	relative := n
	switch sign {
	case '+':
		relative = p.groups + n
	case '-':
		relative = p.groups + 1 - n
	}
	if n == 0 || relative < 1 {
		return 0, syntaxErrorf(begin, "the condition names no group; groups count from 1")
	}
	return relative, nil
}

// digits reads digits, which may be none.
func (p *parser) digits() string {
	begin := p.pos
	for p.more() && isDigit(p.expr[p.pos]) {
		p.pos++
	}
	return p.expr[begin:p.pos]
}

// backref makes a back-reference by number, or by name if that is not empty.
func (p *parser) backref(index int, name string) *node {
	item := &node{kind: kindBackref, index: index, caseless: p.flags.caseless, pos: p.pos}
	p.references = append(p.references, reference{item, name})
	if name != "" {
		index = p.names[name]
	}
	for _, open := range p.open {
		if open.index == index {
			open.ownRef = true
		}
	}
	return item
}
