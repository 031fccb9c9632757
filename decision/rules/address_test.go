package rules

import (
	"errors"
	"strings"
	"testing"
)

func TestClientAddr(t *testing.T) {
	tests := []struct {
		pattern, addr string
		want          bool
	}{
		{"10.1.2.3", "10.1.2.3", true},
		{"10.1.2.3", "10.1.2.30", false},
		{"10.1.2.3", "10.1.2", false},
		{"%", "anything", true},
		{"10.1.2.%", "10.1.2.3", true},
		{"10.1.2.%", "10.1.2.", true},
		{"10.1.2.%", "10.1.2", false},
		{"10.1._.3", "10.1.2.3", true},
		{"10.1._.3", "10.1.22.3", false},
		{"10.1._", "10.1.2", true},
		{"10._._%", "10.1.2.3", true},
		{"10.0.0.0/8", "10.1.2.3", true},
		{"10.1.2.3/8", "10.200.0.1", true},
		{" 10.0.0.0/8 ,\t2001:db8::/32", "2001:db8::7", true},
		{"2001:db8::/32", "2001:db8::7%eth0", true},
		{"10.0.0.0/8", "not an address", false},
		{"10.0.0.0/8", "::ffff:10.1.2.3", true},
		{"::ffff:10.0.0.0/104", "::ffff:10.1.2.3", true},
		{"::ffff:10.0.0.0/104", "10.1.2.3", false},
	}
	for _, tt := range tests {
		p, err := ParseClientAddr(tt.pattern)
		if err != nil {
			t.Errorf("%q: %v", tt.pattern, err)
			continue
		}
		if p.Match(&Address{Text: tt.addr}) != tt.want {
			t.Errorf("%q against %q: %t", tt.pattern, tt.addr, !tt.want)
		}
	}
}

func TestBadAddr(t *testing.T) {
	tests := []struct {
		parse func(string) (*AddressPattern, error)
		text  string
		pos   int
	}{
		{ParseClientAddr, "10.%.2.3", 3},
		{ParseClientAddr, "10.%.%", 3},
		{ParseClientAddr, "%%", 0},
		{ParseClientAddr, "10.0.0.1,10.0.0.2", 8},
		{ParseClientAddr, "10.0.0.0/33", 0},
		{ParseClientAddr, "10.0.0.0/", 0},
		{ParseClientAddr, "/8", 0},
		{ParseClientAddr, "10.0.0/8", 0},
		{ParseClientAddr, "10.0.0.0/8,", 11},
		{ParseClientAddr, "10.0.0.0/8,  10.1.2.3", 13},
		{ParseClientAddr, "10.0.0.0/8,10.1.%", 11},
		{ParseClientAddr, strings.Repeat("10.0.0.0/8,", MaxBlocks) + "10.0.0.0/8", 11 * MaxBlocks},
		{ParseClientAddr, strings.Repeat("a", MaxAddressLength+1), MaxAddressLength},
		{ParseProxyAddr, "10.0.0.0/8,10.1.2.3", 11},
		{ParseProxyAddr, "run/mysqld.sock", 0},
	}
	for _, tt := range tests {
		_, err := tt.parse(tt.text)
		bad, ok := errors.AsType[*AddressError](err)
		if !ok || bad.Pos != tt.pos || len(bad.Error()) < 20 {
			t.Errorf("%q: %v %+v", tt.text, err, bad)
		}
	}
}

func TestProxyAddr(t *testing.T) {
	for _, tt := range []struct {
		pattern, addr string
		want          bool
	}{
		{"/run/a_b.sock", "/run/a_b.sock", true},
		{"/run/a_b.sock", "/run/axb.sock", false},
		{"10.0.0.%", "10.0.0.1", false},
		{"10.0.0.0/8", "10.9.9.9", true},
	} {
		p, err := ParseProxyAddr(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if p.Match(&Address{Text: tt.addr}) != tt.want {
			t.Errorf("%q against %q: %t", tt.pattern, tt.addr, !tt.want)
		}
	}
}

// FuzzAddr checks that parsing and matching never panic.
func FuzzAddr(f *testing.F) {
	f.Add("10.%", "10.1.2.3")
	f.Add("10.0.0.0/8, 2001:db8::/32", "::ffff:10.1.2.3")
	f.Add("1__%", "1")
	f.Fuzz(func(t *testing.T, pattern, addr string) {
		if pattern == "" {
			return
		}
		for _, parse := range []func(string) (*AddressPattern, error){ParseClientAddr, ParseProxyAddr} {
			p, err := parse(pattern)
			if err != nil {
				if _, ok := errors.AsType[*AddressError](err); !ok {
					t.Errorf("%q: %v", pattern, err)
				}
				continue
			}
			p.Match(&Address{Text: addr})
		}
	})
}
