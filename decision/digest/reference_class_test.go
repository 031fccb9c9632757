package digest

// refClass is the kind of a byte, as the passes see it.
type refClass uint8

// The refClasses are bits, so that one test can ask for several of them.
const (
	refWord    refClass = 1 << iota // A-Z a-z 0-9 $ _
	refDigit                        // 0-9, a word byte too
	refBlank                        // Space, tab, CR, LF
	refOpener                       // A byte that may open a string or a comment
	refSqueeze                      // A byte that the second pass may drop
	refEdge                         // A byte that may cost a blank beside it its place
	refHex                          // 0-9 a-f A-F
	refLetter                       // A-Z a-z, a word byte too
)

// refClasses holds the refClass of every byte. A byte of refClass 0, or without word and blank, is a token byte: it ends
// words and numbers. Bytes from 0x80 on are token bytes, so that digests do not depend on a character set.
var refClasses = func() (t [256]refClass) {
	for c := byte('0'); c <= '9'; c++ {
		t[c] = refWord | refDigit | refHex
	}
	for c := byte('a'); c <= 'z'; c++ {
		k := refWord | refLetter
		if c <= 'f' {
			k |= refHex
		}
		t[c], t[refUpper(c)] = k, k
	}
	t['$'], t['_'] = refWord, refWord
	t[' '] = refBlank | refSqueeze
	for _, c := range []byte("\t\r\n") {
		t[c] = refBlank
	}
	for _, c := range []byte(`'"#/-`) {
		t[c] = refOpener
	}
	for _, c := range []byte("+-") {
		t[c] |= refSqueeze
	}
	for _, c := range []byte("(),?+-*/%") {
		t[c] |= refEdge
	}
	return t
}()

func refUpper(c byte) byte { return c - 'a' + 'A' }

func refLower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func refIsArithmetic(c byte) bool {
	return c == '+' || c == '-' || c == '*' || c == '/' || c == '%'
}
