package guideline

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// cases reads a list from testdata.
func cases[T any](tb testing.TB, name string) []T {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	var list []T
	if err := json.Unmarshal(data, &list); err != nil {
		tb.Fatal(err)
	}
	if len(list) == 0 {
		tb.Fatalf("%s is empty", name)
	}
	return list
}

// documentCase is a document, as text or as bytes, and its problems. One that ends in an ellipsis is the beginning of a text.
type documentCase struct {
	Name, Document, Base64 string
	Problems               []string
}

func (c *documentCase) bytes(tb testing.TB) []byte {
	tb.Helper()
	if c.Base64 == "" {
		return []byte(c.Document)
	}
	document, err := base64.StdEncoding.DecodeString(c.Base64)
	if err != nil {
		tb.Fatal(err)
	}
	return document
}

func sameText(got, want string) bool {
	if prefix, ok := strings.CutSuffix(want, "…"); ok {
		return strings.HasPrefix(got, prefix)
	}
	return got == want
}

func TestDocuments(t *testing.T) {
	for _, c := range cases[documentCase](t, "documents.json") {
		t.Run(c.Name, func(t *testing.T) {
			g, problems := Compile(c.bytes(t))
			if (g == nil) != (len(problems) > 0) {
				t.Errorf("guideline %v with problems %+v", g, problems)
			}
			var got []string
			for _, p := range problems {
				got = append(got, p.Text)
				checkProblem(t, p)
			}
			if len(got) != len(c.Problems) {
				t.Fatalf("got  %q\nwant %q", got, c.Problems)
			}
			for i := range got {
				if !sameText(got[i], c.Problems[i]) {
					t.Errorf("got  %q\nwant %q", got[i], c.Problems[i])
				}
			}
		})
	}
}

// checkProblem holds a problem to what its fields promise.
func checkProblem(tb testing.TB, p Problem) {
	tb.Helper()
	if p.Text == "" || p.Path != "" && !strings.HasPrefix(p.Text, p.Path+": ") {
		tb.Errorf("text of %+v", p)
	}
	nowhere := p.Start == -1 && p.End == -1
	if !nowhere && (p.Start < 0 || p.Start > p.End || p.End > len(p.Expression)) {
		tb.Errorf("place of %+v", p)
	}
}

const fleet = `{"version": "1.1", "name": "fleet",
	"destinations": [
		{"name": "writers", "match": "$.server.memberRole = PRIMARY"},
		{"name": "near", "match": "$.server.tags.zone = $.router.tags.zone AND $.server.address <> RESOLVE_V4('Far.example.net')"}],
	"routes": [
		{"name": "apps", "match": "$.session.user = app AND $.session.connectAttrs.program_name <> x", "enabled": true,
			"connectionSharingAllowed": false, "destinations": [
			{"classes": ["near"], "strategy": "round-robin", "priority": 7},
			{"classes": ["writers", "near"], "strategy": "first-available", "priority": 3},
			{"classes": ["near", "near"], "strategy": "first-available", "priority": 7}]},
		{"name": "off", "match": "$.session.schema = x OR $.session.sourceIP = RESOLVE_V6(six)", "enabled": false,
			"destinations": [{"classes": ["near"], "strategy": "round-robin", "priority": 0}]},
		{"name": "rest", "match": "$.session.targetPort = $.router.port.rw OR $.session.connectAttrs._os = x",
			"destinations": [{"classes": ["writers"], "strategy": "round-robin", "priority": 0}]}]}`

// compile gives the guideline of a document that is right.
func compile(tb testing.TB, document string) *Guideline {
	tb.Helper()
	g, problems := Compile([]byte(document))
	if g == nil {
		tb.Fatalf("problems: %+v", problems)
	}
	return g
}

func TestGuideline(t *testing.T) {
	g := compile(t, fleet)
	if g.Name() != "fleet" || g.Version() != "1.1" {
		t.Errorf("name %q, version %q", g.Name(), g.Version())
	}
	if c := g.Classes(); len(c) != 2 || c[0].Name != "writers" || c[0].Match != "$.server.memberRole = PRIMARY" || c[1].Name != "near" {
		t.Errorf("classes %+v", c)
	}
	routes := g.Routes()
	if len(routes) != 3 || routes[0].Name != "apps" || routes[1].Enabled || !routes[2].Enabled {
		t.Fatalf("routes %+v", routes)
	}
	if s := routes[0].ConnectionSharing; s == nil || *s {
		t.Errorf("connection sharing %v, want false", s)
	}
	if s := routes[2].ConnectionSharing; s != nil {
		t.Errorf("connection sharing %v, want none", *s)
	}
	groups := []Group{
		{Classes: []string{"writers", "near"}, Strategy: FirstAvailable, Priority: 3, classes: []int{0, 1}},
		{Classes: []string{"near"}, Strategy: RoundRobin, Priority: 7, classes: []int{1}},
		{Classes: []string{"near", "near"}, Strategy: FirstAvailable, Priority: 7, classes: []int{1, 1}},
	}
	if !reflect.DeepEqual(routes[0].Groups, groups) {
		t.Errorf("groups %+v", routes[0].Groups)
	}
	if first, second := routes[0].Groups[0].Strategy, routes[0].Groups[1].Strategy; first.String() != "first-available" ||
		second.String() != "round-robin" {
		t.Errorf("strategies %v and %v", first, second)
	}
	if hosts := g.Hosts(); !reflect.DeepEqual(hosts, []Host{{Name: "far.example.net"}, {Name: "six", V6: true}}) {
		t.Errorf("hosts %v", hosts)
	}
	uses := Uses{
		User: true, TargetPort: true, ConnectAttrs: []string{"_os", "program_name"}, Router: true,
		DestinationsUseRouter: true, DestinationsUseNames: true,
	}
	if !reflect.DeepEqual(g.Uses(), uses) {
		t.Errorf("uses %+v", g.Uses())
	}
}

func TestUsesOfRoutes(t *testing.T) {
	for match, want := range map[string]Uses{
		"TRUE":                              {},
		"$.session.user = a":                {User: true},
		"$.session.schema = a":              {Schema: true},
		"$.session.sourceIP = a":            {SourceIP: true},
		"$.session.targetIP = a":            {TargetIP: true},
		"$.session.targetPort = 1":          {TargetPort: true},
		"$.session.randomValue < 0.5":       {RandomValue: true},
		"$.session.connectAttrs.a = b":      {ConnectAttrs: []string{"a"}},
		"$.session.connectAttrs.a.b IN (b)": {ConnectAttrs: []string{"a.b"}},
		"$.router.name = a":                 {Router: true},
		"$.router.tags.a = a":               {Router: true},
		"RESOLVE_V4(a) = a":                 {Names: true},
		"$.server.tags.a = a":               {},
	} {
		rule, _ := json.Marshal(match)
		g := compile(t, `{"version": "1.0", "destinations": [{"name": "c", "match": "TRUE"}], "routes": [{"name": "r", "match": `+
			string(rule)+`, "destinations": [{"classes": ["c"], "strategy": "round-robin", "priority": 0}]}]}`)
		if !reflect.DeepEqual(g.Uses(), want) {
			t.Errorf("%s: got %+v", match, g.Uses())
		}
	}
}

func TestPlaceOfProblem(t *testing.T) {
	_, problems := Compile([]byte(`{"version": "1.1", "destinations": [{"name": "a", "match": "TRUE OR $.session.user = 'ż'"},
		{"name": "b", "match": "1 + 'ż' = 2"}, {"name": "c", "match": "word"}], "routes": 1}`))
	want := []struct{ path, expression, fault string }{
		{"", "", ""},
		{"destinations[0].match", "TRUE OR $.session.user = 'ż'", "$.session.user"},
		{"destinations[1].match", "1 + 'ż' = 2", "1 + 'ż'"},
		{"destinations[1]", "", ""},
		{"destinations[2].match", "word", "word"},
		{"routes", "", ""},
		{"", "", ""},
	}
	if len(problems) != len(want) {
		t.Fatalf("problems %+v", problems)
	}
	for i, p := range problems {
		fault := ""
		if p.Start >= 0 {
			fault = p.Expression[p.Start:p.End]
		}
		if p.Path != want[i].path || p.Expression != want[i].expression || fault != want[i].fault {
			t.Errorf("got %+v, fault %q", p, fault)
		}
	}
}
