package pattern

// next is what an assertion can tell about what comes next in the text.
type next uint8

const (
	nextEnd     next = iota // nothing
	nextFinal               // a newline that is the last byte
	nextNewline             // another newline
	nextWord                // a byte of a word
	nextOther
	nexts
)

// before is what an assertion can tell about what came before.
type before uint8

const (
	beforeOther before = iota
	beforeBegin        // nothing
	beforeNewline
	beforeWord
	befores
)

// holds tells whether an assertion holds between two bytes.
func (a assertion) holds(b before, n next) bool {
	switch a {
	case assertTextBegin, assertFrom:
		return b == beforeBegin
	case assertTextEnd:
		return n == nextEnd
	case assertFinalEnd:
		return n == nextEnd || n == nextFinal
	case assertLineBegin:
		return b == beforeBegin || b == beforeNewline && n != nextEnd
	case assertLineEnd:
		return n == nextEnd || n == nextFinal || n == nextNewline
	case assertBoundary:
		return (b == beforeWord) != (n == nextWord)
	case assertNoBoundary:
		return (b == beforeWord) == (n == nextWord)
	}
	return false
}

// alphabet sorts bytes into classes: no set of a program, and no assertion, tells two bytes of one class apart. The
// symbols of a program are the classes, and two more for the end of a text.
type alphabet struct {
	class [256]uint8
	bytes []byte   // by class: one of its bytes
	next  []next   // by symbol
	after []before // by symbol: what it is to the assertions behind it
}

// newAlphabet makes the classes. Words need classes of their own only where something asks for their boundaries.
func newAlphabet(sets []byteSet, words bool) *alphabet {
	a := &alphabet{}
	a.split(singleton('\n'))
	if words {
		a.split(ranges(wordBytes))
	}
	for _, s := range sets {
		a.split(s)
	}
	for b := 255; b >= 0; b-- {
		if c := int(a.class[b]); c >= len(a.bytes) {
			a.bytes = append(a.bytes, make([]byte, c+1-len(a.bytes))...)
		}
		a.bytes[a.class[b]] = byte(b)
	}
	for _, b := range a.bytes {
		switch {
		case b == '\n':
			a.add(nextNewline, beforeNewline)
		case words && isWord(b):
			a.add(nextWord, beforeWord)
		default:
			a.add(nextOther, beforeOther)
		}
	}
	a.add(nextFinal, beforeNewline)
	a.add(nextEnd, beforeOther)
	return a
}

// split tells the bytes of s apart from the others.
func (a *alphabet) split(s byteSet) {
	var classes [256]int16 // by old class and membership: the new class and 1
	var inside [256]int16
	count := int16(0)
	for b := range 256 {
		to := &classes[a.class[b]]
		if s.has(byte(b)) {
			to = &inside[a.class[b]]
		}
		if *to == 0 {
			count++
			*to = count
		}
		a.class[b] = uint8(*to - 1)
	}
}

func (a *alphabet) add(n next, b before) {
	a.next = append(a.next, n)
	a.after = append(a.after, b)
}

func (a *alphabet) symbols() int { return len(a.next) }

// final is the symbol of a newline that is the last byte of a text.
func (a *alphabet) final() int { return len(a.bytes) }

// end is the symbol behind the last byte.
func (a *alphabet) end() int { return len(a.bytes) + 1 }

// symbol gives the symbol at a place of a text, its end included.
func (a *alphabet) symbol(text []byte, i int) int {
	switch {
	case i == len(text):
		return a.end()
	case i == len(text)-1 && text[i] == '\n':
		return a.final()
	}
	return int(a.class[text[i]])
}

// withoutFinal gives the text without a newline that is its last byte.
func withoutFinal(text []byte) []byte {
	if n := len(text); n > 0 && text[n-1] == '\n' {
		return text[:n-1]
	}
	return text
}

// consumed gives the class that a set must have to take the symbol; ok is false for the end.
func (a *alphabet) consumed(symbol int) (class int32, ok bool) {
	switch symbol {
	case a.end():
		return 0, false
	case a.final():
		return int32(a.class['\n']), true
	}
	return int32(symbol), true
}
