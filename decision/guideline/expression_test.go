package guideline

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
)

// expressionCase is a line of testdata/expressions.ndjson.
type expressionCase struct {
	ID         string
	Version    string // empty: 1.0
	Expression string
	Context    json.RawMessage // variables, or the name of a set in testdata/expressions_contexts.json
	Hosts      map[string][]string

	Type     string
	Value    any
	Truthy   *bool
	Phase    string
	Error    string
	Contains bool // Error is a part of the message
}

func readExpressionCases(tb testing.TB) []expressionCase {
	tb.Helper()
	file, err := os.Open("testdata/expressions.ndjson")
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	var cases []expressionCase
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var c expressionCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			tb.Fatalf("%s: %v", lines.Text(), err)
		}
		if c.Version == "" {
			c.Version = "1.0"
		}
		cases = append(cases, c)
	}
	return cases
}

// variables gives the context's variables.
func (c *expressionCase) variables(tb testing.TB) []Variable {
	tb.Helper()
	named := make(map[string]map[string]any)
	text, err := os.ReadFile("testdata/expressions_contexts.json")
	if err == nil {
		err = json.Unmarshal(text, &named)
	}
	if err != nil {
		tb.Fatal(err)
	}
	var name string
	values := make(map[string]any)
	if json.Unmarshal(c.Context, &name) == nil {
		values = named[name]
	} else if len(c.Context) > 0 {
		if err := json.Unmarshal(c.Context, &values); err != nil {
			tb.Fatal(err)
		}
	}
	var vars []Variable
	for name, value := range values {
		vars = append(vars, Variable{name, valueOf(value)})
	}
	return vars
}

func valueOf(v any) Value {
	switch v := v.(type) {
	case string:
		return Value{Type: String, Text: v}
	case float64:
		return Value{Type: Number, Number: v}
	case bool:
		return Value{Type: Boolean, Bool: v}
	}
	return Value{}
}

// plain gives a value as the cases have it.
func plain(v Value) any {
	switch v.Type {
	case Number:
		switch {
		case math.IsNaN(v.Number):
			return "NaN"
		case math.IsInf(v.Number, 1):
			return "Infinity"
		case math.IsInf(v.Number, -1):
			return "-Infinity"
		}
		return v.Number
	case String, RoleType:
		return v.Text
	case Boolean:
		return v.Bool
	case Null:
	}
	return nil
}

func TestExpressions(t *testing.T) {
	for _, c := range readExpressionCases(t) {
		t.Run(c.ID, func(t *testing.T) {
			vars := c.variables(t)
			value, err := Evaluate(c.Version, c.Expression, vars, NewNames(c.Hosts))
			if c.Error != "" {
				switch {
				case err == nil:
					t.Fatalf("%q gives %v, want the error %q", c.Expression, plain(value), c.Error)
				case err.Phase != c.Phase:
					t.Errorf("%q fails in phase %q, want %q", c.Expression, err.Phase, c.Phase)
				case c.Contains && !strings.Contains(err.Message, c.Error), !c.Contains && err.Message != c.Error:
					t.Errorf("%q:\n got %q\nwant %q", c.Expression, err.Message, c.Error)
				}
				return
			}
			if err != nil {
				t.Fatalf("%q: %v", c.Expression, err)
			}
			if c.Truthy != nil {
				if value.truth() != *c.Truthy {
					t.Errorf("%q gives %v, want its truth to be %v", c.Expression, plain(value), *c.Truthy)
				}
				return
			}
			if got := strings.ToLower(value.Type.String()); got != c.Type || plain(value) != c.Value {
				t.Errorf("%q gives %s %v, want %s %v", c.Expression, got, plain(value), c.Type, c.Value)
			}
		})
	}
}
