package ctl

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The characters of an expression that are shown before a fault, and in all.
const (
	caretBefore = 60
	caretShown  = 120
)

// writeCaret prints an expression and, on the line below, a mark under its bytes from start to end. Of a long expression
// it prints what is around them. What can't be printed is a blank, so that the mark stands right.
func writeCaret(w io.Writer, expression string, start, end int) {
	start = min(max(start, 0), len(expression))
	end = min(max(end, start), len(expression))
	before := []rune(expression[:start])
	fault := []rune(expression[start:end])
	after := []rune(expression[end:])
	left, right := "", ""
	if len(before) > caretBefore {
		before, left = before[len(before)-caretBefore:], "..."
	}
	room := caretShown - len(before)
	if len(fault) > room {
		fault, after, right = fault[:room], nil, "..."
	}
	if room -= len(fault); len(after) > room {
		after, right = after[:room], "..."
	}
	fmt.Fprintf(w, "    %s%s%s%s%s\n", left, blanked(before), blanked(fault), blanked(after), right)
	fmt.Fprintf(w, "    %s^%s\n", strings.Repeat(" ", len(left)+len(before)), strings.Repeat("~", max(len(fault), 1)-1))
}

func blanked(text []rune) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, string(text))
}

// oneLine gives a text on one line: what breaks lines or can't be printed is escaped; quotes and backslashes stay.
func oneLine(s string) string {
	var b strings.Builder
	for rest := s; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		if r == utf8.RuneError && size == 1 || !unicode.IsPrint(r) {
			b.WriteString(printable(rest[:size]))
		} else {
			b.WriteString(rest[:size])
		}
		rest = rest[size:]
	}
	return b.String()
}
