package guideline

import (
	"strings"
	"unicode/utf8"
)

// likePattern is the right side of a LIKE, taken apart (spec 4.6).
type likePattern struct {
	always bool // true for everything, NULL too
	kind   likeKind
	body   string     // of all but likeGeneral
	parts  []likePart // of likeGeneral
}

type likeKind uint8

const (
	likeWhole likeKind = iota // no wildcard
	likePrefix
	likeSuffix
	likeWithin
	likeGeneral // a wildcard inside
)

// likePart is a byte, or a wildcard: `_` for one character, `%` for any run.
type likePart struct {
	wildcard byte
	literal  byte
}

// newLikePattern reads a pattern. A backslash takes the meaning from %, _ and itself.
func newLikePattern(text string) *likePattern {
	if text == "" || text == "%" {
		return &likePattern{always: true}
	}
	parts := make([]likePart, 0, len(text))
	wildcards := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && strings.IndexByte(`%_\`, text[i+1]) >= 0:
			i++
			parts = append(parts, likePart{literal: lower(text[i])})
		case c == '%' || c == '_':
			parts = append(parts, likePart{wildcard: c})
			wildcards++
		default:
			parts = append(parts, likePart{literal: lower(c)})
		}
	}
	// One % at either end leaves a text that stands somewhere. Any further wildcard makes the pattern a general one.
	leading, trailing := parts[0].wildcard == '%', parts[len(parts)-1].wildcard == '%'
	body := parts
	if leading {
		body = body[1:]
		wildcards--
	}
	if trailing && len(body) > 0 {
		body = body[:len(body)-1]
		wildcards--
	}
	if wildcards > 0 {
		return &likePattern{kind: likeGeneral, parts: parts}
	}
	p := &likePattern{body: literals(body)}
	switch {
	case leading && trailing:
		p.kind = likeWithin
	case leading:
		p.kind = likeSuffix
	case trailing:
		p.kind = likePrefix
	}
	return p
}

func literals(parts []likePart) string {
	text := make([]byte, len(parts))
	for i, part := range parts {
		text[i] = part.literal
	}
	return string(text)
}

// tooCostly tells whether it would take too long to match a text.
func (p *likePattern) tooCostly(text string) bool {
	return p.kind == likeGeneral && tooCostly(text, len(p.parts))
}

// match tells whether a text that is not too costly is like the pattern.
func (p *likePattern) match(text string) bool {
	switch p.kind {
	case likeWhole:
		return equalFold(text, p.body)
	case likePrefix:
		return hasPrefixFold(text, p.body)
	case likeSuffix:
		return hasSuffixFold(text, p.body)
	case likeWithin:
		return indexFold(text, p.body) >= 0
	case likeGeneral:
		return p.matchGeneral(text)
	}
	return false
}

// matchGeneral goes through the text once and, on a mismatch, back to the last `%` only: what an earlier one left is the
// leftmost place already, and a place further right can't help the rest. At worst that takes the product of both lengths.
// A wildcard among others does not match a line break.
func (p *likePattern) matchGeneral(text string) bool {
	at, part := 0, 0
	run, runAt := -1, 0 // the last %, and where what follows it was tried
	for at < len(text) || part < len(p.parts) {
		if part < len(p.parts) {
			switch next := p.parts[part]; {
			case next.wildcard == '%':
				run, runAt = part, at
				part++
				continue
			case at == len(text):
			case next.wildcard == '_':
				if size := oneCharacter(text[at:]); size > 0 {
					at += size
					part++
					continue
				}
			case lower(text[at]) == next.literal:
				at++
				part++
				continue
			}
		}
		if run < 0 || runAt == len(text) {
			return false
		}
		size := oneCharacter(text[runAt:])
		if size == 0 {
			return false
		}
		runAt += size
		at, part = runAt, run+1
	}
	return true
}

// oneCharacter gives the size of the first character, 0 when it is a line break.
func oneCharacter(text string) int {
	r, size := utf8.DecodeRuneInString(text)
	switch r {
	case '\n', '\r', '\u2028', '\u2029':
		return 0
	}
	return size
}

func hasPrefixFold(text, prefix string) bool {
	return len(text) >= len(prefix) && equalFold(text[:len(prefix)], prefix)
}

func hasSuffixFold(text, suffix string) bool {
	return len(text) >= len(suffix) && equalFold(text[len(text)-len(suffix):], suffix)
}
