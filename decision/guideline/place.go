package guideline

import (
	"fmt"
	"unicode/utf8"
)

// placeSuffix says where in the text a fault is (spec 4.7): the piece itself when there is something to see, else the
// number of the character, counted from one.
func placeSuffix(text string, start, end int) string {
	if piece := text[start:end]; utf8.RuneCountInString(piece) > 1 {
		return " in '" + piece + "'"
	}
	return fmt.Sprintf(" (character %d)", utf8.RuneCountInString(text[:start])+1)
}
