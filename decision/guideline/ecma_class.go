package guideline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// runeSet is a set of characters: ranges, both ends included, in any order.
type runeSet []runeRange

type runeRange struct{ low, high rune }

var (
	digitSet = runeSet{{'0', '9'}}
	spaceSet = runeSet{{'\t', '\r'}, {' ', ' '}}
	wordSet  = runeSet{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
)

// posixSets are the named classes that the C++ library adds to ECMAScript. Case does not matter here.
var posixSets = map[string]runeSet{
	"alnum": {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}, "alpha": {{'A', 'Z'}, {'a', 'z'}}, "blank": {{' ', ' '}, {'\t', '\t'}},
	"cntrl": {{0, 0x1F}, {0x7F, 0x7F}}, "d": digitSet, "digit": digitSet, "graph": {{'!', '~'}}, "lower": {{'A', 'Z'}, {'a', 'z'}},
	"print": {{' ', '~'}}, "punct": {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}, "s": spaceSet, "space": spaceSet,
	"upper": {{'A', 'Z'}, {'a', 'z'}}, "w": wordSet, "xdigit": {{'0', '9'}, {'A', 'F'}, {'a', 'f'}},
}

// complement gives all other characters.
func (s runeSet) complement() runeSet {
	sorted := slices.Clone(s)
	slices.SortFunc(sorted, func(a, b runeRange) int { return cmp.Compare(a.low, b.low) })
	var out runeSet
	next := rune(0)
	for _, r := range sorted {
		if r.low > next {
			out = append(out, runeRange{next, r.low - 1})
		}
		next = max(next, r.high+1)
	}
	if next <= utf8.MaxRune {
		out = append(out, runeRange{next, utf8.MaxRune})
	}
	return out
}

// folded adds the other case of every ASCII letter.
func (s runeSet) folded() runeSet {
	out := slices.Clone(s)
	for _, r := range s {
		if low, high := max(r.low, 'a'), min(r.high, 'z'); low <= high {
			out = append(out, runeRange{low - 'a' + 'A', high - 'a' + 'A'})
		}
		if low, high := max(r.low, 'A'), min(r.high, 'Z'); low <= high {
			out = append(out, runeRange{low - 'A' + 'a', high - 'A' + 'a'})
		}
	}
	return out
}

// write writes a set as a class, or the class of all others.
func (e *ecma) write(set runeSet, negated bool) {
	set = set.folded()
	switch {
	case len(set) == 0 && negated:
		set, negated = runeSet{{0, utf8.MaxRune}}, false
	case len(set) == 0:
		set, negated = runeSet{{0, utf8.MaxRune}}, true
	}
	e.out.WriteByte('[')
	if negated {
		e.out.WriteByte('^')
	}
	for _, r := range set {
		fmt.Fprintf(&e.out, `\x{%x}-\x{%x}`, r.low, r.high)
	}
	e.out.WriteByte(']')
}

// class reads [...].
func (e *ecma) class() error {
	start := e.at
	e.at++
	negated := e.accept("^")
	var set runeSet
	for !e.accept("]") {
		if e.at == len(e.pattern) {
			e.at = start
			return e.fail("unclosed [")
		}
		from := e.at
		low, err := e.classAtom()
		if err != nil {
			return err
		}
		high := low
		if e.at+1 < len(e.pattern) && e.pattern[e.at] == '-' && e.pattern[e.at+1] != ']' {
			e.at++
			if high, err = e.classAtom(); err != nil {
				return err
			}
			if len(low) == 1 && len(high) == 1 && low[0].low == low[0].high && high[0].low == high[0].high {
				if low[0].low > high[0].low {
					e.at = from
					return e.fail("range out of order")
				}
				set = append(set, runeRange{low[0].low, high[0].high})
				continue
			}
			low = append(slices.Clone(low), runeRange{'-', '-'}) // no range beside a class: a hyphen
		}
		set = append(append(set, low...), high...)
	}
	e.write(set, negated)
	return nil
}

// classAtom reads a character, an escape or a named class inside [...].
func (e *ecma) classAtom() (runeSet, error) {
	if e.at == len(e.pattern) {
		return nil, e.fail("unclosed [")
	}
	if e.pattern[e.at] == '\\' {
		return e.escape(true)
	}
	if strings.HasPrefix(e.pattern[e.at:], "[:") {
		if name, _, closed := strings.Cut(e.pattern[e.at+2:], ":]"); closed {
			set, known := posixSets[lowered(name)]
			if !known {
				return nil, e.fail("unknown class [:" + name + ":]")
			}
			e.at += len(name) + len("[::]")
			return set, nil
		}
	}
	r, size := utf8.DecodeRuneInString(e.pattern[e.at:])
	e.at += size
	return runeSet{{r, r}}, nil
}

var controlEscapes = map[byte]rune{'t': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r'}

// escape reads a backslash and what it stands for.
func (e *ecma) escape(inClass bool) (runeSet, error) {
	start := e.at
	if e.at++; e.at == len(e.pattern) {
		e.at = start
		return nil, e.fail(`\ at the end`)
	}
	r, size := utf8.DecodeRuneInString(e.pattern[e.at:])
	e.at += size
	switch r {
	case 'd':
		return digitSet, nil
	case 'D':
		return digitSet.complement(), nil
	case 's':
		return spaceSet, nil
	case 'S':
		return spaceSet.complement(), nil
	case 'w':
		return wordSet, nil
	case 'W':
		return wordSet.complement(), nil
	case 'x':
		return e.hexEscape(start, 2)
	case 'u':
		return e.hexEscape(start, 4)
	case 'c':
		if e.at < len(e.pattern) && isLetter(e.pattern[e.at]) {
			e.at++
			r = rune(e.pattern[e.at-1] % 32)
			return runeSet{{r, r}}, nil
		}
	case '0':
		if e.at == len(e.pattern) || !isDigit(e.pattern[e.at]) {
			return runeSet{{0, 0}}, nil
		}
	case 'b':
		if inClass {
			return runeSet{{'\b', '\b'}}, nil
		}
	}
	if control, known := controlEscapes[byte(min(r, utf8.RuneSelf))]; known {
		return runeSet{{control, control}}, nil
	}
	if r < utf8.RuneSelf && isWordByte(byte(r)) && r != '_' {
		e.at = start
		if r == 'k' || isDigit(byte(r)) && r != '0' {
			return nil, e.fail("back-references can't be matched in linear time")
		}
		return nil, e.fail("unknown escape \\" + string(r))
	}
	return runeSet{{r, r}}, nil
}

// hexEscape reads the digits of \xHH and \uHHHH.
func (e *ecma) hexEscape(start, digits int) (runeSet, error) {
	if e.at+digits <= len(e.pattern) {
		if n, err := strconv.ParseUint(e.pattern[e.at:e.at+digits], 16, 32); err == nil {
			e.at += digits
			return runeSet{{rune(n), rune(n)}}, nil
		}
	}
	e.at = start
	return nil, e.fail("escape without its hexadecimal digits")
}
