package guideline

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// token is a piece of an expression: text[start:end].
type token struct {
	kind       tokenKind
	start, end int
	text       string  // of a string: without quotes and escapes; of a word and a variable: its name; of tokenBad: the message
	number     float64 // of a number
	invalid    string  // of tokenJSON: why it is none
	function   *function
}

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenBad           // what can't be a token
	tokenWord
	tokenVariable
	tokenString
	tokenRole
	tokenNumber
	tokenFunction
	tokenJSON // {...} or [...], in documents that compare tags as JSON

	tokenPlus
	tokenMinus
	tokenTimes
	tokenDivide
	tokenModulo
	tokenOpen
	tokenClose
	tokenComma
	tokenEqual
	tokenUnequal
	tokenLess
	tokenLessEqual
	tokenGreater
	tokenGreaterEqual

	tokenAnd
	tokenOr
	tokenNot
	tokenIn
	tokenLike
	tokenTrue
	tokenFalse
	tokenNull
)

// tokenNames are the names in "syntax error, unexpected ..." (spec 4.7).
var tokenNames = [...]string{
	tokenEnd: "end of expression", tokenBad: "error", tokenWord: "identifier", tokenVariable: "variable reference",
	tokenString: "string", tokenRole: "role", tokenNumber: "number", tokenFunction: "function name", tokenJSON: "JSON text",
	tokenPlus: "+", tokenMinus: "-", tokenTimes: "*", tokenDivide: "/", tokenModulo: "%", tokenOpen: "(", tokenClose: ")",
	tokenComma: `","`, tokenEqual: "=", tokenUnequal: "<>", tokenLess: "<", tokenLessEqual: "<=", tokenGreater: ">",
	tokenGreaterEqual: ">=", tokenAnd: "T_AND", tokenOr: "T_OR", tokenNot: "T_NOT", tokenIn: "T_IN", tokenLike: "T_LIKE",
	tokenTrue: "T_TRUE", tokenFalse: "T_FALSE", tokenNull: "T_NULL",
}

var keywords = map[string]tokenKind{
	"and": tokenAnd, "or": tokenOr, "not": tokenNot, "in": tokenIn, "like": tokenLike,
	"true": tokenTrue, "false": tokenFalse, "null": tokenNull,
}

// longestReserved is the length of the longest keyword, function or role.
const longestReserved = len("SUBSTRING_INDEX")

// scanner takes an expression apart.
type scanner struct {
	text     string
	at       int
	jsonTags bool
}

// isBlank tells what isspace calls a blank.
func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

func isLetter(c byte) bool { return lower(c)-'a' < 26 }

func isWordByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }

// next gives the next token. At the end of the text it gives tokenEnd for ever.
func (s *scanner) next() token {
	for s.at < len(s.text) && isBlank(s.text[s.at]) {
		s.at++
	}
	start := s.at
	if start == len(s.text) {
		return token{kind: tokenEnd, start: start, end: start}
	}
	c := s.text[start]
	switch {
	case isDigit(c):
		return s.numberToken()
	case isLetter(c):
		return s.wordToken()
	case c == '\'' || c == '"':
		return s.stringToken()
	case c == '$':
		return s.variableToken()
	case s.jsonTags && (c == '{' || c == '['):
		return s.jsonToken()
	}
	return s.operatorToken()
}

// token ends a token here.
func (s *scanner) token(kind tokenKind, start int) token {
	return token{kind: kind, start: start, end: s.at}
}

// bad is a fault of one character.
func (s *scanner) bad(message string, at int) token {
	return token{kind: tokenBad, start: at, end: at + 1, text: "syntax error, " + message}
}

func (s *scanner) operatorToken() token {
	start := s.at
	s.at++
	following := byte(0)
	if s.at < len(s.text) {
		following = s.text[s.at]
	}
	switch s.text[start] {
	case '+':
		return s.token(tokenPlus, start)
	case '-':
		return s.token(tokenMinus, start)
	case '*':
		return s.token(tokenTimes, start)
	case '/':
		return s.token(tokenDivide, start)
	case '%':
		return s.token(tokenModulo, start)
	case '(':
		return s.token(tokenOpen, start)
	case ')':
		return s.token(tokenClose, start)
	case ',':
		return s.token(tokenComma, start)
	case '=':
		return s.token(tokenEqual, start)
	case '<':
		switch following {
		case '>':
			s.at++
			return s.token(tokenUnequal, start)
		case '=':
			s.at++
			return s.token(tokenLessEqual, start)
		}
		return s.token(tokenLess, start)
	case '>':
		if following == '=' {
			s.at++
			return s.token(tokenGreaterEqual, start)
		}
		return s.token(tokenGreater, start)
	}
	return s.unexpectedCharacter(start)
}

func (s *scanner) unexpectedCharacter(at int) token {
	_, size := utf8.DecodeRuneInString(s.text[at:])
	t := s.bad("unexpected character: '"+s.text[at:at+size]+"'", at)
	t.end = at + size
	return t
}

func (s *scanner) numberToken() token {
	start := s.at
	s.at += numberPrefix(s.text[start:])
	t := s.token(tokenNumber, start)
	t.number = parseNumber(s.text[start:s.at])
	return t
}

// word takes what is a word here: letters, digits and underscores, and more of them after dots.
func (s *scanner) word() (text string, dotted bool) {
	start := s.at
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case isWordByte(c):
		case c == '.' && s.at+1 < len(s.text) && (isLetter(s.text[s.at+1]) || s.text[s.at+1] == '_'):
			dotted = true
		default:
			return s.text[start:s.at], dotted
		}
		s.at++
	}
	return s.text[start:], dotted
}

func (s *scanner) wordToken() token {
	start := s.at
	word, dotted := s.word()
	t := s.token(tokenWord, start)
	t.text = word
	switch {
	case dotted || len(word) > longestReserved: // a text, whatever it says
	default:
		small := strings.ToLower(word)
		if kind, found := keywords[small]; found {
			t.kind = kind
		} else if f, found := functions[small]; found {
			t.kind, t.function = tokenFunction, f
		} else if _, found := ParseRole(small); found {
			t.kind = tokenRole
		}
	}
	return t
}

func (s *scanner) variableToken() token {
	start := s.at
	if s.at++; s.at == len(s.text) || s.text[s.at] != '.' {
		return s.bad("$ not starting variable reference", start)
	}
	if s.at++; s.at == len(s.text) || !isLetter(s.text[s.at]) {
		return s.bad("Id not starting with a letter", start)
	}
	name, _ := s.word()
	t := s.token(tokenVariable, start)
	t.text = name
	return t
}

// stringToken takes a quoted text. It ends at the first same quote that no backslash stands before.
func (s *scanner) stringToken() token {
	start := s.at
	quote := s.text[start]
	for i := start + 1; i < len(s.text); i++ {
		if s.text[i] == quote && s.text[i-1] != '\\' {
			s.at = i + 1
			t := s.token(tokenString, start)
			t.text = unescape(s.text[start+1 : i])
			return t
		}
	}
	return s.bad("unclosed "+string(quote), start)
}

// unescape resolves backslashes. Before a character without a meaning of its own a backslash just disappears.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\\' && i+1 < len(text) {
			i++
			switch c = text[i]; c {
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case 'r':
				c = '\r'
			case 'b':
				c = '\b'
			case '0':
				c = 0
			case 'Z':
				c = 0x1A
			}
		}
		out = append(out, c)
	}
	return string(out)
}

// jsonToken takes an object or array. Its text is made compact, as those of tags are. What is no JSON is a token, too: whether
// that is the fault, or that something begins like this at all, the parser knows.
func (s *scanner) jsonToken() token {
	start := s.at
	j := jsonScanner{text: s.text, at: start}
	_, err := j.value(0)
	s.at = min(max(j.at, start+1), len(s.text))
	t := s.token(tokenJSON, start)
	if err != nil {
		t.invalid = "syntax error, invalid JSON text"
		if fault, ok := errors.AsType[*jsonError](err); ok {
			t.invalid += ": " + fault.message
		}
		return t
	}
	t.text = withoutBlanks(s.text[start:s.at])
	return t
}

// withoutBlanks takes the blanks out of a JSON text, except those in strings.
func withoutBlanks(text string) string {
	out := make([]byte, 0, len(text))
	quoted := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted && c == '\\': // and what follows, which may be a quote
			out = append(out, c)
			i++
			c = text[i]
		case c == '"':
			quoted = !quoted
		case !quoted && isBlank(c):
			continue
		}
		out = append(out, c)
	}
	return string(out)
}

// numberPrefix gives the length of the longest prefix that C's strtod takes for a number without sign, 0 when there is none.
func numberPrefix(text string) int {
	if len(text) > 2 && text[0] == '0' && lower(text[1]) == 'x' {
		if n := digitsAndPoint(text[2:], isHexDigit); n > 0 {
			return 2 + n + exponent(text[2+n:], 'p')
		}
	}
	n := digitsAndPoint(text, isDigit)
	if n == 0 {
		return 0
	}
	return n + exponent(text[n:], 'e')
}

func isHexDigit(c byte) bool { return isDigit(c) || lower(c)-'a' < 6 }

// digitsAndPoint gives the length of digits with at most one point among them.
func digitsAndPoint(text string, digit func(byte) bool) int {
	n, digits, point := 0, 0, false
	for ; n < len(text); n++ {
		isPoint := text[n] == '.' && !point
		if !isPoint && !digit(text[n]) {
			break
		}
		if isPoint {
			point = true
		} else {
			digits++
		}
	}
	if digits == 0 {
		return 0
	}
	return n
}

// exponent gives the length of an exponent: the letter, perhaps a sign, and digits.
func exponent(text string, letter byte) int {
	if text == "" || lower(text[0]) != letter {
		return 0
	}
	n := 1
	if n < len(text) && (text[n] == '+' || text[n] == '-') {
		n++
	}
	first := n
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	if n == first {
		return 0
	}
	return n
}

// parseNumber reads what numberPrefix took. A number beyond a double is infinite.
func parseNumber(text string) float64 {
	if len(text) > 2 && lower(text[1]) == 'x' && !strings.ContainsAny(text, "pP") {
		text += "p0"
	}
	number, _ := strconv.ParseFloat(text, 64)
	return number
}
