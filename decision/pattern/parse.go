package pattern

// Bounds of an expression. PCRE has the same ones for nesting and counts.
const (
	maxExpression = 64 << 10 // bytes
	maxDepth      = 250      // groups inside each other
	maxCount      = 65535    // in {n,m}
)

// flags are the options that (?imsxU) sets.
type flags struct {
	caseless  bool // i
	multiline bool // m
	dotAll    bool // s
	extended  bool // x
	ungreedy  bool // U
}

// parser reads an expression from left to right.
type parser struct {
	expr   string
	pos    int
	flags  flags
	quoted bool // between \Q and \E
	depth  int

	groups     int            // capture groups opened so far
	names      map[string]int // their names
	nameOf     map[int]string
	open       []*node // capture groups that are not yet closed
	references []reference
}

// reference is a use of a group that may come later. It is resolved at the end.
type reference struct {
	node *node
	name string // empty: by number, already in node.index
}

// parse gives the tree of an expression and the number of its capture groups.
func parse(expr string, caseless bool) (*node, int, *SyntaxError) {
	if len(expr) > maxExpression {
		return nil, 0, syntaxErrorf(maxExpression, "the expression has %d bytes, the limit is %d; split it over several rules", len(expr), maxExpression)
	}
	p := &parser{expr: expr, flags: flags{caseless: caseless}, names: map[string]int{}, nameOf: map[int]string{}}
	root, err := p.alternation()
	if err != nil {
		return nil, 0, err
	}
	if p.pos < len(p.expr) {
		return nil, 0, syntaxErrorf(p.pos, `) closes no group; remove it, or write \) for the character`)
	}
	if err := p.resolve(); err != nil {
		return nil, 0, err
	}
	return root, p.groups, nil
}

func (p *parser) resolve() *SyntaxError {
	for _, r := range p.references {
		if r.name != "" {
			index, ok := p.names[r.name]
			if !ok {
				return syntaxErrorf(r.node.pos, "no group has the name %q; name one with (?<%s>...)", r.name, r.name)
			}
			r.node.index = index
		}
		if r.node.index > p.groups {
			return syntaxErrorf(r.node.pos, "reference to group %d, but the expression has %d; mend the number, or add the group", r.node.index, p.groups)
		}
	}
	return nil
}

func (p *parser) more() bool { return p.pos < len(p.expr) }

// has tells whether s comes next.
func (p *parser) has(s string) bool {
	return len(p.expr)-p.pos >= len(s) && p.expr[p.pos:p.pos+len(s)] == s
}

// take goes past s if it comes next.
func (p *parser) take(s string) bool {
	if p.has(s) {
		p.pos += len(s)
		return true
	}
	return false
}

// alternation reads up to the end of the group. Options set inside end with it.
func (p *parser) alternation() (*node, *SyntaxError) {
	outer := p.flags
	defer func() { p.flags = outer }()
	branches, err := p.branches(nil)
	if err != nil {
		return nil, err
	}
	if len(branches) == 1 {
		return branches[0], nil
	}
	return &node{kind: kindAlternate, subs: branches}, nil
}

// branches reads sequences separated by | and calls next before each but the first.
func (p *parser) branches(next func()) ([]*node, *SyntaxError) {
	var all []*node
	for {
		branch, err := p.sequence()
		if err != nil {
			return nil, err
		}
		all = append(all, branch)
		if !p.take("|") {
			return all, nil
		}
		if next != nil {
			next()
		}
	}
}

// sequence reads items with their quantifiers up to | or ) or the end.
func (p *parser) sequence() (*node, *SyntaxError) {
	var items []*node
	for {
		p.skipIgnored()
		if !p.more() || !p.quoted && (p.expr[p.pos] == '|' || p.expr[p.pos] == ')') {
			return concat(items), nil
		}
		begin := p.pos
		item, repeatable, err := p.item()
		if err != nil {
			return nil, err
		}
		if item == nil {
			continue
		}
		item.pos = begin
		if repeatable {
			if item, err = p.quantified(item); err != nil {
				return nil, err
			}
		}
		items = append(items, item)
	}
}

// skipIgnored goes past what has no meaning of its own: \Q and \E, and with (?x) blanks and # comments.
func (p *parser) skipIgnored() {
	for p.more() {
		switch {
		case p.take(`\E`):
			p.quoted = false
		case p.quoted:
			return
		case p.take(`\Q`):
			p.quoted = true
		case !p.flags.extended || !p.skipExtended():
			return
		}
	}
}

// skipExtended goes past blanks and # comments, and tells whether there were any.
func (p *parser) skipExtended() bool {
	begin := p.pos
	for p.more() {
		switch c := p.expr[p.pos]; {
		case isSpace(c):
			p.pos++
		case c == '#':
			for p.more() && p.expr[p.pos] != '\n' {
				p.pos++
			}
		default:
			return p.pos > begin
		}
	}
	return p.pos > begin
}

// item reads one item without its quantifier. It gives nil for what only changes options, or comments.
func (p *parser) item() (item *node, repeatable bool, err *SyntaxError) {
	c := p.expr[p.pos]
	if p.quoted {
		p.pos++
		return p.literal(c), true, nil
	}
	switch c {
	case '(':
		return p.group()
	case '[':
		item, err = p.class()
		return item, true, err
	case '\\':
		return p.escapeItem()
	case '.':
		p.pos++
		if p.flags.dotAll {
			return setNode(negated(byteSet{})), true, nil
		}
		return setNode(negated(singleton('\n'))), true, nil
	case '^':
		p.pos++
		if p.flags.multiline {
			return &node{kind: kindAssert, assertion: assertLineBegin}, false, p.nothingToRepeat()
		}
		return &node{kind: kindAssert, assertion: assertTextBegin}, false, p.nothingToRepeat()
	case '$':
		p.pos++
		if p.flags.multiline {
			return &node{kind: kindAssert, assertion: assertLineEnd}, false, p.nothingToRepeat()
		}
		return &node{kind: kindAssert, assertion: assertFinalEnd}, false, p.nothingToRepeat()
	}
	if err := p.nothingToRepeat(); err != nil {
		return nil, false, err
	}
	p.pos++
	return p.literal(c), true, nil
}

func (p *parser) literal(c byte) *node {
	s := singleton(c)
	if p.flags.caseless {
		s.fold()
	}
	return setNode(s)
}

// nothingToRepeat refuses a quantifier here, where none may stand.
func (p *parser) nothingToRepeat() *SyntaxError {
	p.skipToQuantifier()
	if p.quoted || !p.more() {
		return nil
	}
	begin := p.pos
	switch c := p.expr[p.pos]; c {
	case '*', '+', '?':
		return syntaxErrorf(begin, `%c has nothing to repeat; remove it, put what comes before it into (?:...), or write \%c for the character`, c, c)
	case '{':
		if _, _, ok, _ := p.counts(); ok {
			p.pos = begin
			return syntaxErrorf(begin, `the quantifier {...} has nothing to repeat; remove it, put what comes before it into (?:...), or write \{ for the character`)
		}
	}
	return nil
}

// skipToQuantifier goes past what may stand between an item and its quantifier.
func (p *parser) skipToQuantifier() {
	for {
		begin := p.pos
		if p.take(`\E`) {
			p.quoted = false
		}
		if p.quoted {
			return
		}
		if p.take(`\Q\E`) {
			continue
		}
		if p.flags.extended {
			p.skipExtended()
		}
		if p.pos == begin {
			return
		}
	}
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool {
	return isDigit(c) || c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
