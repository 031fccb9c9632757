package pattern

import (
	"fmt"
	"strings"
)

// Modifiers is what the column re_modifiers of a query rule says.
type Modifiers struct {
	Caseless bool // CASELESS: ASCII letters match in both cases
	Global   bool // GLOBAL: replace_pattern replaces all matches, not only the first
}

// ParseModifiers reads a comma separated list of CASELESS and GLOBAL. Case and blanks around a name do not matter.
// An empty text has neither. Unknown names are refused, where ProxySQL drops them silently.
func ParseModifiers(s string) (Modifiers, error) {
	var m Modifiers
	if strings.TrimSpace(s) == "" {
		return m, nil
	}
	for name := range strings.SplitSeq(s, ",") {
		name = strings.TrimSpace(name)
		switch {
		case strings.EqualFold(name, "CASELESS"):
			m.Caseless = true
		case strings.EqualFold(name, "GLOBAL"):
			m.Global = true
		case name == "":
			return Modifiers{}, fmt.Errorf("re_modifiers %q has an empty name; write CASELESS, GLOBAL, or both with one comma between them", s)
		default:
			return Modifiers{}, fmt.Errorf("re_modifiers %q has the unknown name %q; write CASELESS, GLOBAL, or both with a comma between them", s, name)
		}
	}
	return m, nil
}
