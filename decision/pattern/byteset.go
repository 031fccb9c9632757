package pattern

import "math/bits"

// byteSet is a set of bytes, one bit each.
type byteSet [4]uint64

func (s *byteSet) has(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }

func (s *byteSet) add(b byte) { s[b>>6] |= 1 << (b & 63) }

func (s *byteSet) addRange(lo, hi byte) {
	for b := int(lo); b <= int(hi); b++ {
		s.add(byte(b))
	}
}

func (s *byteSet) addSet(t *byteSet) {
	for i := range s {
		s[i] |= t[i]
	}
}

func (s *byteSet) negate() {
	for i := range s {
		s[i] = ^s[i]
	}
}

// fold adds the other case of each ASCII letter.
func (s *byteSet) fold() {
	const letters = 1<<26 - 1
	both := (s[1]>>('A'&63) | s[1]>>('a'&63)) & letters
	s[1] |= both<<('A'&63) | both<<('a'&63)
}

func (s *byteSet) size() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

func (s *byteSet) meets(t *byteSet) bool {
	for i := range s {
		if s[i]&t[i] != 0 {
			return true
		}
	}
	return false
}

// lowest gives the smallest byte of a set that is not empty.
func (s *byteSet) lowest() byte {
	for i, word := range s {
		if word != 0 {
			return byte(i*64 + bits.TrailingZeros64(word))
		}
	}
	return 0
}

// literal tells whether the set is one byte, or one letter in both cases (folded). Of a letter it gives the lower case.
func (s *byteSet) literal() (b byte, folded, ok bool) {
	switch s.size() {
	case 1:
		return s.lowest(), false, true
	case 2:
		upper := s.lowest()
		if upper >= 'A' && upper <= 'Z' && s.has(upper+'a'-'A') {
			return upper + 'a' - 'A', true, true
		}
	}
	return 0, false, false
}

func singleton(b byte) byteSet {
	var s byteSet
	s.add(b)
	return s
}

func ranges(pairs string) byteSet {
	var s byteSet
	for i := 0; i < len(pairs); i += 2 {
		s.addRange(pairs[i], pairs[i+1])
	}
	return s
}

func negated(s byteSet) byteSet {
	s.negate()
	return s
}

// The classes of PCRE in the C locale, each as pairs of first and last byte.
const (
	digitBytes      = "09"
	wordBytes       = "09AZ__az"
	spaceBytes      = "\t\r  "
	horizontalBytes = "\t\t  \xa0\xa0"
	verticalBytes   = "\n\r\x85\x85"
)

// posixClasses holds the names that may stand in [:name:].
var posixClasses = map[string]byteSet{
	"alnum":  ranges("09AZaz"),
	"alpha":  ranges("AZaz"),
	"ascii":  ranges("\x00\x7f"),
	"blank":  ranges("\t\t  "),
	"cntrl":  ranges("\x00\x1f\x7f\x7f"),
	"digit":  ranges(digitBytes),
	"graph":  ranges("!~"),
	"lower":  ranges("az"),
	"print":  ranges(" ~"),
	"punct":  ranges("!/:@[`{~"),
	"space":  ranges(spaceBytes),
	"upper":  ranges("AZ"),
	"word":   ranges(wordBytes),
	"xdigit": ranges("09AFaf"),
}

// foldTable maps upper case ASCII letters to lower case, and all else to itself.
var foldTable = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
	}
	for b := byte('A'); b <= 'Z'; b++ {
		t[b] = b + 'a' - 'A'
	}
	return t
}()
