package guideline

import "testing"

// What the cases in testdata don't say of error texts and their places.
func TestExpressionErrors(t *testing.T) {
	for _, c := range []struct {
		text, message string
		piece         string // the bytes it is about
	}{
		// Characters are counted, bytes are what carets go by.
		{"'é' = 'é' ;", "syntax error, unexpected character: ';' (character 11)", ";"},
		{"'é' = ü", "syntax error, unexpected character: 'ü' (character 7)", "ü"},
		{"'é' + 1", "type error, + operator, left operand, expected NUMBER but got STRING in ''é' + 1'", "'é' + 1"},
		{"é", "syntax error, unexpected character: 'é' (character 1)", "é"},
		// Parentheses around operands belong to an operation, those around itself don't.
		{"((1) + ('a'))", "type error, + operator, right operand, expected NUMBER but got STRING in '(1) + ('a')'", "(1) + ('a')"},
		{"-('a')", "type error, - operator, expected NUMBER but got STRING in '-('a')'", "-('a')"},
		{"('a') IN (1)", "type error, in operator, type of element at offset 0 does not match the type of searched element, expected STRING but got NUMBER in '('a') IN (1)'", "('a') IN (1)"},
		{"1 NOT IN (1, 'a')", "type error, in operator, type of element at offset 1 does not match the type of searched element, expected NUMBER but got STRING in '1 NOT IN (1, 'a')'", "1 NOT IN (1, 'a')"},
		// Of several faults the first in the text.
		{"SQRT('x') + )", "type error, SQRT function, expected NUMBER but got STRING in 'SQRT('x')'", "SQRT('x')"},
		{"1 = 'a' = 2", "type error, = operator, the type of left operand does not match right, expected NUMBER but got STRING in '1 = 'a''", "1 = 'a'"},
		{"1 = 'a' 2", "type error, = operator, the type of left operand does not match right, expected NUMBER but got STRING in '1 = 'a''", "1 = 'a'"},
		{"1 + 'a' ;", "type error, + operator, right operand, expected NUMBER but got STRING in '1 + 'a'', syntax error, unexpected character: ';' (character 9)", "1 + 'a'"},
		{"1 + 'a' + ;", "type error, + operator, right operand, expected NUMBER but got STRING in '1 + 'a''", "1 + 'a'"},
		{"1 + ;", "syntax error, unexpected character: ';' (character 5)", ";"},
		{"$.x + 'a'", "undefined variable: x in '$.x'", "$.x"},
		// A NUL ends the text.
		{"1 = 1\x00 ;", "", ""},
		{"'a\x00'", "syntax error, unclosed ' (character 1)", "'"},
		// Lists.
		{"SQRT(", "syntax error, unexpected end of expression (character 5)", "("},
		{"SQRT(4", "syntax error, unexpected end of expression, expecting ) or \",\" (character 6)", "4"},
		{"SQRT()", "syntax error, function SQRT expected 1 argument but got none in 'SQRT()'", "SQRT()"},
		{"SQRT(,)", "syntax error, unexpected \",\" (character 6)", ","},
		{"CONCAT()", "CONCAT function, no arguments provided in 'CONCAT()'", "CONCAT()"},
		{"(1, 2)", "syntax error, unexpected \",\" (character 3)", ","},
		{"(1 2)", "syntax error, unexpected number (character 4)", "2"},
		{"1 IN 2", "syntax error, unexpected number, expecting ( (character 6)", "2"},
		{"1 NOT", "syntax error, unexpected end of expression, expecting T_IN or T_LIKE in 'NOT'", "NOT"},
		{"TRUE AND", "syntax error, unexpected end of expression in 'AND'", "AND"},
		{"'a' NOT LIKE 'a' = TRUE", "syntax error, unexpected = (character 18)", "="},
		// Types.
		{"$.server.memberRole = REPLICA", "type error, incompatible operands for comparison: 'MEMBER ROLE' vs 'CLUSTER ROLE' in '$.server.memberRole = REPLICA'", "$.server.memberRole = REPLICA"},
		{"$.server.clusterRole <> SECONDARY", "type error, incompatible operands for comparison: 'CLUSTER ROLE' vs 'MEMBER ROLE' in '$.server.clusterRole <> SECONDARY'", "$.server.clusterRole <> SECONDARY"},
		{"1 < NULL", "type error, < operator, the type of left operand does not match right, expected NUMBER but got NULL in '1 < NULL'", "1 < NULL"},
		{"'a' LIKE 1", "type error, LIKE operator, right operand, expected STRING but got NUMBER in ''a' LIKE 1'", "'a' LIKE 1"},
		{"'a' LIKE $.session.user", "LIKE operator only accepts string literals as its right operand in ''a' LIKE $.session.user'", "'a' LIKE $.session.user"},
		{"SQRT(NULL)", "type error, SQRT function, expected NUMBER but got NULL in 'SQRT(NULL)'", "SQRT(NULL)"},
		{"NETWORK('10.0.0.1', $.server.port)", "NETWORK function only accepts number literals as its second parameter in 'NETWORK('10.0.0.1', $.server.port)'", "NETWORK('10.0.0.1', $.server.port)"},
		{"RESOLVE_V6('a_b')", "RESOLVE_V6 function, invalid hostname: 'a_b' in 'RESOLVE_V6('a_b')'", "RESOLVE_V6('a_b')"},
		{"REGEXP_LIKE('a', '(?=a)')", "REGEXP_LIKE function invalid regular expression: look-ahead and look-behind can't be matched in linear time: (?= at character 1 in 'REGEXP_LIKE('a', '(?=a)')'", "REGEXP_LIKE('a', '(?=a)')"},
	} {
		_, bad := ParseExpression(c.text, ParseOptions{})
		if c.message == "" {
			if bad != nil {
				t.Errorf("%q: %v", c.text, bad)
			}
			continue
		}
		if bad == nil {
			t.Errorf("%q is understood, want %q", c.text, c.message)
			continue
		}
		if bad.Message != c.message || c.text[bad.Start:bad.End] != c.piece {
			t.Errorf("%q:\n got %q about %q\nwant %q about %q", c.text, bad.Message, c.text[bad.Start:bad.End], c.message, c.piece)
		}
	}
}

// What fails only when it is evaluated.
func TestEvaluationErrors(t *testing.T) {
	for _, c := range []struct{ text, message string }{
		{"NUMBER($.session.user) = 1", "NUMBER function, unable to convert 'app' to number in 'NUMBER($.session.user)'"},
		{"FALSE OR NUMBER(CONCAT('x')) = 1", "NUMBER function, unable to convert 'x' to number in 'NUMBER(CONCAT('x'))'"},
		{"(5 OR TRUE) = ('a' OR TRUE)", "Incompatible operands for comparison: 'NUMBER' vs 'STRING' in '(5 OR TRUE) = ('a' OR TRUE)'"},
		{"NETWORK($.session.schema, 8) = 'x'", "Type error, expected string"},
		{"NETWORK($.session.user, 8) <> 'x'", "Network function called on invalid IPv4 address: 'app'"},
		{"NETWORK($.session.sourceIP, 8) = '10.0.0.0'", "Type error, expected string"},
		{"RESOLVE_V4('Db1') = 'x'", "No cache entry to resolve host: db1"},
		{"REGEXP_LIKE('a', $.session.connectAttrs.p)", `REGEXP_LIKE function invalid regular expression: back-references can't be matched in linear time at character 4 in 'REGEXP_LIKE('a', $.session.connectAttrs.p)'`},
	} {
		e, bad := ParseExpression(c.text, ParseOptions{})
		if bad != nil {
			t.Errorf("%q: %v", c.text, bad)
			continue
		}
		f := &Facts{Session: &Session{User: "app", ConnectAttrs: map[string]string{"p": `(a)\1`}, Null: 1<<sessionSchema | 1<<sessionSourceIP}}
		if _, err := e.Match(f); err == nil || err.Error() != c.message {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.message)
		}
	}
}
