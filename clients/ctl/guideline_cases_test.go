package ctl_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// The cases of the language itself, which the verbs must answer as the core does.
const languageCases = "../../decision/guideline/testdata"

func readCases(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(languageCases, name))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name, ".ndjson") {
		lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
		text = append(append([]byte("["), bytes.Join(lines, []byte(","))...), ']')
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// jsonLines gives one compact line of JSON for each item.
func jsonLines(t *testing.T, items []map[string]any) string {
	t.Helper()
	var out strings.Builder
	for _, item := range items {
		line, err := json.Marshal(item)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	return out.String()
}

// answers runs a verb on lines and gives what each one gave.
func answers(t *testing.T, in []map[string]any, verb string) []map[string]any {
	t.Helper()
	code, out, errs := run(t, jsonLines(t, in), "guideline", verb, "--ndjson")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if code != 0 || errs != "" || len(lines) != len(in) {
		t.Fatalf("code %d, %d lines for %d, %s", code, len(lines), len(in), errs)
	}
	list := make([]map[string]any, len(lines))
	for i, line := range lines {
		if err := json.Unmarshal([]byte(line), &list[i]); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	return list
}

func TestGuidelineEvalCases(t *testing.T) {
	var cases []struct {
		ID, Version, Expression string
		Context                 any // variables, or the name of some
		Hosts                   map[string][]string
		Type, Phase, Error      string
		Value                   any
		Truthy                  *bool
		Contains                bool
	}
	readCases(t, "expressions.ndjson", &cases)
	var contexts map[string]any
	readCases(t, "expressions_contexts.json", &contexts)
	in := make([]map[string]any, len(cases))
	for i, c := range cases {
		in[i] = map[string]any{"expression": c.Expression}
		if c.Version != "" {
			in[i]["version"] = c.Version
		}
		if name, ok := c.Context.(string); ok {
			c.Context = contexts[name]
		}
		if c.Context != nil {
			in[i]["context"] = c.Context
		}
		if c.Hosts != nil {
			in[i]["resolve_cache"] = c.Hosts
		}
	}
	for i, got := range answers(t, in, "eval") {
		c := &cases[i]
		switch {
		case c.Phase != "":
			message, _ := got["error"].(string)
			prefix, open := strings.CutSuffix(c.Error, "…")
			fits := message == c.Error || open && strings.HasPrefix(message, prefix) || c.Contains && strings.Contains(message, c.Error)
			if got["phase"] != c.Phase || !fits {
				t.Errorf("%s: %s\n%v\nwant %s: %s", c.ID, c.Expression, got, c.Phase, c.Error)
			}
		case c.Type != "" && (got["type"] != c.Type || !reflect.DeepEqual(got["value"], c.Value)):
			t.Errorf("%s: %s\n%v\nwant %s %v", c.ID, c.Expression, got, c.Type, c.Value)
		case c.Type == "" && c.Truthy == nil:
			t.Errorf("%s: nothing is wanted", c.ID)
		}
	}
}

func TestGuidelineCheckCases(t *testing.T) {
	var cases []struct {
		Name     string
		Document string
		Base64   []byte
		Problems []string
	}
	readCases(t, "documents.json", &cases)
	for _, c := range cases {
		document := c.Document
		if len(c.Base64) > 0 {
			document = string(c.Base64)
		}
		code, out, errs := run(t, document, "guideline", "check", "-o", "json", "-")
		var got struct{ Problems []string }
		if err := json.Unmarshal([]byte(out), &got); err != nil || errs != "" {
			t.Errorf("%s: %v, %s", c.Name, err, errs)
			continue
		}
		if want := min(len(c.Problems), 1); code != want {
			t.Errorf("%s: code %d, want %d", c.Name, code, want)
		}
		if len(got.Problems) != len(c.Problems) {
			t.Errorf("%s: %q, want %q", c.Name, got.Problems, c.Problems)
			continue
		}
		for i, want := range c.Problems {
			if prefix, open := strings.CutSuffix(want, "…"); got.Problems[i] != want && !(open && strings.HasPrefix(got.Problems[i], prefix)) {
				t.Errorf("%s: %q, want %q", c.Name, got.Problems[i], want)
			}
		}
		code, out, _ = run(t, document, "guideline", "check", "-")
		if lines := strings.Count(out, "\n"); code != min(len(c.Problems), 1) || lines != max(len(c.Problems), 1) {
			t.Errorf("%s, for people: code %d\n%s", c.Name, code, out)
		}
	}
}

func TestGuidelinePreviewCases(t *testing.T) {
	var cases []map[string]any
	readCases(t, "previews.json", &cases)
	in := make([]map[string]any, len(cases))
	for i, c := range cases {
		in[i] = make(map[string]any)
		for _, key := range []string{"guideline", "router", "servers", "session", "resolve_cache"} {
			if c[key] != nil {
				in[i][key] = c[key]
			}
		}
	}
	for i, got := range answers(t, in, "preview") {
		if !reflect.DeepEqual(any(got), cases[i]["expected"]) {
			t.Errorf("%s: %v\nwant %v", cases[i]["name"], got, cases[i]["expected"])
		}
	}
}
