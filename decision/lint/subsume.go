package lint

import (
	"slices"
	"strings"
)

// covers tells whether e matches whatever other matches, for sure.
func (e *expression) covers(other *expression) bool {
	if e.always || e.source == other.source && e.caseless == other.caseless {
		return true
	}
	if len(other.branches) == 0 || other.caseless && !e.caseless {
		return false
	}
	for i := range other.branches {
		if !e.coversBranch(other, &other.branches[i]) {
			return false
		}
	}
	return true
}

// asWritten tells whether an atom that both have matches with e whatever it does with other. Without case, a class that is
// inverted leaves out more than with it, and what is possessive takes more.
func (e *expression) asWritten(other *expression, a *atom) bool {
	return e.caseless == other.caseless || !a.keeps && !strings.Contains(a.source, "^")
}

func (e *expression) coversBranch(other *expression, b *branch) bool {
	for i := range e.branches {
		mine := &e.branches[i]
		if mine.exact && !mine.anchored {
			for _, run := range b.runs {
				if strings.Contains(e.form(run), e.form(mine.runs[0])) {
					return true
				}
			}
		}
		if mine.longest != "" && !b.holds(mine.longest) {
			continue // the pairing would find no place for it
		}
		p := pairing{e: e, other: other, mine: mine.atoms, theirs: b.atoms}
		last := len(b.atoms)
		if mine.anchored {
			last = 0
		}
		for j := 0; j <= last; j++ {
			if p.goesAlong(0, j) {
				return true
			}
		}
	}
	return false
}

// holds tells whether a match of the alternative holds a text, without case.
func (b *branch) holds(text string) bool {
	return slices.ContainsFunc(b.folded, func(run string) bool { return strings.Contains(run, text) })
}

// pairing looks for a match of one alternative inside each match of another one, atom by atom.
type pairing struct {
	e, other     *expression
	mine, theirs sequence
	failed       map[[2]int]bool // where there was a choice
}

// maxChoices bounds the places at which one alternative is tried in several ways.
const maxChoices = 10_000

// goesAlong tells whether, wherever theirs matches, mine from i on matches from the place on at which theirs has its
// atom j.
func (p *pairing) goesAlong(i, j int) bool {
	if i == len(p.mine) {
		return true
	}
	at := [2]int{i, j}
	if p.failed[at] || len(p.failed) > maxChoices {
		return false
	}
	m := &p.mine[i]
	drop, boundary := m.droppable(), m.isBoundary() && p.atBoundary(j)
	if (drop || boundary) && p.goesAlong(i+1, j) {
		return true
	}
	place := false
	if j < len(p.theirs) {
		t := &p.theirs[j]
		place = t.isPlace()
		if place && p.goesAlong(i, j+1) || p.same(m, t, i == len(p.mine)-1) && p.goesAlong(i+1, j+1) {
			return true
		}
	}
	if drop || boundary || place {
		if p.failed == nil {
			p.failed = make(map[[2]int]bool)
		}
		p.failed[at] = true
	}
	return false
}

// same tells whether m matches what t does. The last atom needs the beginning of that only.
func (p *pairing) same(m, t *atom, last bool) bool {
	switch {
	case m.kind == atomBegin || t.kind == atomBegin:
		return m.kind == t.kind
	case m.source == t.source:
		return m.kind == t.kind && p.e.asWritten(p.other, m)
	case m.kind != atomLiteral || t.kind != atomLiteral || !m.once():
		return false
	}
	return (t.once() || last && t.min > 0) && p.e.form(string([]byte{m.literal})) == p.e.form(string([]byte{t.literal}))
}

// atBoundary tells whether a word begins or ends where theirs has its atom j.
func (p *pairing) atBoundary(j int) bool {
	before, after := aside, aside
	for k := j - 1; k >= 0 && before == aside; k-- {
		before = p.theirs[k].side()
	}
	for k := j; k < len(p.theirs) && after == aside; k++ {
		switch after = p.theirs[k].side(); {
		case p.theirs[k].kind == atomBegin:
			after = unknown
		case p.theirs[k].kind == atomEnd && p.theirs[k].once():
			after = outside
		}
	}
	return before == inWord && after == outside || before == outside && after == inWord
}

// side says whether what an atom matches belongs to a word.
type side uint8

const (
	aside   side = iota // it matches no byte
	unknown             // this or that
	inWord
	outside
)

func (a *atom) side() side {
	switch {
	case a.kind == atomBegin:
		return outside
	case a.isPlace():
		return aside
	case a.kind != atomLiteral || a.min == 0 || a.literal >= 0x80:
		return unknown
	case isWord(a.literal):
		return inWord
	}
	return outside
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// isPlace tells whether an atom matches a place and no byte. A quantifier may take its meaning.
func (a *atom) isPlace() bool {
	return a.once() && (a.kind == atomPlace || a.kind == atomBegin || a.kind == atomEnd)
}

func (a *atom) isBoundary() bool { return a.source == `\b` }

// droppable tells whether a match may do without the atom, whatever follows it.
func (a *atom) droppable() bool { return a.min == 0 && !a.keeps }

// start is the text behind the beginning of an anchored alternative and what may be absent there. It is enough when
// nothing else has to follow but the end of a word.
func (b *branch) start() (text string, enough bool) {
	atoms := b.atoms
	for len(atoms) > 0 && (atoms[0].kind == atomBegin || atoms[0].droppable()) {
		atoms = atoms[1:]
	}
	var run strings.Builder
	for len(atoms) > 0 && atoms[0].kind == atomLiteral && atoms[0].min > 0 {
		run.WriteByte(atoms[0].literal)
		if !atoms[0].once() {
			return run.String(), false
		}
		atoms = atoms[1:]
	}
	for len(atoms) > 0 && (atoms[0].isBoundary() || atoms[0].droppable()) {
		atoms = atoms[1:]
	}
	return run.String(), len(atoms) == 0
}

// written gives the source of an anchored alternative from its front up to each of its atoms.
func (b *branch) written() (fronts []string) {
	var all strings.Builder
	ends := make([]int, 0, len(b.atoms))
	for i := range b.atoms {
		all.WriteString(b.atoms[i].source)
		ends = append(ends, all.Len())
	}
	for _, end := range ends {
		fronts = append(fronts, all.String()[:end])
	}
	return fronts
}

// needed is how many atoms are left when those at the end that may be absent, and the end of a word, are left out.
func (b *branch) needed() int {
	n := len(b.atoms)
	for n > 0 && (b.atoms[n-1].droppable() || b.atoms[n-1].isBoundary()) {
		n--
	}
	return n
}
