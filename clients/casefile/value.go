package casefile

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// readValue reads the value of a field: the rest of the line, or a quoted text as Go writes one. What is quoted can't
// be Unset by accident: it then begins with a quote that marks it as a text.
func readValue(s string) (value, mistake string) {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, `"`) {
		return s, ""
	}
	text, err := strconv.Unquote(s)
	if err != nil {
		return "", `the quoted text can't be read; write "..." with \", \\, \n, \t and \xHH inside`
	}
	if text == Unset {
		return quotedUnset, ""
	}
	return text, ""
}

// quotedUnset is the text "unset", as opposed to no text.
const quotedUnset = `"` + Unset + `"`

// writeValue writes a value so that readValue reads it.
func writeValue(s string) string {
	plain := s != "" && s[0] != '"' && strings.TrimSpace(s) == s && utf8.ValidString(s) &&
		strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
	if plain || s == quotedUnset {
		return s
	}
	return strconv.Quote(s)
}
