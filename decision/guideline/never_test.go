package guideline

import (
	"fmt"
	"strings"
	"testing"
)

// Every rule that never matches is also run on facts.
func TestNeverMatches(t *testing.T) {
	for match, never := range map[string]bool{
		"FALSE":                                     true,
		"TRUE":                                      false,
		"session.user = 'app'":                      true,
		"session.user <> 'app'":                     false,
		"'APP' = app":                               false,
		"session.user IN ('app', 'web')":            true,
		"app IN ('app', 'web')":                     false,
		"app NOT IN ('app')":                        true,
		"session.user LIKE 'app%'":                  true,
		"CONCAT(a, 1) = 'a2'":                       true,
		"CONCAT(a, 1) = 'a1'":                       false,
		"NETWORK('10.1.2.3', 8) = '11.0.0.0'":       true,
		"RESOLVE_V4('10.1.2.3') = '11.0.0.0'":       false,
		"$.session.user = 'app'":                    false,
		"$.session.user = 'app' AND FALSE":          true,
		"$.session.user = 'app' AND (a = b OR 1=2)": true,
		"$.session.user = 'app' OR a = b":           false,
		"a = b OR session.user IN ('x')":            true,
		"NOT (a = b)":                               false,
		"NOT ($.session.user = 'app' OR TRUE)":      false, // it never matches, but that takes more than its constants
		"$.session.connectAttrs.x = 'app'":          false,
		"$.router.tags.x = 1":                       false,
	} {
		g := compile(t, fmt.Sprintf(`{"version": "1.1", "destinations": [{"name": "c", "match": %[1]q}, {"name": "d", "match": "TRUE"}],
			"routes": [{"name": "r", "match": %[1]q, "destinations": [{"classes": ["d"], "strategy": "round-robin", "priority": 0}]}]}`,
			strings.ReplaceAll(match, "$.session.user", "$.router.name")))
		if got := g.Routes()[0].NeverMatches(); got != never {
			t.Errorf("%s: the route never matches: %t, want %t", match, got, never)
		}
		if got := g.Classes()[0].NeverMatches(); got != never {
			t.Errorf("%s: the class never matches: %t, want %t", match, got, never)
		}
		for _, name := range []string{"", "app"} {
			route, err := g.Route(&Facts{Session: &Session{}, Router: &Router{Name: name}})
			if never && (route >= 0 || err != nil) {
				t.Errorf("%s: it matches the name %q, error %v", match, name, err)
			}
		}
	}
}

// Names of an expression are listed once, in order, however many they are.
func TestManyHosts(t *testing.T) {
	const n = 6000
	var b strings.Builder
	b.WriteString("$.session.sourceIP IN (RESOLVE_V4(h0)")
	for i := range 2 * n {
		fmt.Fprintf(&b, ",RESOLVE_V4(h%d)", i/2)
	}
	b.WriteString(", RESOLVE_V6(h0))")
	e, bad := ParseExpression(b.String(), ParseOptions{})
	if bad != nil {
		t.Fatalf("%.200s", bad.Message)
	}
	hosts := e.Hosts()
	if len(hosts) != n+1 || hosts[n] != (Host{"h0", true}) {
		t.Fatalf("%d hosts, the last %v", len(hosts), hosts[len(hosts)-1])
	}
	for i, host := range hosts[:n] {
		if host != (Host{fmt.Sprint("h", i), false}) {
			t.Fatalf("host %d is %v", i, host)
		}
	}
}
