package pattern

import "strings"

// Bounds of one Replace.
const (
	maxGrowth = 64 << 20      // bytes that a text may grow
	maxSpent  = 2 * baseSteps // steps of all searches together, and more for long texts
)

// Replacement is a parsed replace_pattern.
type Replacement struct {
	pieces []piece
}

// piece is plain text, or the text of a group.
type piece struct {
	text  string
	group int // -1: plain text
}

// ParseReplacement reads a replace_pattern for an expression with so many groups. \0 is the whole match, \1 to \9 are
// groups, and \\ is one backslash; all else is plain text, also $1 and ${n}. Any other use of the backslash is a
// *SyntaxError, where ProxySQL leaves the statement alone at run time.
func ParseReplacement(s string, groups int) (*Replacement, error) {
	r := &Replacement{}
	var plain strings.Builder
	flush := func() {
		if plain.Len() > 0 {
			r.pieces = append(r.pieces, piece{text: plain.String(), group: -1})
			plain.Reset()
		}
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			plain.WriteByte(s[i])
			continue
		}
		if i+1 == len(s) {
			return nil, syntaxErrorf(i, `a \ ends the replacement; write \\ for the character`)
		}
		i++
		switch c := s[i]; {
		case c == '\\':
			plain.WriteByte(c)
		case !isDigit(c):
			return nil, syntaxErrorf(i-1, `\%c means nothing in a replacement; write \0 to \9 for the match and its groups, or \\ for the character`, c)
		case int(c-'0') > groups:
			return nil, syntaxErrorf(i-1, `\%c has no group: match_pattern has %d; mend the number, or put (...) into match_pattern`, c, groups)
		default:
			flush()
			r.pieces = append(r.pieces, piece{group: int(c - '0')})
		}
	}
	flush()
	return r, nil
}

// Replace appends the text to dst with its first match replaced, or with global all that do not overlap, and tells
// whether there was any. A group that took no part is empty. The replacement must be parsed for r.
//
// Empty matches are found as by PCRE's C++ interface, which ProxySQL uses: an empty match may follow directly on
// another match, and after an empty one a longer one is tried at the same place. If the searches together run out of
// their bound, or the text would grow by more than 64 MiB, nothing is replaced.
func (r *Regexp) Replace(dst, text []byte, rep *Replacement, global bool) (out []byte, changed bool) {
	m := borrow(r.program(), text, true)
	defer m.release()
	base, copied, from := len(dst), 0, 0
	again := false // the last match was empty
	for from <= len(text) {
		begin, end, found, err := m.search(from, again, again)
		switch {
		case err != nil || len(dst)-base-copied > maxGrowth || m.spent > maxSpent+4*stepsAByte*len(text):
			return append(dst[:base], text...), false
		case !found && !again:
			return append(dst, text[copied:]...), changed
		case !found:
			from++
			again = false
			continue
		}
		dst = append(dst, text[copied:begin]...)
		dst = rep.append(dst, m, begin, end)
		changed = true
		if !global {
			return append(dst, text[end:]...), true
		}
		copied, from, again = end, end, begin == end
	}
	return append(dst, text[copied:]...), changed
}

// append writes the replacement of one match.
func (r *Replacement) append(dst []byte, m *machine, begin, end int) []byte {
	for _, p := range r.pieces {
		switch {
		case p.group < 0:
			dst = append(dst, p.text...)
		case p.group == 0:
			dst = append(dst, m.text[begin:end]...)
		default:
			if from, to, ok := m.group(2 * (p.group - 1)); ok {
				dst = append(dst, m.text[from:to]...)
			}
		}
	}
	return dst
}
