package ctl_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
)

const guided = `
servers:
  - {hostgroup_id: 10, hostname: a, tags: {zone: x, "n": 41, deep: {b: [null, 1.5, true]}, none: null}, label: l, version: "8.4"}
guideline_binding: {writer_hostgroup: 10, reader_hostgroup: 10, listeners: {6446: rw, "77": ro, x: rw_split}}
`

const smallGuideline = `{"version":"1.1","name":"g","destinations":[{"name":"p","match":"TRUE"}],"routes":[{"match":"TRUE","name":"r","destinations":[{"classes":["p"],"strategy":"round-robin","priority":0}]}]}`

// TestGuidelineForms wants documents as fields and as texts to be the same, in JSON with the order and repeated keys that they
// have there.
func TestGuidelineForms(t *testing.T) {
	twice := strings.Replace(smallGuideline, `"name":"p"`, `"name":"p","name":"q"`, 1)
	for _, tt := range []struct{ in, want string }{
		{"guideline: " + smallGuideline, ""},
		{"guideline: '" + smallGuideline + "'", ""},
		{`{"guideline": ` + smallGuideline + "}", ""},
		{`{"guideline": ` + twice + "}", "undefined destination class 'p' found in route 'r'"},
		{"guidelines: [{name: g, document: " + smallGuideline + "}]\nactive_guideline: g", ""},
		{`{"active_guideline": "g", "guidelines": [{"document": ` + twice + `, "name": "g"}]}`, "undefined destination class 'p' found in route 'r'"},
		{`{"active_guideline": "g", "guidelines": [{"name": "g", "document": null}]}`, "guidelines[0].document"},
	} {
		config := tt.in + guided
		if strings.HasPrefix(tt.in, "{") {
			config = strings.Replace(tt.in, "{", `{"servers": [{"hostname": "a"}], "guideline_binding": {"writer_hostgroup": 0, "reader_hostgroup": 0},`, 1)
		}
		config = strings.Replace(config, `version: "8.4"`, `version: 8.4.3`, 1)
		code, out, errs := run(t, config, "validate", "-")
		if tt.want == "" && (code != 0 || out != "no problems\n") || !strings.Contains(out, tt.want) || errs != "" && code != 1 {
			t.Errorf("%s: code %d\n%s%s", tt.in, code, out, errs)
		}
	}
}

func TestGuidelineFormMistakes(t *testing.T) {
	code, out, errs := run(t, `
guideline: [1]
guidelines:
  - {name: a, document: 3, comments: x}
  - nothing
guideline_binding: {writer_hostgroup: ten, listeners: {ro: 6447, rw: null}, default_mode: 1}
active_guideline: {a: 1}
servers:
  - {hostname: a, tags: zone, member_role: 1}
  - {hostname: b, tags: {a: {b: c}}, memberRole: PRIMARY, version: 8.4}
`, "validate", "-")
	if code != 2 || out != "" {
		t.Errorf("code %d, %s", code, out)
	}
	for _, want := range []string{
		"guideline: want a routing guideline (its fields, or a text that holds it in JSON), got a list",
		"guidelines[0].document: want a routing guideline (its fields, or a text that holds it in JSON), got the number 3",
		"guidelines[0].comments: unknown field; the fields are name, document, comment",
		`guidelines[1]: want fields (name: value), got the text "nothing"`,
		`guideline_binding.writer_hostgroup: want a whole number, got the text "ten"`,
		`guideline_binding.listeners["ro"]: want a text, got the number 6447; write it in quotes`,
		`guideline_binding.listeners["rw"]: want a text, got nothing; write it in quotes`,
		"guideline_binding.default_mode: want a text, got the number 1; write it in quotes",
		"active_guideline: want a text, got fields (name: value); write it in quotes",
		`servers[0].tags: want fields (name: value), got the text "zone"`,
		"servers[0].member_role: want a text, got the number 1; write it in quotes",
		"servers[1].version: want a text, got the number 8.4; write it in quotes",
	} {
		if !strings.Contains(errs, want+"\n") {
			t.Errorf("missing: %s", want)
		}
	}
	if n := strings.Count(errs, "\n"); n != 12 {
		t.Errorf("%d lines\n%s", n, errs)
	}
}

// TestGetPublishesBack wants what get prints of guidelines, tags and listeners to be the same configuration.
func TestGetPublishesBack(t *testing.T) {
	service := &configService{}
	addr := serveConfig(t, service)
	config := strings.Replace(guided, `version: "8.4"`, `version: 8.4.3`, 1) +
		"active_guideline: g\nguidelines: [{name: g, document: '" + smallGuideline + "'}, {name: odd, document: \"{\\n\\t\\\"a\\\": \\\"\\\\u00e4  \\\"}\\n \\n\"}]\n"
	if code, out, errs := run(t, config, "publish", "-", "--server", addr); code != 0 {
		t.Fatalf("%s%s", out, errs)
	}
	_, printed, _ := run(t, "", "get", "--server", addr)
	if code, out, errs := run(t, printed, "publish", "-", "--server", addr); code != 0 {
		t.Fatalf("%s%s\n%s", out, errs, printed)
	}
	if first, second := service.generations[0], service.generations[1]; !proto.Equal(first, second) {
		t.Errorf("%v\nafter get\n%v\n%s", first, second, printed)
	}
}
