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
	edge                      // A byte that may cost a blank beside it its place
	hex                       // 0-9 a-f A-F
	letter                    // A-Z a-z, a word byte too
)

// classes holds the class of every byte. A byte of class 0, or without word and blank, is a token byte: it ends
// words and numbers. Bytes from 0x80 on are token bytes, so that digests do not depend on a character set.
var classes = func() (t [256]class) {
	for c := byte('0'); c <= '9'; c++ {
		t[c] = word | digit | hex
	}
	for c := byte('a'); c <= 'z'; c++ {
		k := word | letter
		if c <= 'f' {
			k |= hex
		}
		t[c], t[upper(c)] = k, k
	}
	t['$'], t['_'] = word, word
	t[' '] = blank | squeeze
	for _, c := range []byte("\t\r\n") {
		t[c] = blank
	}
	for _, c := range []byte(`'"#/-`) {
		t[c] = opener
	}
	for _, c := range []byte("+-") {
		t[c] |= squeeze
	}
	for _, c := range []byte("(),?+-*/%") {
		t[c] |= edge
	}
	return t
}()

func upper(c byte) byte { return c - 'a' + 'A' }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func isArithmetic(c byte) bool {
	return c == '+' || c == '-' || c == '*' || c == '/' || c == '%'
}
