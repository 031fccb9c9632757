package rules

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// MaxAddressLength is the longest client_addr text or pattern in bytes; ProxySQL 2.7 drops rules with a longer
// one. Lists of CIDR blocks may be longer.
const MaxAddressLength = 45

// MaxBlocks is the most CIDR blocks of one list.
const MaxBlocks = 64

// AddressError says what is wrong with a client_addr or proxy_addr.
type AddressError struct {
	Pos int    // byte offset in the text; -1: all of it
	Msg string // what is wrong and how to mend it
}

// Error gives the message.
func (e *AddressError) Error() string { return e.Msg }

// AddressPattern is a parsed client_addr or proxy_addr.
type AddressPattern struct {
	text   string         // the literal or wildcard text without a final "%"
	prefix bool           // text is followed by anything
	wild   bool           // "_" in text stands for one character
	blocks []netip.Prefix // a list of CIDR blocks instead of a text
}

// ParseClientAddr parses a client_addr that is not empty: a text in which "_" stands for one character and which
// may end in "%", or a list of CIDR blocks separated by commas. The error is an *AddressError.
func ParseClientAddr(s string) (*AddressPattern, error) {
	if strings.Contains(s, "/") {
		return parseBlocks(s)
	}
	if i := strings.IndexByte(s, '%'); i >= 0 && i < len(s)-1 {
		return nil, &AddressError{i, fmt.Sprintf("client_addr %q has a %% before its end; only the last character may be one, as in \"10.1.%%\"", s)}
	}
	if i := strings.IndexByte(s, ','); i >= 0 {
		return nil, &AddressError{i, fmt.Sprintf("client_addr %q has a comma, but only CIDR blocks form a list; write \"10.0.0.1/32,10.0.0.2/32\"", s)}
	}
	if len(s) > MaxAddressLength {
		return nil, &AddressError{MaxAddressLength, fmt.Sprintf("client_addr has %d bytes; at most %d are taken (ProxySQL 2.7 drops rules with 46 or more)", len(s), MaxAddressLength)}
	}
	p := &AddressPattern{text: s, wild: strings.Contains(s, "_")}
	p.text, p.prefix = strings.CutSuffix(s, "%")
	return p, nil
}

// ParseProxyAddr parses a proxy_addr that is not empty: an exact text, or a list of CIDR blocks. A text that starts
// with a slash is the path of a Unix socket. The error is an *AddressError.
func ParseProxyAddr(s string) (*AddressPattern, error) {
	if strings.Contains(s, "/") && s[0] != '/' {
		return parseBlocks(s)
	}
	return &AddressPattern{text: s}, nil
}

func parseBlocks(s string) (*AddressPattern, error) {
	p := &AddressPattern{}
	pos := 0
	for item := range strings.SplitSeq(s, ",") {
		if len(p.blocks) == MaxBlocks {
			return nil, &AddressError{pos, fmt.Sprintf("more than %d CIDR blocks; spread them over several rules", MaxBlocks)}
		}
		trimmed := strings.Trim(item, " \t")
		at := pos + len(item) - len(strings.TrimLeft(item, " \t"))
		pos += len(item) + 1
		block, err := netip.ParsePrefix(trimmed)
		if err != nil {
			return nil, &AddressError{at, fmt.Sprintf("%q is not a CIDR block (%s); a list holds blocks only, as in \"10.0.0.0/8, 2001:db8::/32\"", trimmed, reason(err))}
		}
		p.blocks = append(p.blocks, block.Masked())
	}
	return p, nil
}

// reason strips the parser's own name and input from its error.
func reason(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	text := err.Error()
	if i := strings.LastIndex(text, "): "); i >= 0 {
		return text[i+3:]
	}
	return text
}

// key is equal exactly for equal patterns.
func (p *AddressPattern) key() string {
	return fmt.Sprintf("%t %q %v", p.prefix, p.text, p.blocks)
}

// fixedPrefix is the text that every address must begin with that fits; blocks have none.
func (p *AddressPattern) fixedPrefix() string {
	prefix, _, _ := strings.Cut(p.text, "_")
	return prefix
}

// Match tells whether addr, as sent by the session and not empty, fits.
func (p *AddressPattern) Match(addr *Address) bool {
	if p.blocks != nil {
		return p.inBlocks(addr)
	}
	text := addr.Text
	switch {
	case p.prefix && len(text) < len(p.text), !p.prefix && len(text) != len(p.text):
		return false
	case !p.wild:
		return text[:len(p.text)] == p.text
	}
	for i := range len(p.text) {
		if c := p.text[i]; c != '_' && c != text[i] {
			return false
		}
	}
	return true
}

func (p *AddressPattern) inBlocks(addr *Address) bool {
	ip, ok := addr.parsed()
	if !ok {
		return false
	}
	inner := ip.Unmap()
	for _, b := range p.blocks {
		// An IPv4-mapped client is tested by its inner address against IPv4 blocks and as it is against IPv6 ones.
		if b.Contains(ip) || b.Contains(inner) {
			return true
		}
	}
	return false
}

// Address is a session's address. Its text is parsed at most once.
type Address struct {
	Text  string // empty: unknown
	tried bool
	ip    netip.Addr
}

func (a *Address) parsed() (netip.Addr, bool) {
	if !a.tried {
		a.tried = true
		text, _, _ := strings.Cut(a.Text, "%") // a zone plays no part in a block
		a.ip, _ = netip.ParseAddr(text)
	}
	return a.ip, a.ip.IsValid()
}
