package guideline

import (
	"strconv"
	"strings"
)

// parseIPv4 reads four decimal numbers without leading zeros, as inet_pton does.
func parseIPv4(text string) (uint32, bool) {
	address, at := uint32(0), 0
	for part := range 4 {
		if part > 0 {
			if at == len(text) || text[at] != '.' {
				return 0, false
			}
			at++
		}
		start, n := at, uint32(0)
		for at < len(text) && at < start+3 && isDigit(text[at]) {
			n = n*10 + uint32(text[at]-'0')
			at++
		}
		if at == start || n > 255 || at > start+1 && text[start] == '0' {
			return 0, false
		}
		address = address<<8 | n
	}
	return address, at == len(text)
}

func printIPv4(address uint32) string {
	out := make([]byte, 0, len("255.255.255.255"))
	for shift := 24; shift >= 0; shift -= 8 {
		out = strconv.AppendUint(out, uint64(address>>shift&0xff), 10)
		if shift > 0 {
			out = append(out, '.')
		}
	}
	return string(out)
}

// netmask gives the mask of a network of so many bits, 1 to 32.
func netmask(bits int) uint32 { return ^uint32(0) << (32 - bits) }

// isIPv4 tells what the C resolver takes for a numeric IPv4 host: one to four numbers, decimal, octal or hexadecimal, of which
// the last one fills what is left of the address.
func isIPv4(text string) bool {
	for part := range 4 {
		digits, rest, more := strings.Cut(text, ".")
		limit := uint64(255)
		if !more {
			limit = uint64(1)<<(8*(4-part)) - 1
		}
		n, ok := parseC(digits)
		if !ok || n > limit {
			return false
		}
		if !more {
			return true
		}
		text = rest
	}
	return false
}

// parseC reads a number as C spells them: 0x1F, 017, 19.
func parseC(text string) (uint64, bool) {
	base := 10
	switch {
	case len(text) > 1 && text[0] == '0' && lower(text[1]) == 'x':
		text, base = text[2:], 16
	case len(text) > 1 && text[0] == '0':
		text, base = text[1:], 8
	}
	if text == "" || !isHexDigit(text[0]) { // no sign
		return 0, false
	}
	n, err := strconv.ParseUint(text, base, 64)
	return n, err == nil
}

// isIPv6 tells an IPv6 address, whatever its zone is.
func isIPv6(text string) bool {
	text, _, _ = strings.Cut(text, "%")
	groups, gap := 0, false
	if strings.HasPrefix(text, "::") {
		gap = true
		text = text[2:]
		if text == "" {
			return true
		}
	}
	for {
		if groups == 8 {
			return false
		}
		n := 0
		for n < len(text) && isHexDigit(text[n]) {
			n++
		}
		if n < len(text) && text[n] == '.' { // the last four bytes in decimal
			if _, ok := parseIPv4(text); !ok {
				return false
			}
			groups += 2
			break
		}
		if n == 0 || n > 4 {
			return false
		}
		groups++
		if text = text[n:]; text == "" {
			break
		}
		if text[0] != ':' {
			return false
		}
		text = text[1:]
		if strings.HasPrefix(text, ":") {
			if gap {
				return false
			}
			gap = true
			if text = text[1:]; text == "" {
				break
			}
		}
	}
	return groups == 8 && !gap || groups < 8 && gap
}

// isHostName tells a host name as RFC 1123 has them: labels of letters, digits and inner hyphens.
func isHostName(text string) bool {
	for label := range strings.SplitSeq(text, ".") {
		if label == "" || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if !isLetter(c) && !isDigit(c) && c != '-' {
				return false
			}
		}
	}
	return true
}
