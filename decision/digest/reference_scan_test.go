package digest

import "bytes"

// refMaxComment is the length to which ProxySQL cuts the first comment.
const refMaxComment = 1021

// refScanner is the first pass: it drops comments and superfluous blanks and puts ? for strings and numbers.
type refScanner struct {
	sql   []byte
	o     *Options
	i     int // Next byte of sql.
	limit int // The text may not grow beyond; also the length of buf.

	buf []byte
	w   int // Length of the text so far.

	comment    []byte
	hasComment bool
}

// scan continues the text, which has length w, until the statement or the room ends. It reports whether there is
// nothing to come: the statement is used up, or a number was cut by the limit.
func (s *refScanner) scan(w int) (done bool) {
	sql, buf, i := s.sql, s.buf, s.i
	plain := !s.o.Lowercase && !s.o.ReplaceNull && !s.o.NoDigits
	resumed := i > 0 && refClasses[sql[i-1]]&refWord != 0 // The limit came inside a word.
	for i < len(sql) && w < len(buf) {
		c := sql[i]
		k := refClasses[c]
		switch {
		case k&(refWord|refDigit) == refWord && plain:
			for {
				buf[w] = c
				w++
				i++
				if i == len(sql) || w == len(buf) {
					break
				}
				if c = sql[i]; refClasses[c]&refWord == 0 {
					break
				}
			}
		case k&refBlank != 0:
			if w > 0 && buf[w-1] != ' ' {
				buf[w] = ' '
				w++
			}
			i++
		case k&(refWord|refOpener) == 0:
			buf[w] = c
			w++
			i++
		default:
			s.i, s.w = i, w
			switch {
			case resumed:
				s.word()
			case k&refDigit != 0:
				if s.number() {
					return true
				}
			case k&refWord != 0:
				if !s.o.ReplaceNull || !s.null() {
					s.word()
				}
			default:
				s.open(c)
			}
			i, w = s.i, s.w
		}
		resumed = false
	}
	s.i, s.w = i, w
	return i >= len(sql)
}

// blank puts a space, unless the text is empty or ends with one.
func (s *refScanner) blank() {
	if s.w > 0 && s.buf[s.w-1] != ' ' && s.w < s.limit {
		s.put(' ')
	}
}

func (s *refScanner) put(c byte) {
	s.buf[s.w] = c
	s.w++
}

// word copies word bytes.
func (s *refScanner) word() {
	j := s.i
	for j < len(s.sql) && refClasses[s.sql[j]]&refWord != 0 {
		j++
	}
	s.i = s.transcribe(s.i, j, s.o.Lowercase)
}

// transcribe copies a piece of the statement up to the limit and returns where it stopped. With no_digits a run of
// digits becomes one ?, except at the very start.
func (s *refScanner) transcribe(from, to int, lowercase bool) int {
	if !lowercase && !s.o.NoDigits {
		n := copy(s.buf[s.w:], s.sql[from:to])
		s.w += n
		return from + n
	}
	for i := from; i < to; i++ {
		if s.w == s.limit {
			return i
		}
		c := s.sql[i]
		if lowercase {
			c = refLower(c)
		}
		if s.o.NoDigits && refClasses[c]&refDigit != 0 && s.w > 0 {
			if s.w > 1 && refClasses[s.sql[i-1]]&refDigit != 0 {
				continue
			}
			c = '?'
		}
		s.put(c)
	}
	return to
}

// null puts ? for the word NULL.
func (s *refScanner) null() bool {
	if s.i+4 > len(s.sql) || s.sql[s.i]|0x20 != 'n' || !bytes.EqualFold(s.sql[s.i:s.i+4], []byte("null")) {
		return false
	}
	if s.i+4 < len(s.sql) && refClasses[s.sql[s.i+4]]&refWord != 0 {
		return false
	}
	s.put('?')
	s.i += 4
	return true
}

// number puts ? for a number, or copies what only looks like one, as in 12abc. It reports whether the limit was
// reached inside: then the text ends.
//
// After the first digit any mix of digits, points and exponents counts. It is a number if a byte that is not a word
// byte ends it. The last byte of the statement is special: when it is a word byte it belongs to the number whatever it
// is (9x is a number there), otherwise it does not belong to it.
func (s *refScanner) number() (cut bool) {
	sql, last := s.sql, len(s.sql)-1
	j := s.i + 1
	if sql[s.i] == '0' && j < last && sql[j]|0x20 == 'x' {
		for j++; j < last && refClasses[sql[j]]&refHex != 0; {
			j++
		}
	} else {
	loop:
		for j < last {
			switch c := sql[j]; {
			case refClasses[c]&refDigit != 0 || c == '.':
				j++
			case c|0x20 == 'e':
				j++
				if j < last && (sql[j] == '+' || sql[j] == '-') {
					j++
				}
			default:
				break loop
			}
		}
	}
	if j == last && refClasses[sql[j]]&refWord != 0 {
		j++
	}
	switch {
	case j-s.i >= s.limit-s.w && j < len(sql):
		s.put('?')
		return true
	case j < len(sql) && refClasses[sql[j]]&refWord != 0:
		s.i = s.transcribe(s.i, j, s.o.Lowercase)
		s.word()
	default:
		s.put('?')
		s.i = j
	}
	return false
}

// open handles a byte that may open a string or a comment.
func (s *refScanner) open(c byte) {
	sql, i := s.sql, s.i
	switch {
	case c == '\'' || c == '"':
		s.string(c)
		return
	case c == '#':
		s.lineComment(1)
		return
	case c == '/' && i+1 < s.limit && sql[i+1] == '*':
		s.blockComment()
		return
	case c == '-' && s.dashes(i):
		s.lineComment(3)
		return
	}
	s.put(c)
	s.i++
}

// string puts ? for a string. One that is not terminated leaves nothing.
func (s *refScanner) string(quote byte) {
	sql := s.sql
	for j := s.i + 1; j < len(sql); j++ {
		switch sql[j] {
		case '\\':
			j++
		case quote:
			if j+1 < len(sql) && sql[j+1] == quote {
				j++
				continue
			}
			s.put('?')
			s.i = j + 1
			return
		}
	}
	s.i = len(sql)
}

// dashes tells whether a "-- " comment starts at i. ProxySQL looks for them in the first max_query_length bytes only.
func (s *refScanner) dashes(i int) bool {
	return i+2 < s.limit && s.sql[i] == '-' && s.sql[i+1] == '-' && refClasses[s.sql[i+2]]&refBlank != 0 &&
		(i == 0 || s.sql[i-1] != '-')
}

// lineComment skips a comment up to the end of the line. The opener has n bytes.
//
// The blank after two dashes belongs to the opener even if it is a line end. Openers are seen inside the comment too,
// so one that closes a line joins the next line to the comment.
func (s *refScanner) lineComment(n int) {
	s.blank()
	for opened := true; ; opened = n == 3 && s.dashes(s.i) {
		if opened {
			s.i += n
			// ProxySQL counts the opener twice when it looks for the end of the statement: a comment of just
			// n+1 bytes there is taken for text (ProxySQL's issue 4918).
			if s.i+n+1 == len(s.sql) {
				return
			}
			continue
		}
		if s.i >= len(s.sql) {
			return
		}
		c := s.sql[s.i]
		s.i++
		if c == '\n' || c == '\r' {
			return
		}
	}
}

// blockComment skips a comment of the form /* */. The body of a version comment stays, as it was written but without
// the version.
func (s *refScanner) blockComment() {
	sql := s.sql
	start := s.i + 2
	version := start < len(sql) && sql[start] == '!'
	if version {
		start++
	}
	s.blank()
	switch len(sql) - start {
	case 0:
		s.i = len(sql)
		return
	case 1: // A single byte is taken as text, as in line comments.
		s.i = start
		return
	}
	// The star of the opener may serve the closer as well: /*/ is a comment.
	end := bytes.Index(sql[s.i+1:], []byte("*/"))
	if end < 0 {
		s.first(sql[start:])
		s.i = len(sql)
		return
	}
	end += s.i + 1
	body := sql[start:max(start, end)]
	s.first(body)
	switch {
	case s.o.KeepComment && len(body) > 1:
		s.mark("/*")
		s.verbatim(start, end)
		s.mark("*/")
	case version && !s.o.KeepComment:
		// Only the end of a body without any letter stays.
		from := start
		for from < end-2 && refClasses[sql[from]]&refLetter == 0 {
			from++
		}
		s.verbatim(from, end)
	}
	s.blank()
	s.i = end + 2
	// The slash of the closer may serve the next opener: */* closes one comment and opens another.
	if s.i < s.limit && sql[s.i] == '*' {
		s.i--
	}
}

// verbatim copies a piece from inside a comment. Its case stays.
func (s *refScanner) verbatim(from, to int) {
	for from < to && s.w < s.limit {
		next := from
		for next < to && refClasses[s.sql[next]]&refBlank == 0 {
			next++
		}
		s.transcribe(from, next, false)
		for from = next; from < to && refClasses[s.sql[from]]&refBlank != 0; from++ {
			s.blank()
		}
	}
}

// mark puts one end of a kept comment.
func (s *refScanner) mark(m string) {
	s.w += copy(s.buf[s.w:], m)
}

// first keeps the body of the first comment.
func (s *refScanner) first(body []byte) {
	if s.hasComment {
		return
	}
	s.hasComment = true
	for _, c := range body[:min(len(body), refMaxComment)] {
		if refClasses[c]&refBlank != 0 {
			c = ' '
		}
		s.comment = append(s.comment, c)
	}
}
