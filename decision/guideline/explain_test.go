package guideline

import "testing"

func TestExplain(t *testing.T) {
	g := compile(t, fleet)
	facts := &Facts{Router: &Router{PortRW: 6446}, Session: &Session{User: "bob", TargetPort: 6446}}
	got := g.Explain(facts)
	if len(got) != len(g.Routes()) {
		t.Fatalf("%d traces", len(got))
	}
	want := []struct {
		looked, matched bool
		deciding        string
	}{
		{true, false, "$.session.user = app"},
		{false, false, ""}, // disabled
		{true, true, "$.session.targetPort = $.router.port.rw"},
	}
	for i, trace := range got {
		if trace.Route != &g.Routes()[i] || trace.Looked != want[i].looked || trace.Matched != want[i].matched ||
			trace.Trace.Deciding != want[i].deciding {
			t.Errorf("trace %d: %+v", i, trace)
		}
	}
	if seen := got[2].Trace.Seen; len(seen) != 2 || seen[0].Name != "session.targetPort" || seen[0].Value.Number != 6446 {
		t.Errorf("saw %+v", seen)
	}
	facts.Session.User = "app"
	facts.Reset()
	if got := g.Explain(facts); !got[0].Matched || got[2].Looked {
		t.Errorf("after a match: %+v", got)
	}
}
