package document_test

import (
	"strings"
	"testing"

	"github.com/pointsman/pointsman/clients/document"
)

func TestToJSON(t *testing.T) {
	for _, tt := range []struct{ in, want, err string }{
		{"a: 1\nb: [x, 'y']\n", `{"a":1,"b":["x","y"]}`, ""},
		{`{"a": 1}`, `{"a": 1}`, ""},
		{"---\na: 1\n", `{"a":1}`, ""},
		{"a: 1\n...\n", `{"a":1}`, ""},
		{"", "null", ""},
		{"# nothing\n", "null", ""},
		{"- 1\n", "[1]", ""},
		{"a: 1\n---\nb: 2\n", "", "more than one document"},
		{"a: 1\n---\n[", "", "more than one document"},
		{"a: 1\n...\ngarbage: {{{\n", "", "more than one document"},
		{`{"a": 1} {"b": 2}`, "", "document"},
		{`{"a": 1} x`, "", "document"},
		{"{\"a\": 1}\nb: 2\n", "", ""},
		{"a: 1\na: 2\n", "", "already set"},
		{"a: [\n", "", "yaml"},
	} {
		got, err := document.ToJSON([]byte(tt.in))
		switch {
		case tt.want != "" && (err != nil || string(got) != tt.want):
			t.Errorf("%q: %s, %v, want %s", tt.in, got, err, tt.want)
		case tt.want == "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("%q: %s, %v, want an error with %q", tt.in, got, err, tt.err)
		}
	}
}
