package guideline

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// routesDocument is a document of n routes; the last is the one that matches.
func routesDocument(n int) string {
	var b strings.Builder
	b.WriteString(`{"version": "1.1", "destinations": [{"name": "c", "match": "TRUE"}], "routes": [`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name": "r%d", "match": "$.session.targetPort = %d", "destinations":
			[{"classes": ["c"], "strategy": "round-robin", "priority": 0}]}`, i, i)
	}
	b.WriteString(`]}`)
	return b.String()
}

func TestManyRoutes(t *testing.T) {
	const n = 10_000
	g := compile(t, routesDocument(n))
	if route, err := g.Route(&Facts{Session: &Session{TargetPort: n - 1}}); route != n-1 || err != nil {
		t.Errorf("route %d, error %v", route, err)
	}
}

func TestDocumentLimits(t *testing.T) {
	entries := func(n int) string { return strings.Repeat(`1,`, n-1) + `1` }
	inside := func(format string, list string) string {
		return fmt.Sprintf(`{"version": "1.1", "destinations": [{"name": "c", "match": "TRUE"}], "routes": [{"name": "r", "match": "TRUE",
			"destinations": `+format+`}]}`, list)
	}
	for _, tt := range []struct{ name, document, want string }{
		{"bytes", strings.Repeat(" ", maxDocumentBytes+1), "the document has 4194305 bytes, the limit is 4194304"},
		{"depth", strings.Repeat("[", 1_000_000), "incorrect JSON: The document is nested deeper than 10000 levels"},
		{"depth of objects", strings.Repeat(`{"a":`, 800_000), "incorrect JSON: The document is nested deeper than 10000 levels"},
		{"values", "[" + entries(maxJSONValues) + "]", "incorrect JSON: The document has more than 500000 values"},
		{"routes", `{"version": "1.1", "routes": [` + entries(maxRoutes+1) + `]}`, "routes: the list has 20001 entries, the limit is 20000"},
		{"destinations", `{"version": "1.1", "destinations": [` + entries(maxDestinations+1) + `]}`, "destinations: the list has 10001 entries, the limit is 10000"},
		{"groups", inside("[%s]", entries(maxGroups+1)), "routes[0].destinations: the list has 101 entries, the limit is 100"},
		{"classes", inside(`[{"classes": [%s], "strategy": "round-robin", "priority": 0}]`, entries(maxClasses+1)), "routes[0].destinations[0].classes: the list has 1001 entries, the limit is 1000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := Compile([]byte(tt.document))
			for _, p := range problems {
				if strings.HasPrefix(p.Text, tt.want) {
					return
				}
			}
			t.Errorf("problems %.1000v", problems)
		})
	}
}

// All groups of a document together have a limit of classes; what stands behind the one that passes it is not read.
func TestDocumentReferences(t *testing.T) {
	document := func(last int) []byte {
		group := func(n int) string {
			return `{"classes": ["c"` + strings.Repeat(`, "c"`, n-1) + `], "strategy": "round-robin", "priority": 0}`
		}
		route := func(name string, groups ...string) string {
			return `{"name": "` + name + `", "match": "TRUE", "destinations": [` + strings.Join(groups, ", ") + `]}`
		}
		full := slices.Repeat([]string{group(maxClasses)}, 50)
		return []byte(`{"version": "1.1", "destinations": [{"name": "c", "match": "TRUE"}], "routes": [` +
			route("a", full...) + `, ` + route("b", append(full[1:], group(last))...) + `, ` + route("z", group(1)) + `]}`)
	}
	if _, problems := Compile(document(maxClasses - 1)); len(problems) > 0 {
		t.Errorf("at the limit: %.1000v", problems)
	}
	_, problems := Compile(document(maxClasses))
	want := "routes[2].destinations[0].classes: the groups of the document up to here name 100001 classes, repeats counted, the limit is 100000"
	if len(problems) == 0 || problems[0].Text != want {
		t.Errorf("above it: %.1000v", problems)
	}
}

// The expressions of a document have a limit together; what stands behind the one that passes it is not read.
func TestDocumentParts(t *testing.T) {
	for _, tt := range []struct{ name, match, want string }{
		{
			"lists", "$.session.user IN (a" + strings.Repeat(",b", 99_997) + ")",
			"routes[4].match: the expressions of the document up to here have 500001 operands, operations and parts of regular expressions, the limit is 500000",
		},
		{
			"regular expressions", "TRUE" + strings.Repeat(" AND REGEXP_LIKE($.session.user, '(a[b-c]){900}')", 50),
			"routes[3].match: the expressions of the document up to here have 544005 operands, operations and parts of regular expressions, the limit is 500000",
		},
		{
			"expressions at fault", "TRUE" + strings.Repeat(" AND REGEXP_LIKE($.session.user, '(a[b-c]){900}')", 50) + " AND",
			"routes[3].match: the expressions of the document up to here have 544005 operands, operations and parts of regular expressions, the limit is 500000",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			b.WriteString(`{"version": "1.1", "destinations": [{"name": "c", "match": "TRUE"}], "routes": [`)
			for i := range 8 {
				fmt.Fprintf(&b, `{"name": "r%d", "match": %q, "destinations": [{"classes": ["c"], "strategy": "round-robin", "priority": 0}]},`, i, tt.match)
			}
			b.WriteString(`{"name": 1}]}`)
			_, problems := Compile([]byte(b.String()))
			if len(problems) == 0 {
				t.Fatal("no problems")
			}
			if last := problems[len(problems)-1].Text; last != tt.want {
				t.Errorf("the last of %d problems is %q", len(problems), last)
			}
		})
	}
}

func TestNestedUnknownField(t *testing.T) {
	const depth = maxJSONDepth - 1
	nested := strings.Repeat("[", depth) + strings.Repeat("]", depth)
	_, problems := Compile([]byte(`{"version": "1.1", "a": ` + nested + `}`))
	if len(problems) != 4 || !strings.HasPrefix(problems[1].Text, "a: Unexpected field") {
		t.Errorf("problems %+v", problems)
	}
}

func TestProblemLimits(t *testing.T) {
	t.Run("entries", func(t *testing.T) {
		destinations := strings.Repeat(`{},`, maxDestinations-1) + `{}`
		document := `{"version": "1.1"` + strings.Repeat(`, "destinations": [`+destinations+`]`, 4) + `}`
		_, problems := Compile([]byte(document))
		last := problems[len(problems)-1].Text
		if len(problems) != maxProblems+1 || !strings.HasPrefix(last, "there are more problems") {
			t.Errorf("%d problems, the last %q", len(problems), last)
		}
	})
	t.Run("bytes", func(t *testing.T) {
		// A long name in a text for each of many classes.
		classes := strings.Repeat(`"x",`, maxClasses-1) + `"x"`
		document := fmt.Sprintf(`{"version": "1.1", "destinations": [{"name": "c", "match": "TRUE"}], "routes": [{"name": %q, "match": "TRUE",
			"destinations": [{"classes": [%s], "strategy": "round-robin", "priority": 0}]}]}`, strings.Repeat("n", 1<<20), classes)
		_, problems := Compile([]byte(document))
		last := problems[len(problems)-1].Text
		if len(problems) != maxProblemBytes>>20 || !strings.HasPrefix(last, "there are more problems") {
			t.Errorf("%d problems, the last %.100q", len(problems), last)
		}
	})
}
