package translate

import (
	"strings"
	"unicode/utf8"
)

// text shows bytes as a proto string, with U+FFFD for each byte that is not UTF-8, and tells whether that was exact.
func text(b []byte) (s string, exact bool) {
	if utf8.Valid(b) {
		return string(b), true
	}
	var out strings.Builder
	out.Grow(len(b) + 8)
	for _, r := range string(b) {
		out.WriteRune(r)
	}
	return out.String(), false
}
