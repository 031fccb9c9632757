package guideline

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonScanner reads JSON (RFC 8259) from a text.
type jsonScanner struct {
	text   string
	at     int // the next byte
	values int // read so far
}

func (s *jsonScanner) fail(at int, message string) error {
	return &jsonError{message: message, near: near(s.text, at)}
}

// peek gives the next byte, 0 at the end. A NUL byte is legal nowhere, so the two need no telling apart.
func (s *jsonScanner) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

// accept takes the byte if it is the next one.
func (s *jsonScanner) accept(c byte) bool {
	if s.peek() != c || s.at == len(s.text) {
		return false
	}
	s.at++
	return true
}

func (s *jsonScanner) skipBlanks() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// value reads the value that starts here, with depth objects and arrays around it.
func (s *jsonScanner) value(depth int) (jsonValue, error) {
	if s.values++; s.values > maxJSONValues {
		return jsonValue{}, s.fail(s.at, "The document has more than "+strconv.Itoa(maxJSONValues)+" values")
	}
	if depth > maxJSONDepth {
		return jsonValue{}, s.fail(s.at, "The document is nested deeper than "+strconv.Itoa(maxJSONDepth)+" levels")
	}
	switch c := s.peek(); c {
	case '{':
		return s.object(depth)
	case '[':
		return s.array(depth)
	case '"':
		text, err := s.quoted()
		return jsonValue{kind: jsonString, text: text}, err
	case 't':
		return s.word("true", jsonBoolean)
	case 'f':
		return s.word("false", jsonBoolean)
	case 'n':
		return s.word("null", jsonNull)
	default:
		if c == '-' || isDigit(c) {
			return s.number()
		}
		return jsonValue{}, s.fail(s.at, "Invalid value")
	}
}

func (s *jsonScanner) word(word string, kind jsonKind) (jsonValue, error) {
	if !strings.HasPrefix(s.text[s.at:], word) {
		return jsonValue{}, s.fail(s.at, "Invalid value")
	}
	s.at += len(word)
	return jsonValue{kind: kind, text: word}, nil
}

func (s *jsonScanner) object(depth int) (jsonValue, error) {
	v := jsonValue{kind: jsonObject}
	s.at++
	s.skipBlanks()
	if s.accept('}') {
		return v, nil
	}
	for {
		if s.peek() != '"' {
			return v, s.fail(s.at, "Missing a name for object member")
		}
		key, err := s.quoted()
		if err != nil {
			return v, err
		}
		s.skipBlanks()
		if !s.accept(':') {
			return v, s.fail(s.at, "Missing a colon after a name of object member")
		}
		s.skipBlanks()
		member, err := s.value(depth + 1)
		if err != nil {
			return v, err
		}
		member.key = key
		v.children = append(v.children, member)
		s.skipBlanks()
		switch {
		case s.accept('}'):
			return v, nil
		case !s.accept(','):
			return v, s.fail(s.at, "Missing a comma or } after an object member")
		}
		s.skipBlanks()
	}
}

func (s *jsonScanner) array(depth int) (jsonValue, error) {
	v := jsonValue{kind: jsonArray}
	s.at++
	s.skipBlanks()
	if s.accept(']') {
		return v, nil
	}
	for {
		element, err := s.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.children = append(v.children, element)
		s.skipBlanks()
		switch {
		case s.accept(']'):
			return v, nil
		case !s.accept(','):
			return v, s.fail(s.at, "Missing a comma or ] after an array element")
		}
		s.skipBlanks()
	}
}

func (s *jsonScanner) number() (jsonValue, error) {
	start := s.at
	s.accept('-')
	if !s.accept('0') && !s.digits() {
		return jsonValue{}, s.fail(s.at, "Invalid value")
	}
	if s.accept('.') && !s.digits() {
		return jsonValue{}, s.fail(s.at, "Miss fraction part in number")
	}
	if s.accept('e') || s.accept('E') {
		if !s.accept('+') {
			s.accept('-')
		}
		if !s.digits() {
			return jsonValue{}, s.fail(s.at, "Miss exponent in number")
		}
	}
	text := s.text[start:s.at]
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		return jsonValue{}, s.fail(start, "Number too big to be stored in double")
	}
	return jsonValue{kind: jsonNumber, text: text}, nil
}

// digits takes a run of digits and tells whether there was one.
func (s *jsonScanner) digits() bool {
	start := s.at
	for isDigit(s.peek()) {
		s.at++
	}
	return s.at > start
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// quoted reads a string. Without escapes it is a piece of the document's text.
func (s *jsonScanner) quoted() (string, error) {
	quote := s.at
	s.at++
	plain, err := s.plain(quote)
	if err != nil {
		return "", err
	}
	if s.accept('"') {
		return plain, nil
	}
	var text strings.Builder
	text.WriteString(plain)
	for {
		r, err := s.escape()
		if err != nil {
			return "", err
		}
		text.WriteRune(r)
		plain, err := s.plain(quote)
		if err != nil {
			return "", err
		}
		text.WriteString(plain)
		if s.accept('"') {
			return text.String(), nil
		}
	}
}

// plain takes what precedes the next quote or backslash.
func (s *jsonScanner) plain(quote int) (string, error) {
	start := s.at
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '"' || c == '\\':
			return s.text[start:s.at], nil
		case c < ' ':
			return "", s.fail(s.at, "Invalid encoding in string")
		case c < utf8.RuneSelf:
			s.at++
		default:
			r, size := utf8.DecodeRuneInString(s.text[s.at:])
			if r == utf8.RuneError && size == 1 {
				return "", s.fail(s.at, "Invalid encoding in string")
			}
			s.at += size
		}
	}
	return "", s.fail(quote, "Missing a closing quotation mark in string")
}

// escape reads the escape sequence that starts here.
func (s *jsonScanner) escape() (rune, error) {
	start := s.at
	s.at++
	c := s.peek()
	s.at++
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		return s.unicodeEscape(start)
	default:
		return 0, s.fail(start, "Invalid escape character in string")
	}
}

// unicodeEscape reads what follows \u, and the second half of a surrogate pair.
func (s *jsonScanner) unicodeEscape(start int) (rune, error) {
	r, err := s.hex(start)
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if strings.HasPrefix(s.text[s.at:], `\u`) {
		s.at += len(`\u`)
		low, err := s.hex(start)
		if err != nil {
			return 0, err
		}
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, nil
		}
	}
	return 0, s.fail(start, "The surrogate pair in string is invalid")
}

// hex reads four hexadecimal digits.
func (s *jsonScanner) hex(start int) (rune, error) {
	const digits = 4
	if len(s.text)-s.at >= digits {
		// ParseUint alone would take a sign or an underscore for base 0 only; base 16 takes neither.
		if n, err := strconv.ParseUint(s.text[s.at:s.at+digits], 16, 16); err == nil {
			s.at += digits
			return rune(n), nil
		}
	}
	return 0, s.fail(start, "Incorrect hex digit after \\u escape in string")
}
