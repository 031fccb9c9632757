package casefile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/clients/casefile"
	"github.com/pointsman/pointsman/decision"
)

// config is a configuration in the form that readConfig reads.
const config = `{"Users": [{"Username": "app", "DefaultHostgroup": 10, "Password": ""}],
"Servers": [{"HostgroupID": 10, "Hostname": "db1"}, {"HostgroupID": 20, "Hostname": "db2"},
	{"HostgroupID": 20, "Hostname": "db3", "Status": "OFFLINE_SOFT"}, {"HostgroupID": 20, "Hostname": "db4", "Weight": 0}],
"QueryRules": [
	{"RuleID": 1, "MatchDigest": "FOR UPDATE$", "DestinationHostgroup": 10, "Apply": true},
	{"RuleID": 2, "MatchDigest": "^SELECT", "DestinationHostgroup": 20, "CacheTTL": 500, "Apply": true},
	{"RuleID": 3, "MatchPattern": "^USE_FLAG", "NextQueryFlagIn": 7, "OKMsg": "unset"},
	{"RuleID": 4, "MatchPattern": "^FLAG", "NextQueryFlagIn": 7, "ReplacePattern": "x\n\"y\""},
	{"RuleID": 5, "FlagIn": 7, "DestinationHostgroup": 20, "Attributes": "{\"flagOUTs\":[{\"id\":8,\"weight\":1},{\"id\":9,\"weight\":1}]}"}
]}`

// readConfig reads decision.Config as JSON, so that these tests need no more than this package does.
func readConfig(raw []byte) (*decision.Config, error) {
	cfg := &decision.Config{}
	if err := json.Unmarshal(raw, cfg); err != nil {
		return nil, fmt.Errorf("no configuration: %w", err)
	}
	return cfg, nil
}

// inline is a case file with the configuration in it.
func inline(cases string) string {
	return "user: app\n-- config.json --\n" + config + "\n" + cases
}

func run(t *testing.T, text string) (*casefile.File, []casefile.Result) {
	t.Helper()
	f, err := casefile.Parse("x.cases", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	runner := casefile.Runner{Read: readConfig}
	results, err := runner.Run(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f, results
}

func failures(results []casefile.Result) (out []string) {
	for _, r := range results {
		for _, x := range r.Failures {
			out = append(out, fmt.Sprintf("%d %s %s/%s", x.Line, x.Field, x.Want, x.Got))
		}
	}
	return out
}

func TestPassing(t *testing.T) {
	for name, cases := range map[string]string{
		"fields": "-- a --\n> SELECT 1\ndestination_hostgroup: 20\nreason: rule\nmatched_rules: 2\nfast_route: false\nfinal_flag_in: 0\n" +
			"cache_ttl_ms: 500\ncache_scope: digest\ndigest: 0x1C46AE529DD5A40E\ndigest_text: SELECT ?\nerror_msg: unset\nrewritten_text: unset\n" +
			"mirror.destination_hostgroup: unset\neligible_servers: db2:3306\n",
		"several lines":      "-- a --\n> SELECT 1\n> \n>   FOR UPDATE\nmatched_rules: 1\n",
		"bytes":              "-- a --\n>\"SELECT '\\xff\\r\\n'\"\ndigest_text: SELECT ?\nmatched_rules: 2\n",
		"empty line between": "-- a --\n> SELECT 1\nmatched_rules: 2\n\n> UPDATE t SET a = 1\nmatched_rules: unset\nreason: default_hostgroup\n",
		"flag is kept": "-- a --\n> FLAG\nnext_query_flag_in: 7\nrewritten_text: \"x\\n\\\"y\\\"\"\n\n> SELECT 1\nmatched_rules: 5\n" +
			"flag_in: unset\n> SELECT 1\nmatched_rules: 2\n",
		"an answered statement keeps no flag":   "-- a --\n> USE_FLAG\nok_msg: \"unset\"\nnext_query_flag_in: 7\n\n> SELECT 1\nmatched_rules: 2\n",
		"a case starts afresh":                  "-- a --\n> FLAG\nmatched_rules: 4\n-- b --\n> SELECT 1\nmatched_rules: 2\n",
		"transaction":                           "-- a --\ntransaction_hostgroup: 10\n> SELECT 1\nreason: transaction\n\ntransaction_hostgroup: unset\n> SELECT 1\nreason: rule\n",
		"seed":                                  "-- a --\nflag_in: 7\nseed: 1\n> SELECT 1\nfinal_flag_in: 9\nseed: 3\n> SELECT 1\nfinal_flag_in: 8\n",
		"wanted error":                          "-- a --\nuser: nobody\n> SELECT 1\nerror: session.username: is not an active user of this generation\n",
		"execute":                               "-- a --\ncommand: execute\n> FLAG\nrewritten_text: unset\nmatched_rules: 4\n",
		"comments and blank lines do not count": "-- a --\n\n# c\n> SELECT 1\n# c\n\nmatched_rules: 2\n\n# c\n",
		"CRLF":                                  "-- a --\r\n> SELECT 1\r\n> FOR UPDATE\r\nmatched_rules: 1\r\n",
		"no problems":                           "-- a --\nproblem: unset\n",
	} {
		t.Run(name, func(t *testing.T) {
			if _, results := run(t, inline(cases)); len(failures(results)) > 0 {
				t.Error(failures(results))
			}
		})
	}
}

func TestFailing(t *testing.T) {
	head := strings.Count(inline(""), "\n")
	_, results := run(t, inline("-- a --\n> SELECT 1\ndestination_hostgroup: 10\nmatched_rules: 1, 2\nok_msg: unset\n\nuser: nobody\n> SELECT 1\nreason: rule\n-- b --\nproblem: error bad_digest query_rules[0].digest\n"))
	want := []string{
		fmt.Sprintf("%d destination_hostgroup 10/20", head+3),
		fmt.Sprintf("%d matched_rules 1 2/2", head+4),
		fmt.Sprintf("%d error unset/session.username: is not an active user of this generation", head+8),
		fmt.Sprintf("%d problem error bad_digest query_rules[0].digest/unset", head+11),
	}
	if got := failures(results); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q", got)
	}
	if got := strings.Join(results[0].Failures[0].Explain, " "); got != "--config config.json --user app SELECT 1" {
		t.Errorf("explain %s", got)
	}
}

// TestByteOrderMark wants a file of an editor that writes one to be read, and kept as it is.
func TestByteOrderMark(t *testing.T) {
	text := "\ufeff" + inline("-- a --\n> SELECT 1\nretries: unset\n")
	f, results := run(t, text)
	if got := string(f.Update(results)); len(failures(results)) > 0 || got != text {
		t.Errorf("%q, update gives\n%s", failures(results), got)
	}
}

func TestExplainArguments(t *testing.T) {
	for text, want := range map[string]string{
		"> SELECT 1\n":          "--user app|SELECT 1",
		"> -- c\n> SELECT 1\n":  "--user app|--|-- c\nSELECT 1",
		">\"SELECT '\\x00'\"\n": "--user app|--text-file|statement.sql",
		"seed: 3\n> SELECT 1\n": "--user app|--seed|3|SELECT 1",
		"> SELECT '" + strings.Repeat("x", 64<<10-7) + "\n":   "--user app|--text-file|statement.sql",
		"command: prepare\nschema: s\nflag_in: 7\n> SELECT\n": "--user app|--schema|s|--flag-in|7|--command|prepare|SELECT",
	} {
		_, results := run(t, inline("-- a --\n"+text+"retries: 99\n"))
		want = "--config config.json " + want
		if got := strings.Replace(strings.Join(results[0].Failures[0].Explain, "|"), "|", " ", 3); got != want {
			t.Errorf("%.40q: %.100q, want %q", text, got, want)
		}
	}
}

func TestProblems(t *testing.T) {
	const bad = "-- bad.json --\n{\"QueryRules\": [{\"RuleID\": 1, \"Digest\": \"x\"}, {\"RuleID\": 1}]}\n"
	_, results := run(t, bad+"-- a --\nproblem: error bad_digest   query_rules[0].digest\nproblem: error duplicate_key query_rules[1].rule_id\n")
	if got := failures(results); len(got) > 0 {
		t.Error(got)
	}
	f, results := run(t, bad+"-- a --\nproblem: error bad_digest query_rules[9].digest\nproblem: error x y\n# end\n")
	if got := failures(results); len(got) != 4 {
		t.Error(got)
	}
	want := bad + "-- a --\nproblem: error bad_digest query_rules[0].digest\nproblem: error duplicate_key query_rules[1].rule_id\n# end\n"
	if got := string(f.Update(results)); got != want {
		t.Errorf("update gives\n%s", got)
	}
}

func TestUpdate(t *testing.T) {
	before := "-- a --\n# first\n>  SELECT 1 \ndestination_hostgroup:   10\n# kept\nreason: rule  \r\n\n" +
		"> FLAG\nrewritten_text: unset\r\n\nflag_in: unset\n> SELECT\n> 2\n\nuser: nobody\n> SELECT 1\nreason: rule\n-- b --\n>\"SELECT '\\xff'\""
	after := "-- a --\n# first\n>  SELECT 1 \ndestination_hostgroup: 20\n# kept\nreason: rule  \r\n\n" +
		"> FLAG\nrewritten_text: \"x\\n\\\"y\\\"\"\r\n\nflag_in: unset\n> SELECT\n> 2\ndestination_hostgroup: 20\nreason: rule\nmatched_rules: 2\ncache_ttl_ms: 500\n" +
		"\nuser: nobody\n> SELECT 1\nreason: rule\n-- b --\n>\"SELECT '\\xff'\"\ndestination_hostgroup: 20\nreason: rule\nmatched_rules: 2\ncache_ttl_ms: 500\n"
	// A leading blank keeps the text from beginning with SELECT, in the pattern's eyes; the digest has none.
	f, results := run(t, inline(before))
	got := string(f.Update(results))
	if got != inline(after) {
		t.Fatalf("update gives\n%s", got)
	}
	f, results = run(t, got)
	if again := string(f.Update(results)); again != got {
		t.Errorf("a second update gives\n%s", again)
	}
	if got := failures(results); len(got) != 1 || !strings.Contains(got[0], "error") {
		t.Errorf("after the update: %q", got)
	}
}

func TestMistakes(t *testing.T) {
	const head = "config: c.yaml\n-- a --\n"
	for text, want := range map[string]string{
		"":                                              "x.cases:1: no cases",
		"nonsense\n":                                    "x.cases:1: neither a comment",
		"reason: rule\n":                                "x.cases:1: reason is no field of the session (user, ",
		"> SELECT 1\n":                                  "x.cases:1: a statement outside of a case",
		"-- a --\n> SELECT 1\n":                         `x.cases:1: case "a": no configuration`,
		head:                                            `x.cases:2: case "a" has no statement`,
		head + "reason: rule\n":                         "x.cases:3: reason is no field of the session",
		head + ">SELECT 1\n":                            "x.cases:3: no blank after >",
		head + ">\"SELECT\n":                            "x.cases:3: the quoted statement can't be read",
		head + "> a\n>\"b\"\n":                          "x.cases:4: a quoted statement stands in one line",
		head + "> a\nhostgroup: 1\n":                    "x.cases:4: hostgroup is no field of the answer; the fields are session_attributes, cache_scope",
		head + "> a\nreason: x\n":                       `x.cases:4: reason: "x" is none of rule, fast_route`,
		head + "> a\nretries: x\n":                      `x.cases:4: retries: "x" is no number`,
		head + "> a\nfast_route: x\n":                   `x.cases:4: fast_route: "x" is neither true nor false`,
		head + "> a\nfast_route: unset\n":               "x.cases:4: fast_route is never unset",
		head + "> a\nmatched_rules: x\n":                `x.cases:4: matched_rules: "x" is no number`,
		head + "> a\nok_msg: \"x\n":                     "x.cases:4: ok_msg: the quoted text can't be read",
		head + "> a\nretries: 1\nretries: 2\n":          "x.cases:5: retries is already in line 4",
		head + "> a\nretries: 1\nuser: b\n":             "x.cases:5: a session field after the last statement",
		head + "> a\nuser: b\nretries: 1\n> c\n":        "x.cases:5: retries is wanted of the statement in line 3",
		head + "> a\nretries: 1\nconfig: b\n":           "x.cases:5: config stands before the first statement",
		head + "> a\nretries: 1\nproblem: unset\n":      "x.cases:5: problem stands before the first statement",
		head + "problem: x\n":                           "x.cases:3: problem: want severity, code and path",
		head + "problem: unset\nproblem: error a b\n":   "x.cases:4: problem: unset says that there are none",
		head + "proxy_port: 65536\n":                    `x.cases:3: proxy_port: "65536" is no number from 0 to 65535`,
		head + "command: begin\n":                       `x.cases:3: command: "begin" is none of query, prepare, execute`,
		head + "problem: unset\n-- a --\n> b\n":         `x.cases:4: there is a section "a" in line 2 already`,
		"-- a.yaml --\n-- b.yaml --\n-- c --\n> SELECT": `x.cases:3: case "c": the file has several configurations`,
	} {
		_, err := casefile.Parse("x.cases", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

func TestConfigurationThatCantBeUsed(t *testing.T) {
	for text, want := range map[string]string{
		"-- c.json --\n{\n-- a --\n> SELECT 1\nretries: 1\n":                             "x.cases:3: configuration c.json: no configuration",
		"config: none.json\n-- a --\n> SELECT 1\nretries: 1\n-- b --\n> a\nretries: 1\n": "x.cases:1: configuration none.json: open none.json",
		"-- c.json --\n{\"QueryRules\": [{}]}\n-- a --\n> SELECT 1\nretries: 1\n":        "x.cases:3: configuration c.json can't be compiled: query_rules[0].rule_id: ",
	} {
		f, err := casefile.Parse("x.cases", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		runner := casefile.Runner{Read: readConfig}
		_, err = runner.Run(f, nil)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestUnfinishedAndRun(t *testing.T) {
	f, err := casefile.Parse("x.cases", []byte(inline("-- a --\n> SELECT 1\n-- b --\n> SELECT 1\nretries: unset\n")))
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Unfinished(); len(got) != 1 || !strings.Contains(got[0], "nothing is wanted of this statement") {
		t.Errorf("unfinished: %q", got)
	}
	runner := casefile.Runner{Read: readConfig}
	results, err := runner.Run(f, regexp.MustCompile("^b$"))
	if err != nil || len(results) != 1 || results[0].Case.Name != "b" {
		t.Errorf("%v, %v", results, err)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.cases", "a/c.cases", "a/d.yaml", "e/f.txt"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := casefile.Find([]string{dir, filepath.Join(dir, "a/d.yaml")})
	if err != nil || strings.ReplaceAll(strings.Join(got, " "), dir+"/", "") != "a/c.cases b.cases a/d.yaml" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := casefile.Find([]string{filepath.Join(dir, "e")}); err == nil || !strings.Contains(err.Error(), "no case files") {
		t.Error(err)
	}
	if _, err := casefile.Find([]string{filepath.Join(dir, "x")}); err == nil {
		t.Error("a missing file is no error")
	}
}

// FuzzParse checks that a file that can be read is its own update once its answers are in it.
func FuzzParse(f *testing.F) {
	f.Add("-- a --\n> SELECT 1\n\n> FLAG\nok_msg: \"x\"\n-- b --\nproblem: unset\n")
	f.Add("-- a --\r\n>\"\\xff\"\r\nflag_in: 7\n> \n>\nreason: rule")
	f.Fuzz(func(t *testing.T, cases string) {
		file, err := casefile.Parse("x.cases", []byte(inline(cases)))
		if err != nil {
			return
		}
		runner := casefile.Runner{Read: readConfig}
		results, err := runner.Run(file, nil)
		if err != nil {
			return // another configuration
		}
		first := string(file.Update(results))
		file, err = casefile.Parse("x.cases", []byte(first))
		if err != nil {
			t.Fatalf("%q: the update can't be read: %v", first, err)
		}
		if results, err = runner.Run(file, nil); err != nil {
			t.Fatal(err)
		}
		for i := range results {
			for _, x := range results[i].Failures {
				if x.Field != "error" && x.Field != "problem" {
					t.Fatalf("%q: after the update %+v", first, x)
				}
			}
		}
		if second := string(file.Update(results)); second != first {
			t.Fatalf("%q becomes %q", first, second)
		}
	})
}
