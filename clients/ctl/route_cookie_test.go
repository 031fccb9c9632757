package ctl_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestRouteLinesFollowCookies: offline as by the server, a session without a random value stays what its cookie says, also refused.
func TestRouteLinesFollowCookies(t *testing.T) {
	path := file(t, split+`
guideline_binding: {writer_hostgroup: 10, reader_hostgroup: 20}
guideline:
  version: "1.1"
  name: half
  destinations: [{name: any, match: $.server.port > 0}]
  routes:
    - name: half
      match: $.session.randomValue < 0.5
      destinations: [{classes: [any], strategy: round-robin, priority: 0}]
`)
	type answer struct {
		Cookie    string `json:"cookie"`
		Reason    string `json:"reason"`
		Guideline struct {
			Route string `json:"route"`
		} `json:"guideline"`
	}
	ask := func(lines []string) []answer {
		t.Helper()
		code, out, errs := run(t, strings.Join(lines, "\n"), "route", "--config", path, "--ndjson")
		if code != 0 || errs != "" {
			t.Fatalf("code %d, %q\n%s", code, errs, out)
		}
		var answers []answer
		for line := range strings.Lines(out) {
			var a answer
			if err := json.Unmarshal([]byte(line), &a); err != nil || a.Reason != "REASON_GUIDELINE" {
				t.Fatalf("%s: error %v", line, err)
			}
			answers = append(answers, a)
		}
		return answers
	}
	lines := func(n int, more string) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = `{"session":{"username":"app"},"statement":{"text":"DELETE FROM t"}` + more + `}`
		}
		return out
	}
	routes := map[string]bool{}
	for _, first := range ask(lines(60, "")) { // the chance that all are alike is 2^-59
		if routes[first.Guideline.Route] {
			continue
		}
		routes[first.Guideline.Route] = true
		for _, again := range ask(lines(60, fmt.Sprintf(`,"cookie":%q`, first.Cookie))) {
			if again != first {
				t.Fatalf("first %+v, then %+v", first, again)
			}
		}
	}
	if len(routes) != 2 {
		t.Errorf("routes %v", routes)
	}
}
