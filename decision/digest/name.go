package digest

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrSyntax is wrapped by all errors of Parse.
var ErrSyntax = errors.New("not a digest")

// Format writes a digest as ProxySQL does: 0x and 16 upper-case hexadecimal digits.
func Format(h uint64) string {
	const digits = "0123456789ABCDEF"
	b := [18]byte{'0', 'x'}
	for k := 17; k > 1; k-- {
		b[k] = digits[h&15]
		h >>= 4
	}
	return string(b[:])
}

// Parse reads a digest as a rule names it. As in ProxySQL 0x opens a hexadecimal number, another 0 an octal one, and
// everything else is decimal. What ProxySQL reads as "any digest" is refused: zero, no number, a number with something
// behind it, one above 64 bits.
func Parse(s string) (uint64, error) {
	base, text := 10, s
	switch {
	case len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x':
		base, text = 16, s[2:]
	case len(s) > 1 && s[0] == '0':
		base, text = 8, s[1:]
	}
	h, err := strconv.ParseUint(text, base, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("digest %q: %w: it needs more than 64 bits", s, ErrSyntax)
	case err != nil && s == "":
		return 0, fmt.Errorf("digest %q: %w: it is empty", s, ErrSyntax)
	case err != nil:
		return 0, fmt.Errorf("digest %q: %w: write 0x and hexadecimal digits, 0 and octal ones, or a decimal number", s, ErrSyntax)
	case h == 0:
		return 0, fmt.Errorf("digest %q: %w: zero would match every statement in ProxySQL", s, ErrSyntax)
	}
	return h, nil
}
