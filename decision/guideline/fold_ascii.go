package guideline

import (
	"cmp"
	"strings"
)

// lower maps the ASCII capitals to small letters and every other byte to itself.
func lower(c byte) byte {
	if c-'A' < 26 {
		return c + 'a' - 'A'
	}
	return c
}

// lowerTable is lower for comparisons, where a branch that depends on the text costs more than the table.
var lowerTable = func() (table [256]byte) {
	for c := range table {
		table[c] = lower(byte(c))
	}
	return table
}()

// lowered maps a whole text.
func lowered(text string) string {
	out := []byte(text)
	for i, c := range out {
		out[i] = lower(c)
	}
	return string(out)
}

// equalFold reports whether two texts are the same but for the case of ASCII letters.
func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if a[i] != b[i] && lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

// isLowered is equalFold with a text that has no capitals.
func isLowered(text, small string) bool {
	if len(text) != len(small) {
		return false
	}
	for i := range len(text) {
		if lowerTable[text[i]] != small[i] {
			return false
		}
	}
	return true
}

// compareFold compares two texts byte by byte, ASCII capitals taken for small letters.
func compareFold(a, b string) int {
	for i := range min(len(a), len(b)) {
		if c := cmp.Compare(lower(a[i]), lower(b[i])); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// maxPlainSearch is the product of two lengths up to which one text is looked for at each place of the other.
const maxPlainSearch = 1 << 16

// indexFold finds a text in another, -1 when it is not there. Long ones are copied in small letters first, so that the time is
// linear.
func indexFold(text, part string) int {
	switch {
	case len(part) > len(text):
		return -1
	case len(text)*len(part) > maxPlainSearch:
		return strings.Index(lowered(text), lowered(part))
	}
	for i := 0; i+len(part) <= len(text); i++ {
		if equalFold(text[i:i+len(part)], part) {
			return i
		}
	}
	return -1
}
