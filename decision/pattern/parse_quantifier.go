package pattern

import "strings"

// quantified reads the quantifier behind item, if there is one.
func (p *parser) quantified(item *node) (*node, *SyntaxError) {
	p.skipToQuantifier()
	if err := p.skipComments(); err != nil {
		return nil, err
	}
	if p.quoted || !p.more() {
		return item, nil
	}
	low, high := 0, unlimited
	switch p.expr[p.pos] {
	case '*':
		p.pos++
	case '+':
		low = 1
		p.pos++
	case '?':
		high = 1
		p.pos++
	case '{':
		var ok bool
		var err *SyntaxError
		if low, high, ok, err = p.counts(); err != nil {
			return nil, err
		}
		if !ok {
			return item, nil
		}
	default:
		return item, nil
	}
	g := p.greed()
	if err := p.nothingToRepeat(); err != nil {
		return nil, err
	}
	return repeat(item, low, high, g), nil
}

// skipComments goes past (?#...) between an item and its quantifier.
func (p *parser) skipComments() *SyntaxError {
	for !p.quoted && p.has("(?#") {
		if err := p.comment(); err != nil {
			return err
		}
		p.skipToQuantifier()
	}
	return nil
}

func (p *parser) greed() greed {
	if p.flags.extended {
		p.skipExtended()
	}
	switch {
	case p.take("+"):
		return possessive
	case p.take("?") != p.flags.ungreedy:
		return lazy
	}
	return greedy
}

func repeat(item *node, low, high int, g greed) *node {
	if item.kind == kindLook {
		// PCRE looks once at most, however often it is told to.
		if low > 0 {
			return item
		}
		if high != 0 {
			high = 1
		}
	}
	r := &node{kind: kindRepeat, subs: []*node{item}, min: low, max: high, greed: g, pos: item.pos}
	if g == possessive && item.kind != kindSet {
		r.greed = greedy
		return &node{kind: kindAtomic, subs: []*node{r}, pos: item.pos}
	}
	return r
}

// counts reads {n}, {n,} or {n,m}. Anything else is plain text (not ok), and nothing is read.
func (p *parser) counts() (low, high int, ok bool, err *SyntaxError) {
	begin := p.pos
	length := strings.IndexByte(p.expr[begin:], '}')
	if length < 2 {
		return 0, 0, false, nil
	}
	first, second, two := strings.Cut(p.expr[begin+1:begin+length], ",")
	if !isNumber(first) || second != "" && !isNumber(second) {
		return 0, 0, false, nil
	}
	low, high = number(first), number(second)
	switch {
	case !two:
		high = low
	case second == "":
		high = unlimited
	}
	p.pos += length + 1
	if low > maxCount || high > maxCount {
		return 0, 0, true, syntaxErrorf(begin, "a count in {...} is above %d; write a smaller one, or leave the upper one out", maxCount)
	}
	if high != unlimited && low > high {
		return 0, 0, true, syntaxErrorf(begin, "the counts in {%d,%d} are in the wrong order; write {%d,%d}", low, high, high, low)
	}
	return low, high, true, nil
}

func isNumber(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// number gives the value of digits, and at most a little above maxCount.
func number(digits string) int {
	n := 0
	for i := range len(digits) {
		if n = n*10 + int(digits[i]-'0'); n > maxCount {
			return maxCount + 1
		}
	}
	return n
}
