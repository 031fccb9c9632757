package guideline

import (
	"strings"
	"testing"
)

// What the first violation is and how it is told; whether there is one is in testdata/documents.json.
func TestSchemaViolation(t *testing.T) {
	const (
		writers = `{"name": "w", "match": "TRUE"}`
		main    = `{"name": "r", "match": "TRUE", "destinations": [{"classes": ["w"], "strategy": "round-robin", "priority": 0}]}`
	)
	for _, tt := range []struct{ name, document, want string }{
		{"none", `{"version": "1.1", "destinations": [` + writers + `], "routes": [` + main + `]}`, ""},
		{
			"type", `{"version": "1.1", "name": 7, "destinations": 8}`,
			`{"type":{"expected":["string"],"actual":"integer","instanceRef":"#/name","schemaRef":"#/properties/name"}}`,
		},
		{
			"type inside lists", `{"routes": [` + main + `, {"destinations": [{"classes": ["a", null]}]}]}`,
			`{"type":{"expected":["string"],"actual":"null","instanceRef":"#/routes/1/destinations/0/classes/1",` +
				`"schemaRef":"#/properties/routes/items/properties/destinations/items/properties/classes/items"}}`,
		},
		{
			"additionalProperties", `{"a/b~c": 1}`,
			`{"additionalProperties":{"disallowed":"a/b~c","instanceRef":"#","schemaRef":"#"}}`,
		},
		{
			"required", `{"version": "1.1", "destinations": [{"match": ""}]}`,
			`{"required":{"missing":["name"],"instanceRef":"#/destinations/0","schemaRef":"#/properties/destinations/items"}}`,
		},
		{
			"required at the end", `{"name": ""}`,
			`{"required":{"missing":["version","destinations","routes"],"instanceRef":"#","schemaRef":"#"}}`,
		},
		{
			"minItems", `{"destinations": []}`,
			`{"minItems":{"expected":1,"actual":0,"instanceRef":"#/destinations","schemaRef":"#/properties/destinations"}}`,
		},
		{
			"uniqueItems", `{"destinations": [` + writers + `, {"name": "v", "match": ""}, {"match": "TRUE", "name": "w"}]}`,
			`{"uniqueItems":{"actual":"items 0 and 2 are equal","instanceRef":"#/destinations","schemaRef":"#/properties/destinations"}}`,
		},
		{
			"enum", `{"routes": [{"destinations": [{"strategy": "random"}]}]}`,
			`{"enum":{"expected":["round-robin","first-available"],"actual":"random","instanceRef":"#/routes/0/destinations/0/strategy",` +
				`"schemaRef":"#/properties/routes/items/properties/destinations/items/properties/strategy"}}`,
		},
		{
			"minimum", `{"routes": [{"destinations": [{"priority": -3}]}]}`,
			`{"minimum":{"expected":0,"actual":-3,"instanceRef":"#/routes/0/destinations/0/priority",` +
				`"schemaRef":"#/properties/routes/items/properties/destinations/items/properties/priority"}}`,
		},
		{
			"fraction", `{"routes": [{"destinations": [{"priority": 1.0}]}]}`,
			`{"type":{"expected":["integer"],"actual":"number","instanceRef":"#/routes/0/destinations/0/priority",` +
				`"schemaRef":"#/properties/routes/items/properties/destinations/items/properties/priority"}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root, err := readJSON(tt.document)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if bad := checkSchema(&root); bad != nil {
				got = strings.TrimPrefix(bad.text(), "Routing guidelines JSON document schema validation failed: ")
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestEqualItems(t *testing.T) {
	for _, tt := range []struct {
		items         string
		first, second int
	}{
		{`[]`, 0, 0},
		{`[1, "1", true, "true", null, "null", [], {}, "[]"]`, 0, 0},
		{`[1, 2, 1.0]`, 0, 2},
		{`[0, -0]`, 0, 1},
		{`[100, 1e2]`, 0, 1},
		{`[{"a": 1, "b": [2]}, {"b": [2], "a": 1}]`, 0, 1},
		{`[{"a": 1}, {"a": 1, "b": 1}, {"b": 1}]`, 0, 0},
		{`[{"a": 1}, {"a": 2, "a": 1}]`, 0, 1},
		{`[[1, 2], [2, 1], [[1], 2]]`, 0, 0},
		{`["a,b", ["a", "b"], ["a,b"], ["a\",\"b"]]`, 0, 0},
	} {
		root, err := readJSON(tt.items)
		if err != nil {
			t.Fatal(err)
		}
		if first, second := equalItems(root.children); first != tt.first || second != tt.second {
			t.Errorf("%s: got %d and %d", tt.items, first, second)
		}
	}
}
