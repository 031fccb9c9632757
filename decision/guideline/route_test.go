package guideline

import (
	"errors"
	"reflect"
	"sync"
	"testing"
)

func TestRoute(t *testing.T) {
	g := compile(t, fleet)
	router := &Router{PortRW: 6446}
	for _, tt := range []struct {
		name    string
		session Session
		want    int
	}{
		{"first", Session{User: "APP", TargetPort: 6446}, 0},
		{"disabled routes never match", Session{Schema: "x", TargetPort: 1}, -1},
		{"a later one", Session{TargetPort: 6446}, 2},
		{"attribute", Session{ConnectAttrs: map[string]string{"_os": "x"}}, 2},
		{"none", Session{}, -1},
	} {
		got, err := g.Route(&Facts{Router: router, Session: &tt.session})
		if got != tt.want || err != nil {
			t.Errorf("%s: got %d, %v", tt.name, got, err)
		}
	}
}

func TestRouteThatFails(t *testing.T) {
	const groups = `"destinations": [{"classes": ["c"], "strategy": "round-robin", "priority": 0}]}`
	g := compile(t, `{"version": "1.1", "destinations": [{"name": "c", "match": "TRUE"}], "routes": [
		{"name": "one", "match": "NUMBER($.session.user) = 1", `+groups+`,
		{"name": "two", "match": "NUMBER($.session.schema) = 2", `+groups+`,
		{"name": "three", "match": "$.session.targetPort = 3", `+groups+`,
		{"name": "four", "match": "NUMBER($.session.sourceIP) = 4", `+groups+`]}`)
	for _, tt := range []struct {
		name    string
		session Session
		want    int
		failed  string
	}{
		{"before the match", Session{User: "x", Schema: "2"}, 1, "one"},
		{"several before the match", Session{User: "x", Schema: "x", TargetPort: 3}, 2, "one"},
		{"after the match", Session{User: "0", Schema: "0", SourceIP: "x", TargetPort: 3}, 2, ""},
		{"and no match", Session{User: "0", Schema: "0", SourceIP: "x"}, -1, "four"},
	} {
		got, err := g.Route(&Facts{Session: &tt.session})
		failed := ""
		if bad, ok := errors.AsType[*RouteError](err); ok {
			failed = bad.Route
		}
		if got != tt.want || failed != tt.failed {
			t.Errorf("%s: got %d, %v", tt.name, got, err)
		}
	}
	_, err := g.Route(&Facts{Session: &Session{User: "x"}})
	const want = "route.one: NUMBER function, unable to convert 'x' to number in 'NUMBER($.session.user)'"
	if err == nil || err.Error() != want || errors.Unwrap(err) == nil {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestRouteAllocates(t *testing.T) {
	g := compile(t, fleet)
	facts := &Facts{Router: &Router{PortRW: 6446}, Session: &Session{
		User: "other", TargetPort: 6446, ConnectAttrs: map[string]string{"program_name": "mysqldump"},
	}}
	if n := testing.AllocsPerRun(100, func() {
		if route, err := g.Route(facts); route != 2 || err != nil {
			t.Errorf("route %d, error %v", route, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// TestConcurrentUse means most under the race detector.
func TestConcurrentUse(t *testing.T) {
	g := compile(t, fleet)
	q := PreviewQuestion{
		Router:  &Router{PortRW: 6446, Tags: map[string]string{"zone": `"a"`}},
		Servers: []Server{{Label: "a", MemberRole: Primary}, {Label: "b", Tags: map[string]string{"zone": `"a"`}}},
		Session: &Session{User: "app"},
		Names:   Names{{Name: "far.example.net"}: "192.0.2.1"},
	}
	want := g.Preview(q)
	if want.Route == nil || want.Errors != nil {
		t.Fatalf("preview %+v", want)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				if got := g.Preview(q); !reflect.DeepEqual(got, want) {
					t.Errorf("got %+v, want %+v", got, want)
					return
				}
			}
		})
	}
	all.Wait()
}
