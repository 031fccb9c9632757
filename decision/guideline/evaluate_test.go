package guideline

import "testing"

func TestEvaluateRefuses(t *testing.T) {
	for _, c := range []struct {
		version string
		vars    []Variable
		want    EvaluationError
	}{
		{"one", nil, EvaluationError{"parse", "Invalid routing guidelines version format. Expected <major>.<minor> got one"}},
		{"1.0", []Variable{{"server.port", Value{Type: String, Text: "3306"}}}, EvaluationError{"eval", "server.port: expected NUMBER but got STRING"}},
		{
			"1.0",
			[]Variable{{"server.memberRole", Value{Type: String, Text: "BOSS"}}},
			EvaluationError{"eval", `server.memberRole: there is no role "BOSS", use PRIMARY, SECONDARY, READ_REPLICA, REPLICA or UNDEFINED`},
		},
	} {
		if _, err := Evaluate(c.version, "1 = 1", c.vars, nil); err == nil || *err != c.want || err.Error() != c.want.Message {
			t.Errorf("version %s with %v: %+v, want %+v", c.version, c.vars, err, c.want)
		}
	}
}

// What nobody can know reads NULL, whatever is given for it; names that the language lacks are further variables.
func TestEvaluateVariables(t *testing.T) {
	vars := []Variable{
		{"sql.queryTags.a", Value{Type: String, Text: "x"}},
		{"mysql", Value{Type: Number, Number: 8}},
		{"none", Value{}},
		{"router.port.ro", Value{Type: Number, Number: 6447}},
		{"server.clusterSetName", Value{Type: String, Text: "cs"}},
		{"server.memberRole", Value{Type: String, Text: "Read_Replica"}},
		{"server.clusterRole", Value{Type: String, Text: ""}},
	}
	for text, want := range map[string]any{
		"$.sql.queryTags.a": nil, "$.mysql + 1": 9.0, "$.none = NULL": true, "$.router.port.ro": 6447.0, "$.router.port.rw": nil, "$.server.clusterSetName": "cs",
		"$.server.memberRole": "Read_Replica", "CONCAT($.server.memberRole)": "Read_Replica", "$.server.memberRole = READ_REPLICA": true, "$.server.clusterRole": "UNDEFINED",
		`'\r\b\0\Z\n\t\x\\y'`: "\r\b\x00\x1a\n\tx\\y",
	} {
		value, err := Evaluate("1.0", text, vars, nil)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if plain(value) != want {
			t.Errorf("%q is %q, want %q", text, plain(value), want)
		}
	}
}
