package digest

import "bytes"

// run copies the bytes from i on that nothing is to be done about: name bytes, other bytes without a meaning, and single
// blanks.
func (p *corrected) run(i int) int {
	p.space()
	end := p.flow.end(p.sql, i)
	if end == i {
		end++
	}
	text := p.sql[i:end]
	if room := p.limit - p.w; len(text) > room {
		for room > 0 && classes[text[room]]&(word|high) != 0 {
			room--
		}
		text, end = text[:room], len(p.sql)
	}
	n := len(text)
	copyRun(p.buf[p.w:], p.sql[i:], n)
	if p.o.Lowercase {
		lowercase(p.buf[p.w : p.w+n])
	}
	p.w += n
	if n > 0 && text[n-1] == ' ' {
		p.w--
		p.blank = true
	}
	return end
}

// name copies a name in backticks, blanks and quotes included.
func (p *corrected) name(i int) int {
	sql := p.sql
	end := i + 1
	for {
		k := bytes.IndexByte(sql[end:], '`')
		if k < 0 {
			end = len(sql)
			break
		}
		if end += k + 1; end == len(sql) || sql[end] != '`' {
			break
		}
		end++
	}
	p.space()
	from := p.w
	for ; i < end && p.w < p.limit; i++ {
		c := sql[i]
		if p.o.NoDigits && classes[c]&digit != 0 {
			if classes[sql[i-1]]&digit != 0 {
				continue
			}
			c = '?'
		}
		p.put(c)
	}
	if p.o.Lowercase {
		lowercase(p.buf[from:p.w])
	}
	if i < end {
		p.w = from
		return len(sql)
	}
	return end
}
