package lint

import (
	"slices"
	"strings"

	"github.com/pointsman/pointsman/decision/pattern"
)

// expression is what can be said for sure of an expression from its text alone.
type expression struct {
	source   string
	caseless bool
	always   bool     // it matches every text
	branches []branch // its alternatives; nil when it has constructs that are not followed
	sequence []sequence
}

// branch is one alternative.
type branch struct {
	anchored bool     // a match begins where the text does
	prefix   string   // what the text begins with when anchored, else ""
	runs     []string // texts that each match holds
	// exact: it matches exactly the texts that begin with prefix (anchored) or hold the one run.
	exact bool
	atoms sequence // all of it
	// folded are the runs without case, longest the longest of them.
	folded  []string
	longest string
}

// isCaseless reads re_modifiers, which Compile has checked.
func isCaseless(modifiers string) bool {
	m, err := pattern.ParseModifiers(modifiers)
	return err == nil && m.Caseless
}

func newExpression(source *string, caseless bool) *expression {
	if source == nil {
		return nil
	}
	e := &expression{source: *source, caseless: caseless}
	var ok bool
	if e.sequence, ok = scan(*source); !ok {
		e.sequence = nil
		return e
	}
	for _, s := range expand(e.sequence) {
		b := newBranch(s)
		e.branches = append(e.branches, b)
		e.always = e.always || b.exact && b.prefix == "" && len(b.runs) == 0
	}
	return e
}

// maxBranches is the most alternatives into which groups are written out.
const maxBranches = 64

// expand writes groups that stand exactly once out into alternatives: a(b|c)d becomes abd|acd.
func expand(list []sequence) []sequence {
	for i := 0; i < len(list); i++ {
		at := slices.IndexFunc(list[i], func(a atom) bool { return a.kind == atomGroup && a.once() })
		if at < 0 || len(list)-1+len(list[i][at].inner) > maxBranches {
			continue
		}
		whole := list[i]
		var out []sequence
		for _, inner := range whole[at].inner {
			out = append(out, slices.Concat(whole[:at], inner, whole[at+1:]))
		}
		list = slices.Replace(slices.Clone(list), i, i+1, out...)
		i-- // there may be more groups
	}
	return list
}

// newBranch reads what an alternative needs off its atoms.
func newBranch(s sequence) (b branch) {
	b.exact, b.atoms = true, s
	atoms := s
	for len(atoms) > 0 && atoms[0].kind == atomBegin {
		b.anchored, atoms = true, atoms[1:]
	}
	// What is left over at the end does not change what matches.
	for len(atoms) > 0 && atoms[len(atoms)-1].min == 0 && atoms[len(atoms)-1].kind != atomPlace {
		atoms = atoms[:len(atoms)-1]
	}
	if !b.anchored && len(atoms) == 1 && atoms[0].kind == atomEnd {
		atoms = nil // every text has an end
	}
	var run strings.Builder
	flush := func(first bool) {
		if run.Len() == 0 {
			return
		}
		if first && b.anchored {
			b.prefix = run.String()
		}
		b.runs = append(b.runs, run.String())
		run.Reset()
	}
	first := true
	for _, a := range atoms {
		if a.kind == atomLiteral && a.min > 0 {
			run.WriteByte(a.literal)
			if !a.once() {
				flush(first)
				first, b.exact = false, false
			}
			continue
		}
		flush(first)
		first, b.exact = false, false
		if a.kind == atomGroup && a.min > 0 && len(a.inner) == 1 {
			b.runs = append(b.runs, newBranch(a.inner[0]).runs...)
		}
	}
	flush(first)
	for _, run := range b.runs {
		b.folded = append(b.folded, fold(run))
		if len(run) > len(b.longest) {
			b.longest = fold(run)
		}
	}
	return b
}

// fold gives a text as a caseless comparison sees it: ASCII letters alone have two cases.
func fold(s string) string {
	folded := []byte(s)
	for i, c := range folded {
		if c >= 'A' && c <= 'Z' {
			folded[i] = c + 'a' - 'A'
		}
	}
	return string(folded)
}

// form gives a text as e compares it.
func (e *expression) form(s string) string {
	if e.caseless {
		return fold(s)
	}
	return s
}
