package guideline

import (
	"fmt"
	"testing"
)

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
		// Dotted words are words.
		{"1 a.b", "syntax error, unexpected identifier, expecting end of expression or error in 'a.b'", "a.b"},
		{"SQRT a.b", "syntax error, unexpected identifier, expecting ( in 'a.b'", "a.b"},
		{"1 'a.b'", "syntax error, unexpected string, expecting end of expression or error in ''a.b''", "'a.b'"},
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

// An object or array that no tag stands beside is at fault before what stands behind it.
func TestGroupErrors(t *testing.T) {
	stray := func(group string, character int) string {
		return fmt.Sprintf("syntax error, unexpected character: '%s' (character %d)", group, character)
	}
	for _, c := range []struct{ text, message string }{
		{"[1]", stray("[", 1)},
		{"([1]", stray("[", 2)},
		{"[1] OR IN", stray("[", 1)},
		{"[]= <=  $.server.tags.q.x", stray("[", 1)},
		{"[1] 'a' ,", stray("[", 1)},
		{`{"a":1}<>,`, stray("{", 1)},
		{"{\"a\":\"}\"} =\n", stray("{", 1)},
		{"[1] ;", stray("[", 1)},
		{"[1] = $.nothing", stray("[", 1)},
		{"[1] = (1 + 'a')", stray("[", 1)},
		{"[1] IN ($.server.tags.x, 'a')", stray("[", 1)},
		{"[1] IN ($.server.tags.x, $.server.tags.y, 'a')", stray("[", 1)},
		{"NULL IN (NULL, [1])", stray("[", 16)},
		{"'a' NOT IN ('b', $.server.tags.x, 'c', {})", stray("{", 40)},
		{"CONCAT('a', [1] 2)", stray("[", 13)},
		{"$.session.user IN ('a', [1] 2)", stray("[", 25)},
		{"$.server.tags.x + [1] 2", stray("[", 19)},
		{"$.server.tags.x = [1] + 2 +", stray("[", 19)},
		{"$.server.tags.x = -[1] 2", stray("[", 20)},
		{"$.server.tags.x IN ([1] OR", stray("[", 21)},
		{"$.server.tags.x IN (CONCAT([1]", stray("[", 28)},
		// Beside a tag it is none, and faults before it come first.
		{"$.server.tags.x = [1] 2", "syntax error, unexpected number, expecting end of expression or error (character 23)"},
		{"$.server.tags.x = ([1] 2", "syntax error, unexpected number (character 24)"},
		{"$.server.tags.x IN ([1], {} 2", "syntax error, unexpected number, expecting ) or \",\" (character 29)"},
		{"[1] = $.server.tags.x 2", "syntax error, unexpected number, expecting end of expression or error (character 23)"},
		{"$.server.tags.x = ([1 2])", "syntax error, invalid JSON text: Missing a comma or ] after an array element in '[1 '"},
		{"(1 + 'a') = [1]", "type error, + operator, right operand, expected NUMBER but got STRING in '1 + 'a''"},
		{"1 2 [1]", "syntax error, unexpected number, expecting end of expression or error (character 3)"},
		{"1 + 'a' [1]", "type error, + operator, right operand, expected NUMBER but got STRING in '1 + 'a'', " + stray("[", 9)},
	} {
		_, bad := ParseExpression(c.text, ParseOptions{JSONTags: true})
		if bad == nil || bad.Message != c.message {
			t.Errorf("%q:\n got %v\nwant %s", c.text, bad, c.message)
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

// Only AND and OR leave anything out: a NULL does not hide what fails behind it, nor before it.
func TestNullHidesNoError(t *testing.T) {
	const (
		network = "Network function called on invalid IPv4 address: 'x'"
		resolve = "No cache entry to resolve host: six"
		number  = "NUMBER function, unable to convert 'x' to number in 'NUMBER($.session.schema)'"
		badMask = "NETWORK function invalid netmask value: 33"
	)
	for _, c := range []struct{ text, message, dry string }{
		{"CONCAT(NULL, NETWORK('x', 8))", network, ""},
		{"CONCAT(NETWORK('x', 8), NULL)", network, ""},
		{"CONCAT(NULL, NETWORK('x', 8), RESOLVE_V4(six))", network, ""},
		{"STARTSWITH($.session.user, NETWORK('x', 8))", network, ""},
		{"ENDSWITH($.session.user, NETWORK('x', 8)) = TRUE", network, ""},
		{"CONTAINS($.sql.queryTags.a, Resolve_v4( six ))", resolve, ""},
		{"REGEXP_LIKE($.session.user, NETWORK('x', 8))", network, ""},
		{"SUBSTRING_INDEX($.session.user, NETWORK('x', 8), 1) = 'a'", network, ""},
		{"SUBSTRING_INDEX($.session.user, 'a', NUMBER($.session.schema)) = 'a'", number, ""},
		{"SUBSTRING_INDEX('a', $.session.user, NUMBER($.session.schema)) = 'a'", number, ""},
		{"NUMBER(SUBSTRING_INDEX($.session.user, RESOLVE_V6(six), 1)) > 1", resolve, ""},
		{"IS_IPV4(CONCAT($.session.user, NETWORK('x', 8)))", network, ""},
		{"NETWORK(CONCAT($.session.user, RESOLVE_V4(six)), 8) = 'a'", resolve, ""},
		{"$.session.targetPort + NUMBER($.session.schema) = 1", number, ""},
		{"NUMBER($.session.schema) % $.session.targetPort < 1", number, ""},
		{"-($.session.targetPort * NUMBER($.session.schema)) = 1", number, ""},
		{"$.session.user = NETWORK('x', 8)", network, ""},
		{"NETWORK('x', 8) <> $.session.user", network, ""},
		{"NULL = NETWORK('x', 8)", network, ""},
		{"$.session.targetPort = NUMBER($.session.schema)", number, ""},
		{"$.session.user < NETWORK('x', 8)", network, ""},
		{"NETWORK('x', 8) >= $.session.user", network, ""},
		{"$.session.targetPort <= NUMBER($.session.schema)", number, ""},
		{"$.session.user IN ('a', NETWORK('x', 8))", network, ""},
		{"$.session.user NOT IN (NETWORK('x', 8), NULL)", network, ""},
		{"NULL IN (NULL, RESOLVE_V4(six))", resolve, ""},
		{"$.session.targetPort IN (1, NUMBER($.session.schema))", number, ""},
		{"'a' IN (NETWORK('x', 8), 'a')", network, ""},
		{"CONCAT($.session.user, NETWORK('x', 8)) LIKE 'a%'", network, ""},
		{"CONCAT($.session.user, NETWORK('x', 8)) NOT LIKE 'a_'", network, ""},
		{"$.server.tags.x = NETWORK('x', 8)", network, ""},
		{"$.server.tags.x < NETWORK('x', 8)", network, ""},
		{"$.server.tags.x IN ('a', NETWORK('x', 8))", network, ""},
		{"NETWORK('x', 8) IN ($.server.tags.x, NULL)", network, ""},
		{"NOT CONTAINS($.session.user, NETWORK('x', 8))", network, ""},
		// The dry run looks at masks, and knows no addresses.
		{"CONTAINS($.server.tags.x, NETWORK($.server.address, 33)) = TRUE", "Type error, expected string", badMask},
		{"$.server.tags.x IN ('a', NETWORK($.server.address, 33))", "Type error, expected string", badMask},
		{"SUBSTRING_INDEX($.server.tags.x, NETWORK('10.0.0.1', 33), 1) = 'a'", "Valid mask length for IPv4 address is between 1 and 32", badMask},
		{"CONCAT(NULL, NETWORK('10.0.0.1', 33)) = 'a'", "Valid mask length for IPv4 address is between 1 and 32", badMask},
	} {
		for _, o := range []ParseOptions{{}, {JSONTags: true}} {
			e, bad := ParseExpression(c.text, o)
			if bad != nil {
				t.Errorf("%q: %v", c.text, bad)
				continue
			}
			facts := func() *Facts {
				return &Facts{Session: &Session{Schema: "x", Null: 1<<sessionUser | 1<<sessionTargetPort}}
			}
			_, matchErr := e.Match(facts())
			_, evalErr := e.Eval(facts())
			for how, err := range map[string]error{"Match": matchErr, "Eval": evalErr, "Explain": e.Explain(facts()).Err} {
				if err == nil || err.Error() != c.message {
					t.Errorf("%s of %q:\n got %v\nwant %s", how, c.text, err, c.message)
				}
			}
			switch _, err := e.DryRun(); {
			case c.dry == "" && c.message != number && err != nil:
				t.Errorf("a dry run of %q: %v", c.text, err)
			case c.dry != "" && (err == nil || err.Error() != c.dry):
				t.Errorf("a dry run of %q: %v, want %s", c.text, err, c.dry)
			}
		}
	}
}
