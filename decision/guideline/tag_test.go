package guideline

import "testing"

// Tags of documents above version 1.0, spec 16.
func TestTagsAsJSON(t *testing.T) {
	vars := []Variable{}
	for name, text := range map[string]string{
		"text": `"eu-West"`, "n": "41", "negative": "-4.5", "true": "true", "false": "false", "null": "null", "zero": "0", "empty": `""`,
		"object": `{"a":{"b":[1,"x y"]}}`, "list": `[]`, "quoted": `"41"`, "escaped": `"a\"\u00e9\n"`, "same": `"EU-west"`, "n2": "41.0",
	} {
		vars = append(vars, Variable{"server.tags." + name, Value{Type: String, Text: text}})
	}
	vars = append(vars, Variable{"session.user", Value{Type: String, Text: "EU-WEST"}})
	yes, no := []string{
		"$.server.tags.n = 41.0", "41 = $.server.tags.n", "$.server.tags.n = 40 + 1", "$.server.tags.negative = -4.5", "-4.5 = $.server.tags.negative",
		"$.server.tags.text = 'EU-WEST'", "$.server.tags.text = $.session.user", "$.server.tags.text = $.server.tags.same",
		"$.server.tags.n = $.server.tags.n2", "$.server.tags.true = TRUE", "FALSE = $.server.tags.false", "$.server.tags.null = NULL", "NULL = $.server.tags.null",
		"$.server.tags.missing <> NULL", "$.server.tags.missing <> 41", "$.server.tags.missing = $.router.tags.missing", "$.server.tags.missing = $.session.schema",
		`$.server.tags.object = {"a": {"b": [1, "x y"]}}`, `{"a":{"b":[1,"x y"]}} = ($.server.tags.object)`, "[] = $.server.tags.list",
		`$.server.tags.object IN (1, {"a":{"b":[1,"x y"]}}, 'x')`, "41 IN ($.server.tags.text, $.server.tags.n)", "$.server.tags.n IN ('41', 41)",
		"$.server.tags.null IN (NULL)", "$.server.tags.missing NOT IN (NULL, 1)", "NULL IN ($.server.tags.null)",
		"$.server.tags.n > 9", "9 < $.server.tags.n", "$.server.tags.text < 'f'", "'F' > $.server.tags.text", "$.server.tags.negative < $.server.tags.n",
		"$.server.tags.text LIKE 'EU-%'", "$.server.tags.n LIKE '4_'", "CONTAINS($.server.tags.text, 'u-w')", "CONTAINS($.server.tags.object, '\"b\":[')",
		"NUMBER($.server.tags.quoted) = NUMBER($.server.tags.n)", "$.server.tags.escaped = 'a\"é\\n'", "STARTSWITH($.server.tags.escaped, 'a\"é')",
		"NOT $.server.tags.zero", "NOT $.server.tags.false", "NOT $.server.tags.null", "NOT $.server.tags.empty", "NOT $.server.tags.missing",
		"TRUE AND $.server.tags.list", "TRUE AND $.server.tags.n", "TRUE AND $.server.tags.true", "($.server.tags.false AND TRUE) = FALSE",
	}, []string{
		"$.server.tags.n = '41'", "$.server.tags.quoted = 41", "$.server.tags.true = 'true'", "$.server.tags.missing = NULL", "NULL = $.server.tags.missing",
		"$.server.tags.null <> NULL", "$.server.tags.null = $.server.tags.missing", "$.server.tags.null = $.session.schema", "$.server.tags.n <> 41",
		"$.server.tags.n < '9'", "$.server.tags.text > 9", "$.server.tags.true > 'a'", "$.server.tags.missing > 1", "$.server.tags.null >= $.server.tags.null",
		"$.server.tags.n = $.server.tags.quoted", `$.server.tags.object = '{"a":{"b":[1,"x y"]}}'`, `$.server.tags.object = {"a": {"b": [1, "xy"]}}`,
		"$.server.tags.missing IN (NULL)", "NULL IN ($.server.tags.missing)", "$.server.tags.text = $.session.schema",
	}
	check := func(texts []string, want bool) {
		for _, text := range texts {
			value, err := Evaluate("1.1", text, vars, nil)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			if value.truth() != want {
				t.Errorf("%s is %v, want %v", text, !want, want)
			}
			facts, _, factsErr := factsOf(vars)
			e, bad := ParseExpression(text, ParseOptions{JSONTags: true})
			if factsErr != nil || bad != nil {
				t.Fatal(factsErr, bad)
			}
			sameAnswers(t, e, facts)
		}
	}
	check(yes, true)
	check(no, false)
	for _, c := range []struct{ text, want string }{
		{"$.server.tags.text", "eu-West"}, {"$.server.tags.n", "41"}, {"$.server.tags.null", "null"}, {"CONCAT($.server.tags.escaped)", "a\"é\n"},
	} {
		if value, err := Evaluate("1.1", c.text, vars, nil); err != nil || value != (Value{Type: String, Text: c.want}) {
			t.Errorf("%s gives %+v (%v), want %q", c.text, value, err, c.want)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"$.server.tags.n = $.server.port", "type error, = operator, the type of left operand does not match right, expected STRING but got NUMBER in '$.server.tags.n = $.server.port'"},
		{"$.server.tags.true = ($.session.user AND TRUE)", "type error, = operator, the type of left operand does not match right, expected STRING but got BOOLEAN in '$.server.tags.true = ($.session.user AND TRUE)'"},
		{"$.server.tags.n + 1 = 42", "type error, + operator, left operand, expected NUMBER but got STRING in '$.server.tags.n + 1'"},
		{"$.server.tags.n < TRUE", "type error, < operator, the type of left operand does not match right, expected STRING but got BOOLEAN in '$.server.tags.n < TRUE'"},
		{"$.session.user = {\"a\":1}", "syntax error, unexpected character: '{' (character 18)"},
		{"[1] = [1]", "syntax error, unexpected character: '[' (character 1)"},
		{"{}", "syntax error, unexpected character: '{' (character 1)"},
		{"$.server.address IN ['a', 'b']", "syntax error, unexpected character: '[' (character 21)"},
		{"$.server.address = ['a']", "syntax error, unexpected character: '[' (character 20)"},
		{"['a'] = $.server.tags.n", "syntax error, unexpected character: '[' (character 1)"},
		{"$.server.tags.n = {a: 1}", "syntax error, invalid JSON text: Missing a name for object member (character 19)"},
		{"$.server.tags.n IN ({\"a\": }, 'a')", "syntax error, invalid JSON text: Invalid value in '{\"a\": '"},
		{"1 {}", "syntax error, unexpected character: '{' (character 3)"},
		{"CONCAT($.server.tags.n, [1])", "syntax error, unexpected character: '[' (character 25)"},
		{"[1] IN ($.server.tags.list, 'a')", "syntax error, unexpected character: '[' (character 1)"},
	} {
		if _, err := Evaluate("1.1", c.text, vars, nil); err == nil || err.Phase != "parse" || err.Message != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}
