package ctl_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/decision/lint"
)

const lintPage = "lint.md"

// findings lints a configuration and gives the codes.
func findings(t *testing.T, config string) (code int, codes []string) {
	t.Helper()
	code, out, errs := run(t, config, "lint", "-o", "json", "-")
	var doc struct {
		Findings []struct {
			Code       string  `json:"code"`
			Severity   string  `json:"severity"`
			RuleID     int64   `json:"rule_id"`
			Path       string  `json:"path"`
			Message    string  `json:"message"`
			Remedy     string  `json:"remedy"`
			OtherRules []int64 `json:"other_rules"`
		} `json:"findings"`
	}
	dec := json.NewDecoder(strings.NewReader(out))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		t.Fatalf("%v\n%s%s", err, out, errs)
	}
	for _, f := range doc.Findings {
		if f.Path == "" || f.Message == "" || f.Remedy == "" {
			t.Errorf("%+v", f)
		}
		codes = append(codes, f.Severity+" "+f.Code)
	}
	return code, codes
}

// TestEveryFindingIsDocumented wants a section for each code that has its severities and a configuration with the finding.
func TestEveryFindingIsDocumented(t *testing.T) {
	text := page(t, lintPage)
	sections := regexp.MustCompile(`(?m)^### (.*)$`).FindAllStringSubmatch(text, -1)
	for _, s := range sections {
		if !slices.Contains(lint.Codes(), s[1]) {
			t.Errorf("section %s is about no code", s[1])
		}
	}
	for _, code := range lint.Codes() {
		_, body, found := strings.Cut(text, "\n### "+code+"\n\n")
		body, _, _ = strings.Cut(body, "\n### ")
		block := codeBlock.FindStringSubmatch(body)
		if !found || block == nil || !strings.HasPrefix(block[2], "# "+code+".yaml\n") || !strings.Contains(body, "**Remedy:**") {
			t.Errorf("%s: the section, its example or its remedy is missing", code)
			continue
		}
		_, codes := findings(t, block[2])
		i := slices.IndexFunc(codes, func(c string) bool { return strings.HasSuffix(c, " "+code) })
		if i < 0 {
			t.Errorf("%s: its example has %q", code, codes)
			continue
		}
		severity, _, _ := strings.Cut(codes[i], " ")
		line, _, _ := strings.Cut(body, ". ")
		if !strings.Contains(strings.ToLower(line), severity) {
			t.Errorf("%s is a %s, but the section begins %q", code, severity, line)
		}
	}
}

func TestLint(t *testing.T) {
	if code, codes := findings(t, "query_rules: [{rule_id: 1, flag_in: 3}]"); code != 1 || !slices.Equal(codes, []string{"warning unreachable_rule"}) {
		t.Errorf("a warning: code %d, %q", code, codes)
	}
	if code, codes := findings(t, "query_rules: [{rule_id: 1, digest: '5'}]"); code != 0 || !slices.Equal(codes, []string{"hint decimal_digest"}) {
		t.Errorf("a hint: code %d, %q", code, codes)
	}
	if code, codes := findings(t, ""); code != 0 || len(codes) > 0 {
		t.Errorf("nothing: code %d, %q", code, codes)
	}
	if code, out, _ := run(t, "", "lint", "-"); code != 0 || out != "no findings\n" {
		t.Errorf("nothing, for people: code %d, %q", code, out)
	}
	code, out, _ := run(t, "query_rules: [{rule_id: 0}]", "lint", "-")
	if code != 1 || !strings.HasPrefix(out, "error: query_rules[0].rule_id: ") {
		t.Errorf("a problem: code %d, %q", code, out)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"lint", "none.yaml"}, "no such file"},
		{[]string{"lint", "-", "--generation", "3"}, "not for a file"},
		{[]string{"lint", "--server", "127.0.0.1:1", "--timeout", "2s"}, "is the decision server running?"},
	} {
		if code, out, errs := run(t, "", tt.args...); code != 2 || out != "" || !strings.Contains(errs, tt.want) {
			t.Errorf("%q: code %d, stdout %q, stderr %q", tt.args, code, out, errs)
		}
	}
}

// TestLintOfTheShop wants lint to find slips in the large example.
func TestLintOfTheShop(t *testing.T) {
	text, err := os.ReadFile("../../deploy/examples/shop/config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if code, codes := findings(t, string(text)); code != 0 || !slices.Equal(codes, []string{"hint backtracking_expression"}) {
		t.Errorf("as it is: code %d, %q", code, codes)
	}
	for _, tt := range []struct{ old, slip, want string }{
		{"{rule_id: 120,", "{rule_id: 172,", "warning shadowed_cache_rule"},
		{"(carts|cart_items)\\b', destination_hostgroup: 10, apply: true", "(carts|cart_items)\\b', destination_hostgroup: 10", "warning overridden_destination"},
		{"nextval\\(', destination_hostgroup: 10, apply: true", "nextval\\(', destination_hostgroup: 10", "warning overridden_destination"},
		{"'^\\(*(SELECT|WITH)\\b', timeout: 10000", "'^\\(*(SELECT|WITH)\\b', timeout: 10000, apply: true", "hint apply_hides_fast_route"},
		{"schemaname: tenant_acorn,", "schemaname: tenant_admin,", "warning fast_route_flag"},
	} {
		if strings.Count(string(text), tt.old) != 1 {
			t.Fatalf("%q is not there once", tt.old)
		}
		if _, codes := findings(t, strings.Replace(string(text), tt.old, tt.slip, 1)); !slices.Contains(codes, tt.want) {
			t.Errorf("%q instead of %q: %q", tt.slip, tt.old, codes)
		}
	}
}
