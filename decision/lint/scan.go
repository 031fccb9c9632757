package lint

import (
	"slices"
	"strings"
)

// atomKind says what an atom of an expression matches.
type atomKind uint8

const (
	atomLiteral atomKind = iota // one byte
	atomClass                   // one byte of several: . [...] \d
	atomGroup                   // (...)
	atomBegin                   // ^ or \A at the front
	atomEnd                     // $ at the end
	atomPlace                   // \b and the like, and ^ or $ elsewhere
)

// atom is a part of an expression with its quantifier.
type atom struct {
	kind      atomKind
	literal   byte
	inner     []sequence // of a group
	min       int        // 0 or 1: whether it must be there
	optional  bool       // it has a quantifier
	unbounded bool       // by * + or {n,}
	keeps     bool       // it is or holds something possessive or counted, and may not give back what it took
	source    string     // as written, with the quantifier
}

// once tells whether it stands for exactly one time.
func (a *atom) once() bool { return !a.optional }

// sequence is one alternative.
type sequence []atom

// scan splits an expression that compiles into its alternatives. It is not ok for look-around, inline options and other
// constructs that change the meaning of what stands around them, and for escapes that are not followed here.
func scan(source string) (alternatives []sequence, ok bool) {
	s := scanner{text: source}
	alternatives = s.alternatives()
	return alternatives, !s.failed && s.at == len(s.text)
}

type scanner struct {
	text   string
	at     int
	depth  int
	failed bool
}

const maxDepth = 100 // of groups that are followed

func (s *scanner) more() bool { return !s.failed && s.at < len(s.text) }

func (s *scanner) take(prefix string) bool {
	if !strings.HasPrefix(s.text[s.at:], prefix) {
		return false
	}
	s.at += len(prefix)
	return true
}

func (s *scanner) alternatives() []sequence {
	list := []sequence{nil}
	last := func() *sequence { return &list[len(list)-1] }
	for s.more() {
		switch {
		case s.take("|"):
			list = append(list, nil)
		case s.text[s.at] == ')':
			return list
		default:
			front := len(*last()) == 0 && s.depth == 0
			*last() = append(*last(), s.atom(front))
		}
	}
	return list
}

func (s *scanner) atom(front bool) atom {
	a := atom{kind: atomLiteral, literal: s.text[s.at], min: 1}
	begin := s.at
	s.at++
	switch a.literal {
	case '^':
		a.kind = atomPlace
		if front {
			a.kind = atomBegin
		}
	case '$':
		a.kind = atomPlace
		if s.depth == 0 && (s.at == len(s.text) || s.text[s.at] == '|') {
			a.kind = atomEnd
		}
	case '.':
		a.kind = atomClass
	case '[':
		a.kind = atomClass
		s.class()
	case '(':
		a.kind = atomGroup
		s.group(&a)
	case '\\':
		s.escape(&a, front)
	}
	s.quantifier(&a)
	if !s.failed {
		a.source = s.text[begin:s.at]
	}
	return a
}

// class skips a class whose bracket is open.
func (s *scanner) class() {
	s.take("^")
	s.take("]")
	for s.more() {
		switch c := s.text[s.at]; {
		case c == ']':
			s.at++
			return
		case c == '\\':
			s.at += 2
			s.failed = s.failed || strings.HasPrefix(s.text[s.at-2:], `\Q`)
		case strings.HasPrefix(s.text[s.at:], "[:"):
			if end := strings.Index(s.text[s.at:], ":]"); end > 0 {
				s.at += end + 2
				continue
			}
			s.at++
		default:
			s.at++
		}
	}
	s.failed = true
}

func (s *scanner) group(a *atom) {
	if !s.take("?:") && (s.take("?") || s.take("*")) {
		s.failed = true
		return
	}
	if s.depth++; s.depth > maxDepth {
		s.failed = true
		return
	}
	a.inner = s.alternatives()
	for _, inner := range a.inner {
		a.keeps = a.keeps || slices.ContainsFunc(inner, func(a atom) bool { return a.keeps })
	}
	s.depth--
	s.failed = s.failed || !s.take(")")
}

func (s *scanner) escape(a *atom, front bool) {
	if s.at == len(s.text) {
		s.failed = true
		return
	}
	c := s.text[s.at]
	s.at++
	switch {
	case c == 'A' && front:
		a.kind = atomBegin
	case strings.IndexByte("bBAzZG", c) >= 0:
		a.kind = atomPlace
	case strings.IndexByte("dDwWsShHvVNtnrfe", c) >= 0:
		a.kind = atomClass
	case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= 0x80:
		s.failed = true
	default:
		a.literal = c
	}
}

func (s *scanner) quantifier(a *atom) {
	if !s.more() {
		return
	}
	switch c := s.text[s.at]; c {
	case '*', '+', '?':
		s.at++
		a.optional, a.unbounded = true, c != '?'
		if c != '+' {
			a.min = 0
		}
	case '{':
		end := strings.IndexByte(s.text[s.at:], '}')
		if end < 0 {
			return // a plain bracket
		}
		bounds := s.text[s.at+1 : s.at+end]
		low, _, ranged := strings.Cut(bounds, ",")
		if strings.Trim(bounds, "0123456789,") != "" || bounds == "" {
			return
		}
		s.failed = s.failed || low == "" // its meaning differs between releases of PCRE
		s.at += end + 1
		a.optional, a.keeps = true, true
		if strings.Trim(low, "0") == "" {
			a.min = 0
		}
		a.unbounded = ranged && strings.HasSuffix(bounds, ",")
	default:
		return
	}
	if s.take("+") { // possessive
		a.keeps = true
	} else {
		s.take("?") // lazy
	}
}

// hazardous tells whether a repetition holds nothing that must be there but repetitions, as in (a+)+ or (\w*\s*)*:
// engines that match by trying need exponential time on some texts.
func hazardous(alternatives []sequence) bool {
	for _, s := range alternatives {
		for i := range s {
			a := &s[i]
			if a.kind != atomGroup {
				continue
			}
			if hazardous(a.inner) {
				return true
			}
			for _, inner := range a.inner {
				if a.unbounded && repetitive(inner) {
					return true
				}
			}
		}
	}
	return false
}

// repetitive tells whether a sequence holds an unbounded repetition and nothing that is there exactly once.
func repetitive(s sequence) bool {
	unbounded := false
	for i := range s {
		a := &s[i]
		if a.once() && a.kind != atomPlace {
			return false
		}
		unbounded = unbounded || a.unbounded
	}
	return unbounded
}
