package digest

// class is the kind of a byte, as the passes see it.
type class uint8

// The classes are bits, so that one test can ask for several of them.
const (
	word    class = 1 << iota // A-Z a-z 0-9 $ _
	digit                     // 0-9, a word byte too
	blank                     // Space, tab, CR, LF
	opener                    // A byte that may open a string or a comment
	squeeze                   // A byte that the second pass may drop
	hex                       // 0-9 a-f A-F
	letter                    // A-Z a-z, a word byte too
)

// classes holds the class of every byte. A byte of class 0, and every opener, is a token byte: it ends words and
// numbers. Bytes from 0x80 on are token bytes, so that digests do not depend on a character set.
var classes = func() (t [256]class) {
	for c := range 256 {
		b := byte(c)
		switch {
		case '0' <= b && b <= '9':
			t[b] = word | digit | hex
		case 'a' <= b|0x20 && b|0x20 <= 'z':
			t[b] = word | letter
			if b|0x20 <= 'f' {
				t[b] |= hex
			}
		}
	}
	t['$'], t['_'] = word, word
	for _, b := range []byte("\t\r\n") {
		t[b] = blank
	}
	for _, b := range []byte(`'"#/-`) {
		t[b] = opener
	}
	t[' '] = blank | squeeze
	t['+'] |= squeeze
	t['-'] |= squeeze
	return t
}()

// lower maps A-Z to a-z and leaves all other bytes alone.
var lower = func() (t [256]byte) {
	for c := range 256 {
		t[c] = byte(c)
		if 'A' <= c && c <= 'Z' {
			t[c] = byte(c) | 0x20
		}
	}
	return t
}()

func isArithmetic(c byte) bool {
	return c == '+' || c == '-' || c == '*' || c == '/' || c == '%'
}
