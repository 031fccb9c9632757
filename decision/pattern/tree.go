package pattern

// kind says what a node of the tree is.
type kind uint8

const (
	kindEmpty     kind = iota
	kindSet            // one byte of set
	kindConcat         // subs one after the other
	kindAlternate      // the first of subs that leads to a match
	kindRepeat         // subs[0] between min and max times
	kindCapture        // subs[0], remembered as group index
	kindAtomic         // subs[0], its first way alone
	kindLook           // subs[0] holds ahead or behind, or doesn't (negative)
	kindBackref        // the text of group index again
	kindCondGroup      // subs[0] if group index is set, else subs[1]
	kindCondLook       // subs[1] if subs[0], a kindLook, holds, else subs[2]
	kindAssert         // a place, by assertion
	kindKeep           // \K: the match begins here
)

// assertion is a place in the text.
type assertion uint8

const (
	assertTextBegin  assertion = iota // \A, and ^ without (?m)
	assertTextEnd                     // \z
	assertFinalEnd                    // \Z, and $ without (?m): the end, also before a final newline
	assertLineBegin                   // ^ with (?m): the beginning, and after a newline that is not the last byte
	assertLineEnd                     // $ with (?m)
	assertBoundary                    // \b
	assertNoBoundary                  // \B
	assertFrom                        // \G: where the search began
)

// greed says which of the possible numbers of repetitions comes first.
type greed uint8

const (
	greedy     greed = iota // most first
	lazy                    // fewest first
	possessive              // most, and nothing else; the parser keeps it for repeated sets, other nodes become atomic
)

// unlimited is the max of a repetition without an upper bound.
const unlimited = -1

// node is a part of an expression.
type node struct {
	kind      kind
	assertion assertion
	greed     greed
	negative  bool // kindLook
	behind    bool // kindLook
	caseless  bool // kindBackref
	ownRef    bool // kindCapture: a reference to the group stands inside it
	set       byteSet
	subs      []*node
	min, max  int // kindRepeat
	index     int // kindCapture, kindBackref, kindCondGroup
	pos       int // where it begins in the expression, for errors found later

	shortest int // length of the shortest match, from analyze
	cost     int // instructions it takes, from analyze
}

func concat(subs []*node) *node {
	switch len(subs) {
	case 0:
		return &node{kind: kindEmpty}
	case 1:
		return subs[0]
	}
	return &node{kind: kindConcat, subs: subs}
}

func setNode(s byteSet) *node { return &node{kind: kindSet, set: s} }
