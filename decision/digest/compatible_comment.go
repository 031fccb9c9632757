package digest

import "bytes"

// dashes tells whether a "-- " comment starts at i. ProxySQL looks for them in the first max_query_length bytes only.
func (p *compatible) dashes(i int) bool {
	sql := p.sql
	return i+2 < p.limit && sql[i] == '-' && sql[i+1] == '-' && classes[sql[i+2]]&space != 0 &&
		(i == 0 || sql[i-1] != '-')
}

// lineEnd finds the end of the comment at i that goes up to the end of the line. Its opener has n bytes.
//
// The blank after two dashes belongs to the opener even if it is a line end. Openers are seen inside the comment too,
// so one that closes a line joins the next line to the comment.
func (p *compatible) lineEnd(i, n int) int {
	sql := p.sql
	for opened := true; ; opened = n == 3 && p.dashes(i) {
		if opened {
			i += n
			// ProxySQL counts the opener twice when it looks for the end of the statement: a comment of just
			// n+1 bytes there is taken for text (ProxySQL's issue 4918).
			if i+n+1 == len(sql) {
				return i
			}
			continue
		}
		if i >= len(sql) {
			return i
		}
		c := sql[i]
		i++
		if c == '\n' || c == '\r' {
			return i
		}
	}
}

// blockComment handles a comment of the form /* */ at i. The body of a version comment stays, as it was written but
// without the version.
func (p *compatible) blockComment(i int) int {
	sql := p.sql
	from := i + 2
	version := from < len(sql) && sql[from] == '!'
	if version {
		from++
	}
	switch len(sql) - from {
	case 0:
		return len(sql)
	case 1: // A single byte is taken as text, as in line comments.
		return from
	}
	// The star of the opener may serve the closer as well: /*/ is a comment.
	to := bytes.Index(sql[i+1:], commentCloser)
	if to < 0 {
		p.comment.offer(sql[from:])
		return len(sql)
	}
	to += i + 1
	next := to + 2
	// The slash of the closer may serve the next opener: */* closes one comment and opens another.
	if next < p.limit && sql[next] == '*' {
		next--
	}
	body := sql[from:max(from, to)]
	p.comment.offer(body)
	p.lower = false
	switch {
	case p.o.KeepComment && len(body) > 1:
		p.copy(commentOpener, 0, 2)
		p.copy(sql, from, to)
		p.copy(commentCloser, 0, 2)
	case version && !p.o.KeepComment:
		// Only the end of a body without any letter stays.
		for from < to-2 && !isAlpha(sql[from]) {
			from++
		}
		p.copy(sql, from, to)
	default:
		return next
	}
	if p.w < p.end {
		p.putBlank()
	}
	return next
}
