package digest

import "bytes"

const (
	// maxComment is the length to which ProxySQL cuts the first comment.
	maxComment = 1021
	// slack is room behind the limit for the one piece that is being written when the limit is reached.
	slack = 8
)

// scanner is the first pass: it drops comments and superfluous blanks and puts ? for strings and numbers.
type scanner struct {
	sql   []byte
	o     *Options
	i     int // Next byte of sql.
	limit int // The text may not grow beyond.

	buf     []byte
	w       int  // Length of the text so far.
	midWord bool // The limit was reached inside a word.

	comment    []byte
	hasComment bool
}

// scan continues the text, which has length w, until the statement or the room ends. It reports whether there is
// nothing to come: the statement is used up, or a number was cut by the limit.
func (s *scanner) scan(w int) (done bool) {
	s.w = w
	sql := s.sql
	for s.i < len(sql) && s.w < s.limit {
		c := sql[s.i]
		k := classes[c]
		switch {
		case k&word != 0:
			if !s.midWord {
				if k&digit != 0 {
					if s.number() {
						return true
					}
					continue
				}
				if s.o.ReplaceNull && s.null() {
					continue
				}
			}
			s.word()
		case k&blank != 0:
			s.blank()
			s.i++
		case k&opener != 0:
			s.open(c)
		default:
			s.buf[s.w] = c
			s.w++
			s.i++
		}
		s.midWord = s.midWord && s.w == s.limit
	}
	return s.i >= len(sql)
}

// blank puts a space, unless the text is empty or ends with one.
func (s *scanner) blank() {
	if s.w > 0 && s.buf[s.w-1] != ' ' && s.w < s.limit {
		s.buf[s.w] = ' '
		s.w++
	}
}

// word copies word bytes.
func (s *scanner) word() {
	j := s.i
	for j < len(s.sql) && classes[s.sql[j]]&word != 0 {
		j++
	}
	s.i += s.transcribe(s.sql[s.i:j], s.o.Lowercase)
	s.midWord = s.w == s.limit
}

// transcribe copies text up to the limit and returns how much of it went in. With no_digits a run of digits becomes
// one ?, except at the very start.
func (s *scanner) transcribe(text []byte, lowercase bool) int {
	if !lowercase && !s.o.NoDigits {
		n := copy(s.buf[s.w:s.limit], text)
		s.w += n
		return n
	}
	for k, c := range text {
		if s.w == s.limit {
			return k
		}
		if lowercase {
			c = lower[c]
		}
		if s.o.NoDigits && s.w > 0 && classes[c]&digit != 0 {
			if k > 0 && s.w > 1 && classes[text[k-1]]&digit != 0 {
				continue
			}
			c = '?'
		}
		s.put(c)
	}
	return len(text)
}

// null puts ? for the word NULL.
func (s *scanner) null() bool {
	if s.i+4 > len(s.sql) || s.sql[s.i]|0x20 != 'n' || !bytes.EqualFold(s.sql[s.i:s.i+4], []byte("null")) {
		return false
	}
	if s.i+4 < len(s.sql) && classes[s.sql[s.i+4]]&word != 0 {
		return false
	}
	s.put('?')
	s.i += 4
	return true
}

func (s *scanner) put(c byte) {
	s.buf[s.w] = c
	s.w++
}

// number puts ? for a number, or copies what only looks like one, as in 12abc. It reports whether the limit was
// reached inside: then the text ends.
//
// After the first digit any mix of digits, points and exponents counts. It is a number if a byte that is not a word
// byte ends it. The last byte of the statement is special: when it is a word byte it belongs to the number whatever it
// is (9x is a number there), otherwise it does not belong to it.
func (s *scanner) number() (cut bool) {
	sql, last := s.sql, len(s.sql)-1
	j := s.i + 1
	if sql[s.i] == '0' && j < last && sql[j]|0x20 == 'x' {
		for j++; j < last && classes[sql[j]]&hex != 0; {
			j++
		}
	} else {
	loop:
		for j < last {
			switch c := sql[j]; {
			case classes[c]&digit != 0 || c == '.':
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
	if j == last && classes[sql[j]]&word != 0 {
		j++
	}
	switch {
	case j-s.i >= s.limit-s.w && j < len(sql):
		s.put('?')
		return true
	case j < len(sql) && classes[sql[j]]&word != 0:
		s.i += s.transcribe(sql[s.i:j], s.o.Lowercase)
		s.word()
	default:
		s.put('?')
		s.i = j
	}
	return false
}

// open handles a byte that may open a string or a comment.
func (s *scanner) open(c byte) {
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
func (s *scanner) string(quote byte) {
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
func (s *scanner) dashes(i int) bool {
	return i+2 < s.limit && s.sql[i] == '-' && s.sql[i+1] == '-' && classes[s.sql[i+2]]&blank != 0 &&
		(i == 0 || s.sql[i-1] != '-')
}

// lineComment skips a comment up to the end of the line. The opener has n bytes.
//
// The blank after two dashes belongs to the opener even if it is a line end. Openers are seen inside the comment too,
// so one that closes a line joins the next line to the comment.
func (s *scanner) lineComment(n int) {
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
func (s *scanner) blockComment() {
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
	case s.o.KeepComment:
		if len(body) > 1 {
			s.verbatim([]byte("/*"))
			s.verbatim(body)
			s.verbatim([]byte("*/"))
		}
	case version:
		k := 0
		for k < len(body)-2 && classes[body[k]]&letter == 0 {
			k++
		}
		s.verbatim(body[k:])
	}
	s.blank()
	s.i = end + 2
	// The slash of the closer may serve the next opener: */* closes one comment and opens another.
	if s.i < s.limit && sql[s.i] == '*' {
		s.i--
	}
}

// verbatim copies text from inside a comment.
func (s *scanner) verbatim(text []byte) {
	for len(text) > 0 && s.w < s.limit {
		n := 0
		for n < len(text) && classes[text[n]]&blank == 0 {
			n++
		}
		s.transcribe(text[:n], false)
		for n < len(text) && classes[text[n]]&blank != 0 {
			s.blank()
			n++
		}
		text = text[n:]
	}
}

// first keeps the body of the first comment.
func (s *scanner) first(body []byte) {
	if s.hasComment {
		return
	}
	s.hasComment = true
	for _, c := range body[:min(len(body), maxComment)] {
		if classes[c]&blank != 0 {
			c = ' '
		}
		s.comment = append(s.comment, c)
	}
}
