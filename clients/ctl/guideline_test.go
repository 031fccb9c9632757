package ctl_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/clients/ctl"
)

var updateGuideline = flag.Bool("update-guideline", false, "rewrite testdata/guideline/golden.txt")

// TestGuidelineGolden runs the command lines of testdata/guideline/golden.txt, each of which begins with "$ ", and compares
// what they print and their exit status.
func TestGuidelineGolden(t *testing.T) {
	t.Chdir(filepath.Join("testdata", "guideline"))
	golden, err := os.ReadFile("golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	var rewritten bytes.Buffer
	for example := range strings.SplitSeq(strings.TrimPrefix(string(golden), "$ "), "\n$ ") {
		command, want, _ := strings.Cut(example, "\n")
		code, out, errs := run(t, "", shellWords(t, command)...)
		if errs != "" {
			out += "on standard error:\n" + errs
		}
		out += "exit status " + string(rune('0'+code)) + "\n"
		rewritten.WriteString("$ " + command + "\n" + out)
		if want = strings.TrimSuffix(want, "\n"); strings.TrimSuffix(out, "\n") != want && !*updateGuideline {
			t.Errorf("$ %s\n%s\nwant\n%s", command, out, want)
		}
	}
	if *updateGuideline {
		if err := os.WriteFile("golden.txt", rewritten.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGuidelineBadLines wants an error for each line that is no question, and answers for the others.
func TestGuidelineBadLines(t *testing.T) {
	for verb, lines := range map[string][][2]string{
		"eval": {
			{`{"expression":"1"}`, `{"type":"number","value":1}`},
			{`{"expression":"$.a","context":{"a":null}}`, `{"type":"null","value":null}`},
			{`{"expression":"$.a / 0 = $.a","context":{"a":-1}}`, `{"type":"boolean","value":false}`},
			{`{"expression":"-1 / 0"}`, `{"type":"number","value":"-Infinity"}`},
			{`{"expression":"$.router.port.rw + 0.5","context":{"router.port.rw":1}}`, `{"type":"number","value":1.5}`},
			{`{"version":"2.0.0","expression":"1"}`, `"phase":"parse"}`},
			{`{"expression":"1 +"}`, `{"error":"syntax error, unexpected end of expression (character 3)","phase":"parse"}`},
			{`{"expression":"RESOLVE_V6(a.b)","resolve_cache":{"a.b":["10.1.1.1","::7"]}}`, `{"type":"string","value":"::7"}`},
			{`{"expression":"RESOLVE_V4(a.b)","resolve_cache":{"a.b":"::7"}}`, `{"error":"No cache entry to resolve host: a.b","phase":"eval"}`},
			{`nonsense`, `"code":"INVALID_ARGUMENT","message":"JSON: `},
			{``, `"message":"the line is empty; want a JSON object"`},
			{`[1]`, `"message":"JSON: want an object, got a list"`},
			{`{"expression":"1"`, `"message":"JSON: the line ends in the middle of a value"`},
			{`{"expression":5}`, `"message":"expression: want a text, got a number; write it in quotes"`},
			{`{"version":1.1,"expression":"1"}`, `"message":"version: want a text, got a number; write it in quotes"`},
			{`{"expression":{}}`, `"message":"expression: want a text, got an object"`},
			{`{"expression":"1","context":{"$.session.user":"a"}}`, `"message":"context.$.session.user: names stand without \"$.\" here; write session.user"`},
			{`{}`, `"message":"expression is missing"`},
			{`{"expression":"1"} {}`, `"message":"more than one JSON value"`},
			{`{"expression":"1","contxt":{}}`, `"message":"unknown field \"contxt\""`},
			{`{"expression":"1","context":{"a":[1]}}`, `"message":"context.a: want a text, a number, true, false or null; a tag's value is its compact JSON text"`},
			{`{"expression":"1","context":{"server.port":"x"}}`, `"message":"context.server.port: expected NUMBER but got STRING"`},
			{`{"expression":"1","context":{"server.tags.a":1}}`, `"message":"context.server.tags.a: expected STRING but got NUMBER"`},
			{`{"expression":"1","context":{"server.memberRole":"LEADER"}}`, `there is no role`},
			{`{"expression":"1","resolve_cache":{"a":1}}`, `"message":"resolve_cache: want for each host an address, or a list of addresses, as texts; got 1"`},
		},
		"preview": {
			{`{"guideline":` + smallGuideline + `}`, `{"classes":{},"route":"r","tiers":[[]],"errors":[]}`},
			{`{"guideline":` + smallGuideline + `,"servers":[{"server.label":"z"},{"server.label":"a"}]}`, `{"classes":{"z":["p"],"a":["p"]},"route":"r","tiers":[["z","a"]],"errors":[]}`},
			{`{"guideline":"[]","servers":[{"server.label":"z"}]}`, `{"classes":{},"route":null,"tiers":[],"errors":["routing guidelines needs to be specified as a JSON document"]}`},
			{`{"guideline":{}}`, `"errors":["Routing guidelines JSON document schema`},
			{`{}`, `"message":"guideline is missing"`},
			{`{"guideline":{},"servers":{}}`, `"message":"servers: want a list, got an object"`},
			{`{"guideline":{},"servers":[1]}`, `"message":"servers: want an object, got a number"`},
			{`{"guideline":{},"session":true}`, `"message":"session: want an object, got true or false"`},
			{`{"guideline":{},"servers":[{}]}`, `"message":"servers[0]: server.label is missing; it names the server in the answer"`},
			{`{"guideline":{},"servers":[{"server.label":"a"},{"server.label":"a"}]}`, `"message":"servers[1]: server.label \"a\" is already that of servers[0]; it names the server in the answer"`},
			{`{"guideline":{},"servers":[{"server.label":"a","session.user":"b"}]}`, `"message":"servers[0]: session.user: there is no such variable"`},
			{`{"guideline":{},"router":{"router.name":1}}`, `"message":"router: router.name: expected STRING but got NUMBER"`},
			{`{"guideline":{},"session":{"session.usr":"a"}}`, `"message":"session: session.usr: there is no such variable"`},
		},
	} {
		var in strings.Builder
		for _, line := range lines {
			in.WriteString(line[0] + "\n")
		}
		code, out, errs := run(t, in.String(), "guideline", verb, "--ndjson")
		got := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if code != 1 || errs != "" || len(got) != len(lines) {
			t.Fatalf("%s: code %d, %d lines for %d\n%s%s", verb, code, len(got), len(lines), out, errs)
		}
		for i, line := range lines {
			if !strings.Contains(got[i], line[1]) {
				t.Errorf("%s\n%s\nwant %s", line[0], got[i], line[1])
			}
		}
	}
	for want, args := range map[string][]string{
		"standard input, not from arguments": {"guideline", "eval", "--ndjson", "1"},
		"standard input, not from a file":    {"guideline", "preview", "--ndjson", "x"},
		"no expression given":                {"guideline", "eval"},
		"no guideline given":                 {"guideline", "preview"},
		"read guideline: open nowhere":       {"guideline", "check", "nowhere"},
		"set-up.yaml: ":                      {"guideline", "check", "testdata/guideline/set-up.yaml"},
	} {
		if strings.HasPrefix(want, "set-up") {
			path := filepath.Join(t.TempDir(), "set-up.yaml")
			if err := os.WriteFile(path, []byte("a: ["), 0o600); err != nil {
				t.Fatal(err)
			}
			args[2] = path
		}
		if code, out, errs := run(t, "", args...); code != 2 || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%q: code %d, %q, %q", args, code, out, errs)
		}
	}
}

// TestGuidelineOfManyBytes wants a refusal of what is too large, and no more than that much to be read.
func TestGuidelineOfManyBytes(t *testing.T) {
	var out, errs bytes.Buffer
	endless := endlessBlanks{}
	code := ctl.Main(t.Context(), "test", []string{"guideline", "check", "-"}, ctl.IO{In: endless, Out: &out, Err: &errs, Getenv: func(string) string { return "" }})
	if code != 1 || !strings.Contains(out.String(), "the limit is 4194304") {
		t.Errorf("code %d, %s%s", code, out.String(), errs.String())
	}
}

type endlessBlanks struct{}

func (endlessBlanks) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// TestCaret looks at the mark under a fault.
func TestCaret(t *testing.T) {
	long := strings.Repeat("a", 400)
	for _, tt := range []struct{ expression, want string }{
		{"1 = 'x'", "    1 = 'x'\n    ^~~~~~~\n"},
		{"'ä' = 'ö' AND 1 = 'x'", "    'ä' = 'ö' AND 1 = 'x'\n                  ^~~~~~~\n"},
		{"TRUE AND\t\n1 = 'x'", "    TRUE AND  1 = 'x'\n              ^~~~~~~\n"},
		{"1 = ", "    1 = \n      ^\n"},
		{"'" + long + "' = 1", "    '" + strings.Repeat("a", 119) + "...\n    ^" + strings.Repeat("~", 119) + "\n"},
		{"'" + long + "' = '' AND 1 = 'x'", "    ..." + strings.Repeat("a", 49) + "' = '' AND 1 = 'x'\n" + strings.Repeat(" ", 4+3+60) + "^~~~~~~\n"},
		{"1 = 'x' OR '" + long + "' = ''", "    1 = 'x' OR '" + strings.Repeat("a", 108) + "...\n    ^~~~~~~\n"},
	} {
		code, out, errs := run(t, "", "guideline", "eval", tt.expression)
		if code != 1 || strings.Count(out, "\n") != 1 || errs != tt.want {
			t.Errorf("%s: code %d\n%s%s\nwant\n%s", tt.expression, code, out, errs, tt.want)
		}
	}
}
