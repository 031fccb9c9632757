package digest

// corrected makes digest texts by MySQL's rules for literals, names and comments, without ProxySQL's oddities. A digest
// text is its own digest text, and no content of a literal shows in it.
type corrected struct {
	o     *Options
	sql   []byte
	buf   []byte
	limit int // The text may not grow beyond.

	w       int  // Length of the text so far.
	blank   bool // A blank is due before the next token, if that wants one.
	version bool // Inside of /*! */.
	signs   int  // Where the signs start that go if a value follows, or none.
	fresh   int  // A place in sql where a token starts, whatever stands before it.

	noted        int  // Length of the text up to the end of the latest comment that is kept.
	notedOperand bool // An operand stands before it.

	flow    *flow
	lists   plainLists
	comment firstComment
}

// text digests the statement.
func (p *corrected) text() []byte {
	p.signs, p.noted = none, none
	p.flow = correctedFlows.of(p.o)
	mark := 0
	for i := 0; i < len(p.sql) && p.w < p.limit; {
		mark = p.w
		i = p.token(i)
	}
	if p.w > p.limit { // What does not fit as a whole is left out.
		p.w = mark
	}
	return p.buf[:p.w]
}

// token appends what starts at i and returns where that ends.
func (p *corrected) token(i int) int {
	sql := p.sql
	switch c := sql[i]; correctedKinds[c] {
	case kindBlank:
		p.blank = true
		return i + 1
	case kindWord:
		if p.o.ReplaceNull && p.isNull(i) {
			p.putValue()
			p.fresh = i + 4
			return i + 4
		}
		if i+1 < len(sql) && sql[i+1] == '\'' && isIntroducer(c) {
			return p.string(i + 1)
		}
		return p.run(i)
	case kindDigit:
		return p.digits(i)
	case kindPoint:
		// A point behind a name is followed by a name, whatever it looks like.
		if i+1 < len(sql) && classes[sql[i+1]]&digit != 0 && (i == p.fresh || !isNameEnd(sql, i) && (i == 0 || sql[i-1] != '.')) {
			return p.digits(i)
		}
		return p.run(i)
	case kindQuote:
		return p.string(i)
	case kindBacktick:
		return p.name(i)
	case kindValue:
		p.putValue()
	case kindOpen:
		p.space()
		p.lists.addOpen(p.w)
		p.put(c)
	case kindClose:
		p.blank, p.signs = false, none
		p.w = p.lists.addClose(p.buf, p.w)
	case kindComma:
		p.blank, p.signs = false, none
		p.w = p.lists.addComma(p.buf, p.w)
	case kindSign, kindDash:
		if c == '-' && isDashes(sql[i:]) {
			return p.line(i)
		}
		p.putSign(c)
	case kindHash:
		return p.line(i)
	case kindSlash:
		if i+1 < len(sql) && sql[i+1] == '*' {
			return p.block(i)
		}
		return p.run(i)
	case kindOperator:
		if p.version && i+1 < len(sql) && sql[i+1] == '/' {
			p.version, p.blank = false, true
			return i + 2
		}
		return p.run(i)
	default:
		return p.run(i)
	}
	return i + 1
}

// string appends ? for the string that starts with the quote at i. Without an end it takes all that follows.
func (p *corrected) string(i int) int {
	sql := p.sql
	end := stringEnd(sql, i)
	if end == 0 {
		end = len(sql)
	}
	// The text may end with the X, B or N of x'41'.
	if i > 0 && p.w > 0 && !p.blank && sql[i] == '\'' && isIntroducer(sql[i-1]) && (i == 1 || !isNameEnd(sql, i-1) && sql[i-2] != '.' && sql[i-2] != '@') &&
		isIntroducer(p.buf[p.w-1]) {
		p.w--
	}
	p.putValue()
	return end
}

// isNull tells whether the word NULL is at i. A ? beside it may have been a digit.
func (p *corrected) isNull(i int) bool {
	return nullAt(p.sql, i) && (i+4 == len(p.sql) || p.sql[i+4] < 0x80 && p.sql[i+4] != '?') &&
		(i == p.fresh || !isNameEnd(p.sql, i)) && (p.w == 0 || p.blank || p.buf[p.w-1] != '?')
}

// digits handles a digit, or a point with a digit behind it.
func (p *corrected) digits(i int) int {
	sql := p.sql
	inName := i > 0 && i != p.fresh && sql[i] != '.' && (isNameEnd(sql, i) || sql[i-1] == '.' || sql[i-1] == '@')
	if !inName {
		if end := decimalEnd(sql, i); end > 0 {
			p.putValue()
			p.fresh = end
			return end
		}
	}
	if !p.o.NoDigits {
		return p.run(i)
	}
	p.putValue()
	for i < len(sql) && classes[sql[i]]&digit != 0 {
		i++
	}
	return i
}
