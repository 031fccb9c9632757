package digest

import "bytes"

// isDashes tells whether sql starts with two dashes that open a comment: a blank, a control character or nothing follows.
func isDashes(sql []byte) bool {
	return len(sql) > 1 && sql[1] == '-' && (len(sql) == 2 || sql[2] <= ' ' || sql[2] == 0x7f)
}

// line skips a comment up to the end of the line.
func (p *corrected) line(i int) int {
	p.blank = true
	if k := bytes.IndexByte(p.sql[i:], '\n'); k >= 0 {
		return i + k + 1
	}
	return len(p.sql)
}

// block handles /* at i. The body of a version comment is a part of the statement.
func (p *corrected) block(i int) int {
	sql := p.sql
	from := i + 2
	version := from < len(sql) && sql[from] == '!'
	if version {
		from++
	}
	p.blank = true
	if version && p.comment.found { // It takes no look for its end, which may be far.
		return p.openVersion(from)
	}
	to, end := len(sql), len(sql)
	if k := bytes.Index(sql[from:], commentCloser); k >= 0 {
		to = from + k
		end = to + 2
	}
	p.comment.offer(sql[from:to])
	if version {
		return p.openVersion(from)
	}
	if p.o.KeepComment {
		p.keep(sql[i:end])
	}
	return end
}

// openVersion handles a version comment behind its opener.
func (p *corrected) openVersion(i int) int {
	p.version = true
	p.fresh = i + versionDigits(p.sql[i:])
	return p.fresh
}

// versionDigits tells how many digits of a version, five or six, sql starts with.
func versionDigits(sql []byte) int {
	n := 0
	for n < len(sql) && n < 6 && classes[sql[n]]&digit != 0 {
		n++
	}
	if n < 5 {
		return 0
	}
	return n
}

// keep appends a comment, runs of blanks in it as one.
func (p *corrected) keep(comment []byte) {
	operand := p.operand()
	p.blank = true
	p.space()
	for k, c := range comment {
		if p.w >= p.limit {
			p.w = p.limit + 1 // It does not fit.
			return
		}
		if correctedKinds[c] == kindBlank {
			if k > 0 && p.buf[p.w-1] == ' ' {
				continue
			}
			c = ' '
		}
		p.put(c)
	}
	p.noted, p.notedOperand, p.blank = p.w, operand, true
}
