package digest

// compatible makes digest texts byte for byte as ProxySQL 2.7. ProxySQL replaces literals first, then drops blanks and
// signs, then folds lists, then groups of lists; here every byte goes through all of it at once. The oddities are what
// one of ProxySQL's steps sees, or doesn't see, of the others.
type compatible struct {
	o     *Options
	sql   []byte
	buf   []byte
	limit int // The text may not grow beyond before its lists are folded.

	w       int   // Length of the text so far.
	end     int   // Length of the text at which the unfolded text reaches the limit.
	dropped int   // Blanks and signs dropped since the limit was last reached.
	last    state // What the text ends with.
	before  state // What it ended with before a blank.

	flow    *flow
	lower   bool // Capitals become small in what is put now.
	lists   lists
	comment firstComment
}

// text digests the statement. When the unfolded text reaches the limit, what was dropped is room for more of the
// statement.
func (p *compatible) text() []byte {
	p.end, p.last = p.limit, atStart
	p.flow = compatibleFlows.of(p.o)
	i := 0
	for {
		i = p.statement(i)
		if i >= len(p.sql) || p.dropped == 0 {
			return p.buf[:p.lists.finish(p.w)]
		}
		p.resume()
	}
}

// resume goes on after the limit was reached. What is in the text by then stays.
func (p *compatible) resume() {
	p.end += p.dropped
	p.dropped = 0
	switch {
	case p.last == atSign:
		p.last = atOperator
	case p.last == atGoneBlank:
		p.last = p.before
	case p.last&(atBlank|atGoneSign) != 0: // A sign that is gone without a look at what follows stood behind a word and a blank.
		p.last = atKeptBlank
	}
}

// statement appends the statement from i on, as far as there is room, and returns where it stopped.
func (p *compatible) statement(i int) int {
	sql := p.sql
	for i < len(sql) && p.w < p.end {
		switch c := sql[i]; kinds[c] {
		case kindWord:
			if p.o.ReplaceNull && nullAt(sql, i) && (i == 0 || classes[sql[i-1]]&word == 0) {
				p.putValue()
				i += 4
				continue
			}
			i = p.run(sql, i)
		case kindOther:
			i = p.run(sql, i)
		case kindBlank:
			p.putBlank()
			for i++; i < len(sql) && classes[sql[i]]&space != 0 && p.w < p.end; {
				i++
			}
		case kindDigit:
			end := shortNumberEnd(sql, i)
			if end == 0 || end-i >= p.end-p.w {
				i = p.number(i)
				continue
			}
			p.putValue()
			i = end
		case kindQuote:
			end := stringEnd(sql, i)
			if end == 0 { // A string without an end leaves nothing.
				return len(sql)
			}
			p.putValue()
			i = end
		case kindHash:
			p.putBlank()
			i = p.lineEnd(i, 1)
		case kindDash:
			if p.dashes(i) {
				p.putBlank()
				i = p.lineEnd(i, 3)
				continue
			}
			p.putSign(c)
			i++
		case kindSlash:
			// ProxySQL looks for openers in the first max_query_length bytes of the statement.
			if i+1 < p.limit && sql[i+1] == '*' {
				p.putBlank()
				i = p.blockComment(i)
				continue
			}
			p.putOperator(c)
			i++
		case kindComma:
		default:
			p.put(c)
			i++
		}
		for i < len(sql) && sql[i] == ',' && p.w < p.end {
			p.putComma()
			i++
			if i < len(sql) && sql[i] == ' ' && p.w < p.end {
				p.drop()
				p.last, p.before = atGoneBlank, atComma
				i++
			}
			// Names and numbers in a row are so common that they needn't go through all of the above.
			if i == len(sql) || p.w >= p.end {
				break
			}
			if k := kinds[sql[i]]; k == kindWord && !p.o.ReplaceNull {
				i = p.run(sql, i)
			} else if k == kindDigit {
				end := shortNumberEnd(sql, i)
				if end == 0 || end-i >= p.end-p.w {
					break
				}
				p.putValue()
				i = end
			}
		}
	}
	return i
}

// copy appends sql[i:to] without a look for literals and comments.
func (p *compatible) copy(sql []byte, i, to int) int {
	for i < to && p.w < p.end {
		if c := sql[i]; classes[c]&digit != 0 && p.o.NoDigits {
			p.putDigit(sql, i)
		} else {
			p.put(c)
		}
		i++
	}
	return i
}

// number handles a digit.
func (p *compatible) number(i int) int {
	sql := p.sql
	if i > 0 && classes[sql[i-1]]&word != 0 { // It is inside a word.
		p.lower = p.o.Lowercase
		return p.copy(sql, i, i+1)
	}
	end := numberEnd(sql, i)
	switch {
	case end == len(sql):
	case end-i >= p.end-p.w: // A number that reaches the limit ends the text.
		end = len(sql)
	case classes[sql[end]]&word != 0: // It only looks like one, as 12abc.
		for end < len(sql) && classes[sql[end]]&word != 0 {
			end++
		}
		p.lower = p.o.Lowercase
		return p.copy(sql, i, end)
	}
	p.putValue()
	return end
}
