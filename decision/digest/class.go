package digest

// class says what a byte may be part of. The classes are bits, so that one test can ask for several of them.
type class uint8

const (
	letter  class = 1 << iota // A-Z a-z $ _
	digit                     // 0-9
	high                      // 0x80-0xFF
	space                     // Space, tab, CR, LF
	hex                       // 0-9 a-f A-F
	capital                   // A-Z; the value is the bit that makes the letter small.

	word = letter | digit
)

// classes holds the class of every byte.
var classes = func() (t [256]class) {
	for c := range t {
		switch c := byte(c); {
		case '0' <= c && c <= '9':
			t[c] = digit | hex
		case 'A' <= c && c <= 'Z':
			t[c] = letter | capital
		case 'a' <= c && c <= 'z', c == '$', c == '_':
			t[c] = letter
		case c == ' ', c == '\t', c == '\r', c == '\n':
			t[c] = space
		case c >= 0x80:
			t[c] = high
		}
	}
	for _, c := range []byte("abcdefABCDEF") {
		t[c] |= hex
	}
	return t
}()

// kind says what a byte may start.
type kind uint8

const (
	kindOther kind = iota
	kindWord
	kindDigit
	kindBlank
	kindValue // ?
	kindOpen
	kindClose
	kindComma
	kindOperator // * %
	kindSlash
	kindSign // +
	kindDash
	kindQuote
	kindHash
	kindBacktick // Of the corrected digest only, as the next.
	kindPoint
)

// kinds holds the kind of every byte.
var kinds = func() (t [256]kind) {
	for c, k := range classes {
		switch {
		case k&letter != 0:
			t[c] = kindWord
		case k&digit != 0:
			t[c] = kindDigit
		case k&space != 0:
			t[c] = kindBlank
		}
	}
	t['?'], t['('], t[')'], t[','] = kindValue, kindOpen, kindClose, kindComma
	t['*'], t['%'], t['/'], t['+'], t['-'] = kindOperator, kindOperator, kindSlash, kindSign, kindDash
	t['\''], t['"'], t['#'] = kindQuote, kindQuote, kindHash
	return t
}()

func isArithmetic(c byte) bool {
	return c == '+' || c == '-' || c == '*' || c == '/' || c == '%'
}

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
