package lint_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/lint"
)

// example is a configuration and what lint finds in it.
type example struct {
	Name string
	Want []string
	Cfg  *decision.Config
}

// examples reads testdata/findings.yaml. The columns' names without underscores are those of decision.Config.
func examples(t *testing.T) (out []example) {
	t.Helper()
	raw, err := os.ReadFile("testdata/findings.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var list []map[string]any
	if err := yaml.UnmarshalStrict(raw, &list); err != nil {
		t.Fatal(err)
	}
	for _, item := range list {
		e := example{Name: item["case"].(string), Cfg: &decision.Config{}}
		if want, ok := item["want"].([]any); ok {
			for _, w := range want {
				e.Want = append(e.Want, w.(string))
			}
		}
		delete(item, "case")
		delete(item, "want")
		text, err := json.Marshal(plainKeys(item))
		if err != nil {
			t.Fatal(err)
		}
		dec := json.NewDecoder(strings.NewReader(string(text)))
		dec.DisallowUnknownFields()
		if err := dec.Decode(e.Cfg); err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		out = append(out, e)
	}
	return out
}

func plainKeys(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any)
		for key, item := range v {
			out[strings.ReplaceAll(key, "_", "")] = plainKeys(item)
		}
		return out
	case []any:
		for i := range v {
			v[i] = plainKeys(v[i])
		}
	}
	return v
}

func check(t *testing.T, cfg *decision.Config) []lint.Finding {
	t.Helper()
	g, problems := decision.Compile(1, cfg)
	if g == nil {
		t.Fatal(problems)
	}
	return lint.Check(cfg, g)
}

func TestFindings(t *testing.T) {
	for _, e := range examples(t) {
		t.Run(e.Name, func(t *testing.T) {
			var got []string
			for _, f := range check(t, e.Cfg) {
				line := fmt.Sprintf("%s %s %d %s", f.Code, f.Severity, f.RuleID, f.Path)
				if len(f.OtherRules) > 0 {
					line += " " + strings.Trim(fmt.Sprint(f.OtherRules), "[]")
				}
				got = append(got, line)
				if f.Message == "" || f.Remedy == "" || strings.Contains(f.Message+f.Remedy, "%!") {
					t.Errorf("%+v", f)
				}
			}
			if !slices.Equal(got, e.Want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(e.Want, "\n"))
			}
		})
	}
}

// TestEveryCodeHasItsCases wants for each code a case that has it and a near miss that has not.
func TestEveryCodeHasItsCases(t *testing.T) {
	has, misses := make(map[string]bool), make(map[string]bool)
	for _, e := range examples(t) {
		code, about, _ := strings.Cut(e.Name, ", ")
		if !slices.Contains(lint.Codes(), code) {
			t.Errorf("case %q is named after no code", e.Name)
		}
		wanted := slices.ContainsFunc(e.Want, func(w string) bool { return strings.HasPrefix(w, code+" ") })
		if near := strings.HasPrefix(about, "near miss"); near == wanted {
			t.Errorf("case %q: near miss %t, but it has the code: %t", e.Name, near, wanted)
		}
		has[code] = has[code] || wanted
		misses[code] = misses[code] || !wanted
	}
	for _, code := range lint.Codes() {
		if !has[code] || !misses[code] {
			t.Errorf("%s: a case that has it: %t, a near miss: %t", code, has[code], misses[code])
		}
	}
}
