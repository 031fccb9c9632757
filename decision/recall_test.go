package decision_test

import (
	"testing"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/guideline"
)

// TestRecall sends the last cookie back with each statement and no random value, whatever would be drawn.
func TestRecall(t *testing.T) {
	for _, first := range []float64{0.4, 0.6} {
		cfg := guided([2]string{"half", "$.session.randomValue < 0.5"})
		g := mustCompile(t, cfg)
		q := question("app", "SELECT 1")
		if !g.Recall(q, nil) || !q.Session.RandomDrawn || q.Session.KeptRoute != decision.None {
			t.Fatalf("without a cookie: %+v", q.Session)
		}
		q.Session.RandomValue = first
		want := *route(t, g, q)
		cookie := append([]byte(nil), want.Cookie...)
		agree(t, g, q)
		for _, later := range []float64{0, 0.9, 0.45, 0.55} {
			q.Session.RandomValue = later
			if g.Recall(q, cookie) || q.Session.RandomDrawn {
				t.Fatalf("%v: a new number is asked for", first)
			}
			got := route(t, g, q)
			if a, b := public(t, got), public(t, &want); a != b || got.CacheScope != want.CacheScope {
				t.Errorf("%v, then %v:\ngot  %s\nwant %s", first, later, a, b)
			}
			agree(t, g, q)
			cookie = append(cookie[:0], got.Cookie...)
		}
		x := explain(t, g, q).Guideline
		if len(x.Routes) > 0 || x.KeptRefusal != (first > 0.5) || (x.Kept == "half") != (first < 0.5) {
			t.Errorf("%v: explained %+v", first, x)
		}
		// Another generation draws anew, and so does whoever sends what is no cookie.
		next, problems := decision.Compile(2, cfg)
		if problems.HasErrors() {
			t.Fatal(show(problems))
		}
		if !next.Recall(q, cookie) || q.Session.KeptRoute != decision.None {
			t.Errorf("%v: the next generation keeps route %d", first, q.Session.KeptRoute)
		}
		if !g.Recall(q, cookie[1:]) {
			t.Error("a broken cookie is obeyed")
		}
	}
	if g := mustCompile(t, guided([2]string{"r", "TRUE"})); g.Recall(question("app", "SELECT 1"), nil) {
		t.Error("a guideline without random values draws one")
	}
	if g := mustCompile(t, readWriteSplit()); g.Recall(question("app", "SELECT 1"), nil) {
		t.Error("a random value is drawn without a guideline")
	}
}

// TestFailuresAreNotKept: a rule that fails refuses the statement alone.
func TestFailuresAreNotKept(t *testing.T) {
	g := mustCompile(t, guided([2]string{"half", "$.session.randomValue < 0.5 OR $.session.user = RESOLVE_V4('db.example')"}))
	q := question("app", "SELECT 1")
	if !g.Recall(q, nil) {
		t.Fatal("no number is asked for")
	}
	q.Session.RandomValue = 0.6
	a := route(t, g, q)
	if a.Guideline.Refusal == "" || a.CacheScope != decision.ScopeNone {
		t.Errorf("scope %d, %+v", a.CacheScope, a.Guideline)
	}
	agree(t, g, q)
	if !g.Recall(q, a.Cookie) {
		t.Error("the refusal is kept")
	}
	q.Session.RandomDrawn = false // the caller's own number comes to the same again
	if a := route(t, g, q); a.CacheScope == decision.ScopeNone {
		t.Error("with the caller's random value the answer is for this statement alone")
	}
	agree(t, g, q)
	q.Session.RandomDrawn, q.Names = true, guideline.Names{guideline.Host{Name: "db.example"}: "10.0.0.1"}
	if a := route(t, g, q); a.Guideline.Refusal == "" || a.CacheScope == decision.ScopeNone {
		t.Errorf("no route matches: scope %d, %+v", a.CacheScope, a.Guideline)
	}
	agree(t, g, q)
}

// TestMappedAddresses: guidelines see the IPv4 address of a client that came by IPv6, as query rules do.
func TestMappedAddresses(t *testing.T) {
	g := mustCompile(t, guided([2]string{"source", "NETWORK($.session.sourceIP, 8) = '10.0.0.0'"}, [2]string{"target", "$.session.targetIP = '10.9.9.9'"}))
	for _, tt := range []struct {
		client, proxy, bind, want string
		allocates                 bool
	}{
		{client: "10.1.2.3", want: "source"},
		{client: "::ffff:10.1.2.3", want: "source"},
		{client: "::FFFF:10.1.2.3", want: "source"},
		{client: "0:0:0:0:0:ffff:10.1.2.3", want: "source"},
		{client: "::ffff:a01:203", want: "source", allocates: true},
		{client: "192.168.0.1", proxy: "::ffff:10.9.9.9", want: "target"},
		{client: "192.168.0.1", proxy: "::1", bind: "::ffff:10.9.9.9", want: "target"},
	} {
		q := question("app", "SELECT 1")
		q.Session.ClientAddr, q.Session.ProxyAddr = tt.client, tt.proxy
		if tt.bind != "" {
			q.Session.Router = &guideline.Router{BindAddress: tt.bind}
		}
		var a decision.Answer
		if err := g.Route(q, &a); err != nil || a.Guideline.Name != tt.want {
			t.Errorf("%+v: %+v, error %v", tt, a.Guideline, err)
		}
		agree(t, g, q)
		if n := testing.AllocsPerRun(10, func() { _ = g.Route(q, &a) }); n > 0 && !tt.allocates && !raceDetector {
			t.Errorf("%+v: %v allocations", tt, n)
		}
	}
	// What is no such address stays as it is, and fails.
	for _, client := range []string{"::1", "::10.1.2.3", "ffff:10.1.2.3", "::ffff:10.1.2", "[::ffff:10.1.2.3]:80"} {
		q := question("app", "SELECT 1")
		q.Session.ClientAddr = client
		if a := route(t, g, q); a.Guideline.Refusal == "" {
			t.Errorf("%s: %+v", client, a.Guideline)
		}
	}
}
