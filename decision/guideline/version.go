package guideline

import (
	"cmp"
	"strconv"
	"strings"
)

// version is that of a document: its language and shape (section 3 of the specification).
type version struct{ major, minor uint64 }

// supported is the newest version that is understood. Versions above plainTags compare tags as JSON.
var (
	supported = version{1, 1}
	plainTags = version{1, 0}
)

// parseVersion reads "<major>.<minor>". A part beyond 64 bits is as good as any that is too new.
func parseVersion(text string) (version, bool) {
	major, minor, ok := strings.Cut(text, ".")
	if !ok || !allDigits(major) || !allDigits(minor) {
		return version{}, false
	}
	return version{clampedUint(major), clampedUint(minor)}, true
}

func allDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// clampedUint reads digits; what is too large becomes the largest number.
func clampedUint(digits string) uint64 {
	n, _ := strconv.ParseUint(digits, 10, 64)
	return n
}

func (v version) compare(w version) int {
	return cmp.Or(cmp.Compare(v.major, w.major), cmp.Compare(v.minor, w.minor))
}

// understood tells whether a document of this version can be used: not newer than supported, and at most one major behind.
func (v version) understood() bool {
	return v.compare(supported) <= 0 && supported.major-v.major <= 1
}

// jsonTags tells whether tags are compared as JSON.
func (v version) jsonTags() bool { return v.compare(plainTags) > 0 }

func (v version) String() string {
	return strconv.FormatUint(v.major, 10) + "." + strconv.FormatUint(v.minor, 10)
}
