package rules

import (
	"fmt"
	"unicode/utf8"
)

const (
	// maxExcerpt is how many bytes of a text an excerpt shows.
	maxExcerpt = 300
	// excerptLead is how many of them stand before the place that matters.
	excerptLead = 40
)

// Excerpt gives a text for people, or the part of it around a byte offset when it is long. What is left out is counted,
// as in "...[120 bytes] WHERE a = 1 [3000 bytes]...".
func Excerpt(text []byte, around int) string {
	if len(text) <= maxExcerpt {
		return string(text)
	}
	from := max(0, min(around-excerptLead, len(text)-maxExcerpt))
	to := from + maxExcerpt
	for range utf8.UTFMax - 1 { // cut no character in two
		if from > 0 && !utf8.RuneStart(text[from]) {
			from--
		}
		if to < len(text) && !utf8.RuneStart(text[to]) {
			to--
		}
	}
	out := string(text[from:to])
	if from > 0 {
		out = fmt.Sprintf("...[%d bytes] %s", from, out)
	}
	if to < len(text) {
		out = fmt.Sprintf("%s [%d bytes]...", out, len(text)-to)
	}
	return out
}

// firstDifference gives the first place where two texts differ.
func firstDifference(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
