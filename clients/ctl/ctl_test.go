package ctl_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/pointsman/pointsman/clients/ctl"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run runs one command line.
func run(t *testing.T, in string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = ctl.Main(t.Context(), "test", args, ctl.IO{In: strings.NewReader(in), Out: &out, Err: &errs, Getenv: func(string) string { return "" }})
	return code, out.String(), errs.String()
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const split = `
servers:
  - {hostgroup_id: 10, hostname: db1}
  - {hostgroup_id: 20, hostname: db2, weight: 3}
  - {hostgroup_id: 20, hostname: db3, status: OFFLINE_SOFT}
users:
  - {username: app, password: secret, default_hostgroup: 10}
query_rules:
  - {rule_id: 1, match_digest: "^SELECT.*FOR UPDATE", destination_hostgroup: 10, apply: true}
  - {rule_id: 2, match_digest: "^SELECT", destination_hostgroup: 20, apply: true}
  - {rule_id: 3, match_pattern: "^DROP", error_msg: "no", apply: true}
`

func TestRouteForPeople(t *testing.T) {
	path := file(t, split)
	code, out, errs := run(t, "", "route", "--config", path, "--user", "app", "SELECT", "1")
	if code != 0 || !strings.Contains(out, "hostgroup            20\n") || !strings.Contains(out, "reason               rule\n") ||
		!strings.Contains(out, "matched rules        2\n") || !strings.Contains(out, "0x1C46AE529DD5A40E  SELECT ?") {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
	code, out, _ = run(t, "", "route", "--config", path, "--user", "app", "DROP TABLE t")
	if code != 0 || !strings.Contains(out, "error_msg            no\n") || !strings.Contains(out, "answered") {
		t.Errorf("code %d\n%s", code, out)
	}
	code, out, _ = run(t, "", "route", "-o", "json", "--config", path, "--user", "app", "SELECT 1")
	var doc map[string]any
	if err := json.Unmarshal([]byte(out), &doc); code != 0 || err != nil || doc["destination_hostgroup"] != 20.0 {
		t.Errorf("code %d, %v\n%s", code, err, out)
	}
}

func TestCouldNotRun(t *testing.T) {
	path := file(t, split)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"route", "--config", path, "--user", "nobody", "SELECT 1"}, "session.username"},
		{[]string{"route", "--config", path, "--user", "app"}, "no statement given"},
		{[]string{"route", "--config", path, "--user", "app", "--command", "x", "SELECT 1"}, "none of query, prepare, execute"},
		{[]string{"route", "--config", path + "x", "SELECT 1"}, "no such file"},
		{[]string{"route", "-o", "xml", "SELECT 1"}, "neither text nor json"},
		{[]string{"route", "--server", "nowhere", "SELECT 1"}, "host:port"},
		{[]string{"select", "--config", path}, "flags --hostgroup and --guideline-pool"},
		{[]string{"digest"}, "no statement given"},
		{[]string{"digest", "--ndjson", "SELECT 1"}, "standard input"},
		{[]string{"rollback", "x"}, "no generation number"},
		{[]string{"generations", "--server", "127.0.0.1:1", "--timeout", "2s"}, "is the decision server running?"},
		{[]string{"bogus"}, "unknown command"},
	} {
		if code, out, errs := run(t, "", tt.args...); code != 2 || out != "" || !strings.Contains(errs, tt.want) {
			t.Errorf("%q: code %d, stdout %q, stderr %q", tt.args, code, out, errs)
		}
	}
}

func TestValidate(t *testing.T) {
	code, out, _ := run(t, split, "validate", "-")
	if code != 0 || out != "no problems\n" {
		t.Errorf("good: code %d, %q", code, out)
	}
	bad := "query_rules:\n  - {rule_id: 7, match_digest: 'a(b'}\n  - {rule_id: 7, digest: xyz}\nusers: [{username: u, password: p}]\n"
	code, out, _ = run(t, bad, "validate", "-o", "json", "-")
	var doc struct {
		Problems []struct {
			RuleID   int64  `json:"rule_id"`
			Path     string `json:"path"`
			Position *int   `json:"position"`
			Code     string `json:"code"`
			Severity string `json:"severity"`
			Message  string `json:"message"`
		} `json:"problems"`
	}
	if err := json.Unmarshal([]byte(out), &doc); code != 1 || err != nil || len(doc.Problems) != 3 {
		t.Fatalf("code %d, %v\n%s", code, err, out)
	}
	p := doc.Problems[0]
	if p.RuleID != 7 || p.Path != "query_rules[0].match_digest" || p.Position == nil || p.Severity != "error" || p.Code == "" || p.Message == "" {
		t.Errorf("%+v", p)
	}
	code, out, _ = run(t, bad, "validate", "-")
	if code != 1 || strings.Count(out, "\n") != 3 || !strings.HasPrefix(out, "error: rule 7, query_rules[0].match_digest") {
		t.Errorf("for people: code %d\n%s", code, out)
	}
}

func TestFormOfDocument(t *testing.T) {
	bad := `
query_rules:
  - {rule_id: 1, flagIN: 3, apply: 1, digest: 12, destination_hostgroup: x}
  - nothing
servers: {hostgroup_id: 1}
users: [{username: a, default_hostgroup: 3000000000, OK_msg: x}]
settings: {query_digests: "yes", query_processor_iterations: -1, mysql-server_version: x}
rules: []
`
	code, out, errs := run(t, bad, "validate", "-")
	if code != 2 || out != "" {
		t.Errorf("code %d, %q", code, out)
	}
	for _, want := range []string{
		"query_rules[0].flagIN: unknown field; did you mean flag_in?",
		"query_rules[0].apply: want true or false, got the number 1",
		"query_rules[0].digest: want a text, got the number 12; write it in quotes",
		"query_rules[0].destination_hostgroup: want a whole number, got the text \"x\"",
		"query_rules[1]: want fields (name: value), got the text \"nothing\"",
		"servers: want a list, got fields (name: value)",
		"users[0].default_hostgroup: 3000000000 is not within",
		"users[0].OK_msg: unknown field",
		"settings.query_digests: want true or false",
		"settings.query_processor_iterations: -1 is not within 0..4294967295",
		"settings.mysql-server_version: unknown field; did you mean server_version?",
		"rules: unknown field; the fields are settings, ",
	} {
		if !strings.Contains(errs, want) {
			t.Errorf("missing: %s", want)
		}
	}
	if t.Failed() {
		t.Log(errs)
	}
	for _, text := range []string{"a: [", "settings: {query_digests: true}\nsettings: {}", "- 1"} {
		if code, _, errs := run(t, text, "validate", "-"); code != 2 || errs == "" {
			t.Errorf("%q: code %d, %q", text, code, errs)
		}
	}
	if code, out, errs := run(t, "", "validate", "-"); code != 0 {
		t.Errorf("empty document: code %d, %s%s", code, out, errs)
	}
}

func TestRouteLines(t *testing.T) {
	path := file(t, split)
	in := `{"request_id":"5","session":{"username":"app"},"statement":{"text":"SELECT 1 FOR UPDATE"}}
{"session":{"username":"app"},"statement":{"raw_text":"` + base64.StdEncoding.EncodeToString([]byte("SELECT '\xff'")) + `"}}
nonsense
{"session":{"username":"nobody"},"statement":{"text":"SELECT 1"}}

{"session":{"username":"app"},"statement":{"text":"DROP TABLE t"},"min_generation":"9"}
{"session":{"username":"app"},"statement":{"text":"DELETE FROM t"}}`
	code, out, errs := run(t, in, "route", "--config", path, "--ndjson")
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	if code != 1 || len(lines) != 7 || errs != "" {
		t.Fatalf("code %d, %d lines, stderr %q\n%s", code, len(lines), errs, out)
	}
	for i, want := range []string{
		`"request_id":"5",.*"destination_hostgroup":10`, `"destination_hostgroup":20`, `{"line":3,"error":{"code":"INVALID_ARGUMENT"`,
		`{"line":4,"error":{"code":"INVALID_ARGUMENT","message":"session.username`, `{"line":5,"error":`, `{"line":6,"error":{"code":"FAILED_PRECONDITION"`,
		`"reason":"REASON_DEFAULT_HOSTGROUP"`,
	} {
		for part := range strings.SplitSeq(want, ".*") {
			if !strings.Contains(lines[i], part) {
				t.Errorf("line %d is %s, want %s", i+1, lines[i], part)
			}
		}
		if !json.Valid([]byte(lines[i])) {
			t.Errorf("line %d is no JSON: %s", i+1, lines[i])
		}
	}
	code, out, errs = run(t, in, "route", "--config", file(t, "query_rules: [{rule_id: 0}]"), "--ndjson")
	if code != 2 || out != "" || !strings.Contains(errs, "rule_id") {
		t.Errorf("invalid file: code %d, %q, %q", code, out, errs)
	}
}

// TestLinesAreAnsweredOneByOne talks with a bulk verb: each answer comes before the next question.
func TestLinesAreAnsweredOneByOne(t *testing.T) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan int, 1)
	go func() {
		code := ctl.Main(t.Context(), "test", []string{"digest", "--ndjson"}, ctl.IO{In: inR, Out: outW, Err: io.Discard, Getenv: func(string) string { return "" }})
		_ = outW.Close()
		done <- code
	}()
	answers := bufio.NewScanner(outR)
	for i := range 3 {
		fmt.Fprintf(inW, "{\"sql\":\"SELECT %d\"}\n", i)
		if !answers.Scan() || !strings.Contains(answers.Text(), `"digest":"0x1C46AE529DD5A40E"`) {
			t.Fatalf("answer %d: %q", i, answers.Text())
		}
	}
	_ = inW.Close()
	if code := <-done; code != 0 {
		t.Errorf("code %d", code)
	}
}

func TestDigestLines(t *testing.T) {
	long := strings.Repeat("x", 5<<20)
	in := strings.Join([]string{
		`{"sql":"/* hi */ SELECT 1","options":{"keep_comment":false}}`,
		`{"sql_b64":"` + base64.StdEncoding.EncodeToString([]byte("SELECT \xff")) + `"}`,
		`{"digest_text":"SELECT ?","options":{"max_digest_length":2048}}`,
		`{"sql":"SELECT 1","options":{"bogus":1}}`,
		`{"sql":"SELECT 1","options":{"max_query_length":3}}`,
		`{"sql":"a","digest_text":"b"}`,
		`{"sql":"SELECT '` + long + `'"}`,
		`{"sql":"a"} {"sql":"b"}`,
	}, "\n")
	code, out, _ := run(t, in, "digest", "--ndjson")
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	want := []string{
		`{"digest":"0x1C46AE529DD5A40E","digest_text":"SELECT ?","first_comment":" hi "}`,
		`"digest_text_b64":"U0VMRUNUIP8=","first_comment":null}`,
		`{"digest":"0x1C46AE529DD5A40E"}`,
		`{"line":4,"error":`, `{"line":5,"error":`, `{"line":6,"error":`,
		`{"digest":"0x1C46AE529DD5A40E","digest_text":"SELECT ?","first_comment":null}`,
		`{"line":8,"error":`,
	}
	if code != 1 || len(lines) != len(want) {
		t.Fatalf("code %d, %d lines", code, len(lines))
	}
	for i := range want {
		if !strings.Contains(lines[i], want[i]) {
			t.Errorf("line %d is %s, want %s", i+1, lines[i], want[i])
		}
	}
	if code, out, _ := run(t, "", "digest", "SELECT 1"); code != 0 || out != "0x1C46AE529DD5A40E  SELECT ?\n" {
		t.Errorf("one statement: code %d, %q", code, out)
	}
}

func TestSelect(t *testing.T) {
	path := file(t, split)
	code, out, _ := run(t, "", "select", "--config", path, "--hostgroup", "20")
	if code != 0 || !strings.HasPrefix(out, "db2:3306\n") || !strings.Contains(out, "not db3:3306: status OFFLINE_SOFT") {
		t.Errorf("code %d, %q", code, out)
	}
	six := file(t, "servers: [{hostgroup_id: 1, hostname: '2001:db8::1'}]")
	if code, out, _ := run(t, "", "select", "--config", six, "--hostgroup", "1"); code != 0 || out != "[2001:db8::1]:3306\n" {
		t.Errorf("IPv6: code %d, %q", code, out)
	}
	if code, out, _ := run(t, "", "select", "--config", path, "--hostgroup", "77"); code != 1 || out != "none is eligible\n" {
		t.Errorf("no such hostgroup: code %d, %q", code, out)
	}
	in := `{"candidates":{"candidates":[{"weight":0},{"status":"SHUNNED"},{"index":9}]},"seed":"1"}
{"candidates":{}}
{"hostgroup":20}
{"candidates":{"candidates":[{"weight":-1}]}}`
	code, out, _ = run(t, in, "select", "--ndjson")
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	if code != 1 || len(lines) != 4 {
		t.Fatalf("code %d\n%s", code, out)
	}
	for i, want := range []string{`"index":9,"eligible":1`, `"index":-1`, `{"line":3,"error":`, `{"line":4,"error":`} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("line %d is %s, want %s", i+1, lines[i], want)
		}
	}
}

func TestControlCharactersAreEscaped(t *testing.T) {
	code, out, _ := run(t, "", "route", "--config", file(t, split), "--user", "app", "SELECT \x1b[31m")
	if code != 0 || strings.Contains(out, "\x1b") || !strings.Contains(out, `SELECT \x1b[?`) {
		t.Errorf("code %d, %q", code, out)
	}
}

func TestSecondDocumentIsRefused(t *testing.T) {
	code, out, errs := run(t, split+"---\nquery_rules: []\n", "validate", "-")
	if code != 2 || out != "" || !strings.Contains(errs, "more than one document") {
		t.Errorf("code %d, %q, %q", code, out, errs)
	}
}
