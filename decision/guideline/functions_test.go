package guideline

import (
	"math"
	"net/netip"
	"strings"
	"testing"
)

func TestToNumber(t *testing.T) {
	for text, want := range map[string]float64{
		"": 0, "0": 0, "-0x1F": -31, "0x.8": 0.5, "0x1p-1": 0.5, "\v12": 12, "+.5": 0.5, "5.": 5, "1e3": 1000, "1E-2": 0.01, "1e999": math.Inf(1),
		"inf": math.Inf(1), "-Infinity": math.Inf(-1), "007": 7,
	} {
		if got, ok := toNumber(text); !ok || got != want {
			t.Errorf("NUMBER(%q) is %v (%v), want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"nan", "-NaN", "nan(x_1)"} {
		if got, ok := toNumber(text); !ok || !math.IsNaN(got) {
			t.Errorf("NUMBER(%q) is %v (%v), want NaN", text, got, ok)
		}
	}
	for _, text := range []string{" ", "12 ", "1_0", "0x", "0x1_0", "1e", "1e+", "e1", ".", "--1", "infin", "nan(", "nan()x", "nan(-)", "1,5", "é"} {
		if got, ok := toNumber(text); ok {
			t.Errorf("NUMBER(%q) is %v, want a failure", text, got)
		}
	}
}

func TestSubstringIndex(t *testing.T) {
	for _, c := range []struct {
		text, delimiter string
		count           float64
		want            string
	}{
		{"a.b.c", ".", 2, "a.b"},
		{"a.b.c", ".", -2, "b.c"},
		{"a.b.c", ".", 3, "a.b.c"},
		{"a.b.c", ".", -3, "a.b.c"},
		{"a.b.c", ".", 0, ""},
		{"a.b.c", ".", -0.9, ""},
		{".a.b", ".", -3, ".a.b"},
		{".a", ".", 1, ""},
		{"a.", ".", -1, ""},
		{"aaa", "aa", 2, "aaa"},
		{"aaa", "aa", 1, ""},
		{"aaa", "aa", -1, ""},
		{"aaa", "aa", -2, "aaa"},
		{"aXbx", "x", 1, "aXb"},
		{"abc", "", 1, ""},
		{"", ".", 1, ""},
		{"a.b", ".", math.Inf(1), "a.b"},
		{"a.b", ".", math.Inf(-1), "a.b"},
		{"a.b", ".", math.NaN(), ""},
		{"a.b", ".", 1e300, "a.b"},
	} {
		if got := substringIndex(c.text, c.delimiter, c.count); got != c.want {
			t.Errorf("SUBSTRING_INDEX(%q, %q, %v) is %q, want %q", c.text, c.delimiter, c.count, got, c.want)
		}
	}
}

func TestPrintNumber(t *testing.T) {
	for want, n := range map[string]float64{
		"0": 0, "-0": math.Copysign(0, -1), "100000": 100000, "1e+06": 1e6, "123456": 123456, "1.23457e+06": 1234567, "0.0001": 0.0001, "1e-05": 0.00001,
		"0.333333": 1.0 / 3, "inf": math.Inf(1), "-inf": math.Inf(-1), "nan": math.NaN(), "1e+300": 1e300, "3.5": 3.5,
	} {
		if got := printNumber(n); got != want {
			t.Errorf("%v is printed as %s, want %s", n, got, want)
		}
	}
}

func TestIPv4(t *testing.T) {
	for text := range strings.FieldsSeq("127.0.0.1 127.1 1 10.1.2 0x7F.0.0.1 0X7f.1 017.0.0.1 000.000.000.000 4294967295 1.16777215 1.2.65535 0") {
		if !isIPv4(text) {
			t.Errorf("IS_IPV4(%q) is false", text)
		}
	}
	for _, text := range append(strings.Fields("256.1.1.1 1.2.3.256 1.2.3.4.5 1.2.3. .1.2.3 1..2.3 4294967296 1.16777216 08.1.1.1 0x.1 0xg -1 +1 1.2.3.+4 ::1 a.b.c.d"), "", " 1", "1 ") {
		if isIPv4(text) {
			t.Errorf("IS_IPV4(%q) is true", text)
		}
	}
	for _, text := range append(strings.Fields("1.2.3.4 0.0.0.0 255.255.255.255 01.2.3.4 1.2.3 256.1.1.1 1.2.3.4.5 1.2.3.4a 1.2.3.1000 1.2..4 -1.2.3.4 1.2.3.4. ::1"), "", " 1.2.3.4") {
		want, err := netip.ParseAddr(text)
		valid := err == nil && want.Is4()
		got, ok := parseIPv4(text)
		if ok != valid || valid && printIPv4(got) != want.String() {
			t.Errorf("%q is the address %s (%v), want %v (%v)", text, printIPv4(got), ok, want, err)
		}
	}
}

func TestIPv6(t *testing.T) {
	for _, text := range append(strings.Fields(`:: ::1 1:: 1::8 1:2:3:4:5:6:7:8 1:2:3:4:5:6:7:: ::2:3:4:5:6:7:8 1:2:3:4:5:6:1.2.3.4 ::1.2.3.4 ::ffff:1.2.3.4 fe80::1%eth0
		1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 1::2::3 ::1:2:3:4:5:6:7:8 1:2:3:4:5:6:7:1.2.3.4 12345:: ::g ::1.2.3 ::1.2.3.4:5 : ::: :1 1: 1:2: ABCD::eF
		::1.2.3.04 1:2:3:4::5:6:7:8 [::1] 1.2.3.4 %eth0 ::1. 1:::2`), "", " ::1", "::1 ") {
		bare, _, _ := strings.Cut(text, "%")
		want, err := netip.ParseAddr(bare)
		if got := isIPv6(text); got != (err == nil && want.Is6()) {
			t.Errorf("IS_IPV6(%q) is %v (%v)", text, got, err)
		}
	}
}

func TestHostName(t *testing.T) {
	for text, want := range map[string]bool{
		"a": true, "a-b.c1": true, "10.0.0.1": true, "A": true, "": false, "a.": false, ".a": false, "a..b": false, "-a": false, "a-": false, "a_b": false, "é": false, "::1": false,
	} {
		if got := isHostName(text); got != want {
			t.Errorf("host name %q: %v, want %v", text, got, want)
		}
	}
}
