package guideline

import (
	"reflect"
	"testing"
)

func TestExplainExpression(t *testing.T) {
	f := &Facts{Session: &Session{User: "app", Schema: "shop", TargetPort: 6446, SourceIP: "::1"}}
	seen := func(pairs ...any) []Variable {
		var vars []Variable
		for i := 0; i < len(pairs); i += 2 {
			vars = append(vars, Variable{pairs[i].(string), valueOf(pairs[i+1])}) //nolint:forcetypeassert // names come first
		}
		return vars
	}
	for _, c := range []struct {
		text     string
		value    any
		deciding string
		decided  any
		seen     []Variable
	}{
		{
			"$.session.user = 'app' AND ($.session.targetPort = 1 OR $.session.schema = 'x')", false, "$.session.targetPort = 1 OR $.session.schema = 'x'", false,
			seen("session.user", "app", "session.targetPort", 6446.0, "session.schema", "shop"),
		},
		{"$.session.user = 'x' AND $.session.schema = 'shop'", false, "$.session.user = 'x'", false, seen("session.user", "app")},
		{"($.session.user = 'x' OR $.session.user = 'app') OR $.session.schema = 'x'", true, "$.session.user = 'app'", true, seen("session.user", "app")},
		{"NOT (TRUE AND $.session.user = 'x')", true, "$.session.user = 'x'", false, seen("session.user", "app")},
		{
			"$.session.user = 'app' AND $.session.schema = 'shop'", true, "$.session.user = 'app' AND $.session.schema = 'shop'", true,
			seen("session.user", "app", "session.schema", "shop"),
		},
		{
			"$.server.port = 1 OR $.session.connectAttrs.x LIKE 'a%'", false, "$.server.port = 1 OR $.session.connectAttrs.x LIKE 'a%'", false,
			seen("server.port", nil, "session.connectAttrs.x", nil),
		},
	} {
		e, bad := ParseExpression(c.text, ParseOptions{})
		if bad != nil {
			t.Fatal(bad)
		}
		trace := e.Explain(f)
		if trace.Err != nil || plain(trace.Value) != c.value || trace.Deciding != c.deciding || plain(trace.DecidingValue) != c.decided {
			t.Errorf("%s:\n got %+v\nwant %v by %q, which is %v", c.text, trace, c.value, c.deciding, c.decided)
		}
		if !reflect.DeepEqual(trace.Seen, c.seen) {
			t.Errorf("%s: saw %v, want %v", c.text, trace.Seen, c.seen)
		}
	}
	e, bad := ParseExpression("TRUE AND NETWORK($.session.sourceIP, 8) = '10.0.0.0'", ParseOptions{})
	if bad != nil {
		t.Fatal(bad)
	}
	if trace := e.Explain(f); trace.Err == nil || trace.Deciding != "NETWORK($.session.sourceIP, 8)" {
		t.Errorf("a failure is explained by %q (%v)", trace.Deciding, trace.Err)
	}
}

func TestUsesAndHosts(t *testing.T) {
	const text = "é = $.session.user"
	if _, bad := ParseExpression(text, ParseOptions{}); bad == nil {
		t.Errorf("%s is understood", text)
	}
	e, bad := ParseExpression("$.session.user = 'é' AND $.server.tags.a.b IN (RESOLVE_V4(Db1), RESOLVE_V6('db1'), RESOLVE_V4('DB1')) OR $.session.user", ParseOptions{})
	if bad != nil {
		t.Fatal(bad)
	}
	if got, want := e.Variables(), []VariableUse{{"session.user", 0, 14}, {"server.tags.a.b", 26, 43}, {"session.user", 106, 120}}; !reflect.DeepEqual(got, want) {
		t.Errorf("uses %v, want %v", got, want)
	}
	if got, want := e.Hosts(), []Host{{"db1", false}, {"db1", true}}; !reflect.DeepEqual(got, want) {
		t.Errorf("hosts %v, want %v", got, want)
	}
}

func TestDryRun(t *testing.T) {
	for text, want := range map[string]any{
		"$.session.user": "", "$.server.port + 1": 1.0, "$.server.tags.x": nil, "$.session.connectAttrs.x = 'a'": false, "$.server.isClusterInvalidated": false,
		"$.server.memberRole": "UNDEFINED", "$.server.memberRole = UNDEFINED": true, "RESOLVE_V4(Db1)": "db1", "NETWORK('nonsense', 24.9)": "24", "FALSE AND NETWORK($.session.user, 33) = 'x'": false,
	} {
		e, bad := ParseExpression(text, ParseOptions{})
		if bad != nil {
			t.Fatal(bad)
		}
		if got, err := e.DryRun(); err != nil || plain(got) != want {
			t.Errorf("%s: a dry run gives %v (%v), want %v", text, plain(got), err, want)
		}
	}
	e, bad := ParseExpression("NETWORK($.session.sourceIP, 33) = 'x'", ParseOptions{})
	if bad != nil {
		t.Fatal(bad)
	}
	if _, err := e.DryRun(); err == nil || err.Error() != "NETWORK function invalid netmask value: 33" {
		t.Errorf("a dry run with a mask of 33 bits: %v", err)
	}
}
