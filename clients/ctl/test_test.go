package ctl_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestOurCases runs the core's own case files.
func TestOurCases(t *testing.T) {
	code, out, errs := run(t, "", "test", "../../decision/testdata")
	if code != 0 || !strings.Contains(out, "ok    ../../decision/testdata/reasons.cases") {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
}

// caseFile writes a case file and its configuration.
func caseFile(t *testing.T, cases string) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(file(t, split)), "x.cases")
	if err := os.WriteFile(path, []byte(cases), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const someCases = `config: config.yaml
user: app
-- right --
> SELECT 1
destination_hostgroup: 20
-- wrong --
> SELECT 'it''s'
destination_hostgroup: 10
reason: fast_route
`

func TestCaseFiles(t *testing.T) {
	path := caseFile(t, someCases)
	code, out, _ := run(t, "", "test", path)
	want := "--- FAIL: wrong (" + path + ":6)\n" +
		"    SELECT 'it''s'\n" +
		"    " + path + ":8: destination_hostgroup: want 10, got 20\n" +
		"    " + path + ":9: reason: want fast_route, got rule\n" +
		"    why: pointsmanctl explain --config " + filepath.Join(filepath.Dir(path), "config.yaml") + " --user app 'SELECT '\\''it'\\'''\\''s'\\'''\n" +
		"FAIL  " + path + "  1 of 2 cases failed\n"
	if code != 1 || out != want {
		t.Errorf("code %d\n%s\nwant\n%s", code, out, want)
	}
	if code, out, _ := run(t, "", "test", filepath.Dir(path), "--run", "^right"); code != 0 || out != "ok    "+path+"  1 cases\n" {
		t.Errorf("--run: code %d\n%s", code, out)
	}
	code, out, _ = run(t, "", "test", "-o", "json", path)
	var doc struct {
		Passed, Failed int
		Files          []struct {
			Cases []struct {
				Name     string
				Pass     bool
				Failures []struct {
					Line      int
					Statement string
					Field     string
					Want, Got string
					Explain   []string
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 1 || doc.Passed != 1 || doc.Failed != 1 {
		t.Fatalf("-o json: code %d, %v\n%s", code, err, out)
	}
	failures := doc.Files[0].Cases[1].Failures
	if len(failures) != 2 || failures[1].Field != "reason" || failures[1].Got != "rule" || failures[1].Line != 9 {
		t.Fatalf("-o json: %s", out)
	}
	// The hint is a command that runs and tells the same.
	code, out, errs := run(t, "", append([]string{"explain"}, failures[1].Explain...)...)
	if code != 0 || !strings.Contains(out, "20") {
		t.Errorf("explain: code %d\n%s%s", code, out, errs)
	}
}

// TestHintsThatRun wants the command that a failure names to run, whatever the statement holds.
func TestHintsThatRun(t *testing.T) {
	path := caseFile(t, "config: config.yaml\nuser: app\n-- dashes --\n> -- c\n> SELECT 1\nretries: 9\n-- bytes --\n"+
		`>"SELECT '\xff\u202e\n\\'"`+"\nretries: 9\n-- NUL --\n"+`>"SELECT '\x00'"`+"\nretries: 9\n-- long --\n> SELECT '"+strings.Repeat("x", 70_000)+"'\nretries: 9\n")
	code, out, _ := run(t, "", "test", path)
	config := " --config " + filepath.Join(filepath.Dir(path), "config.yaml") + " --user app "
	for _, want := range []string{
		"explain" + config + `-- $'-- c\nSELECT 1'` + "\n",
		"explain" + config + `$'SELECT \'\xff\xe2\x80\xae\n\\\''` + "\n",
		"explain" + config + "--text-file statement.sql\n         statement.sql is this statement",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%.3000s", want, out)
		}
	}
	if code != 1 || len(out) > 6000 || !utf8.ValidString(out) || strings.ContainsAny(out, "\x00\u202e") {
		t.Errorf("code %d, %d bytes\n%.3000q", code, len(out), out)
	}
	code, out, errs := run(t, "", append(strings.Fields("explain"+config), "--", "-- c\nSELECT 1")...)
	if code != 0 || !strings.Contains(out, "hostgroup 20") {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
}

func TestUpdateCaseFiles(t *testing.T) {
	path := caseFile(t, someCases+"-- new --\n> DROP TABLE t\n-- no answer --\nuser: nobody\n> SELECT 1\nreason: rule\n")
	code, out, _ := run(t, "", "test", "--update", path)
	if code != 1 || !strings.HasPrefix(out, "wrote "+path+"\n--- FAIL: no answer") || !strings.Contains(out, "1 of 4 cases failed") {
		t.Errorf("code %d\n%s", code, out)
	}
	want := strings.Replace(strings.Replace(someCases, "hostgroup: 10", "hostgroup: 20", 1), "fast_route", "rule", 1) +
		"-- new --\n> DROP TABLE t\ndestination_hostgroup: unset\nreason: answered\nmatched_rules: 3\nerror_msg: no\n" +
		"-- no answer --\nuser: nobody\n> SELECT 1\nreason: rule\n"
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	if _, out, _ := run(t, "", "test", "--update", path); strings.Contains(out, "wrote") {
		t.Errorf("a second update:\n%s", out)
	}
}

func TestCaseFilesThatCantRun(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"test"}, "requires at least 1 arg"},
		{[]string{"test", dir}, "no case files (*.cases)"},
		{[]string{"test", filepath.Join(dir, "x")}, "no such file"},
		{[]string{"test", caseFile(t, someCases), "--run", "nothing"}, `no case has a name that matches "nothing"`},
		{[]string{"test", caseFile(t, someCases), "--run", "("}, "flag --run"},
		{[]string{"test", caseFile(t, "nonsense\n"), caseFile(t, "-- a --\n")}, "x.cases:1: case \"a\" has no statement"},
		{[]string{"test", caseFile(t, "config: x.yaml\n-- a --\n> SELECT 1\nretries: 1\n")}, "x.cases:1: configuration x.yaml: open "},
		{[]string{"test", caseFile(t, "config: config.yaml\n-- a --\n> SELECT 1\n")}, "x.cases:3: nothing is wanted"},
		{[]string{"test", caseFile(t, "-- c.yaml --\nquery_rules: [{rule_id: x}]\n-- a --\n> SELECT 1\nretries: 1\n")}, "query_rules[0].rule_id: want a whole number"},
	} {
		if code, out, errs := run(t, "", tt.args...); code != 2 || out != "" || !strings.Contains(errs, tt.want) {
			t.Errorf("%q: code %d, stdout %q, stderr %q", tt.args, code, out, errs)
		}
	}
}
