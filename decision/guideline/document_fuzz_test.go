package guideline

import (
	"reflect"
	"testing"
)

// FuzzDocument compiles anything: either a guideline or problems whose places are inside; twice the same; and what
// compiles can be used.
func FuzzDocument(f *testing.F) {
	for _, c := range cases[documentCase](f, "documents.json") {
		f.Add(c.bytes(f))
	}
	f.Add([]byte(fleet))
	router, server, session := &Router{}, &Server{}, &Session{}
	f.Fuzz(func(t *testing.T, document []byte) {
		g, problems := Compile(document)
		if (g == nil) != (len(problems) > 0) {
			t.Fatalf("guideline %v with problems %+v", g, problems)
		}
		for _, p := range problems {
			checkProblem(t, p)
		}
		again, problemsAgain := Compile(document)
		if !reflect.DeepEqual(problems, problemsAgain) {
			t.Fatalf("problems %+v, then %+v", problems, problemsAgain)
		}
		if g == nil {
			return
		}
		if !reflect.DeepEqual(describe(g), describe(again)) {
			t.Fatalf("got %+v, then %+v", describe(g), describe(again))
		}
		answer := g.Preview(PreviewQuestion{Router: router, Servers: []Server{*server, *server}, Session: session})
		route, err := g.Route(&Facts{Router: router, Session: session})
		if (route < 0) != (answer.Route == nil) || (err != nil) && len(answer.Errors) == 0 {
			t.Fatalf("route %d, error %v, preview %+v", route, err, answer)
		}
		if route >= 0 && len(answer.Tiers) != len(g.Routes()[route].Groups) {
			t.Fatalf("tiers %v of route %+v", answer.Tiers, g.Routes()[route])
		}
		if route >= 0 && !g.Routes()[route].Enabled {
			t.Fatalf("disabled route %d", route)
		}
	})
}

// describe gives what a guideline shows of itself, without compiled rules.
func describe(g *Guideline) []any {
	out := []any{g.Name(), g.Version(), g.Hosts(), g.Uses()}
	for _, c := range g.Classes() {
		out = append(out, c.Name, c.Match)
	}
	for _, r := range g.Routes() {
		out = append(out, r.Name, r.Match, r.Enabled, r.ConnectionSharing, r.Groups)
	}
	return out
}
