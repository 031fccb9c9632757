package guideline

import "errors"

// EvaluationError says in which phase an evaluation failed: "parse" or "eval".
type EvaluationError struct {
	Phase, Message string
}

// Error gives the message.
func (e *EvaluationError) Error() string { return e.Message }

// Evaluate evaluates an expression of a document of that version. Of the language's own variables those that are not given
// read NULL; given ones of any other name are further variables. A tag's value is its compact JSON text.
func Evaluate(version, expression string, vars []Variable, names Names) (Value, *EvaluationError) {
	v, ok := parseVersion(version)
	if !ok {
		return Value{}, &EvaluationError{"parse", "Invalid routing guidelines version format. Expected <major>.<minor> got " + version}
	}
	facts, extra, err := factsOf(vars)
	if err != nil {
		return Value{}, &EvaluationError{"eval", err.Error()}
	}
	facts.Names = names
	e, bad := ParseExpression(expression, ParseOptions{JSONTags: v.jsonTags(), Extra: extra})
	if bad != nil {
		return Value{}, &EvaluationError{"parse", bad.Message}
	}
	value, err := e.Eval(facts)
	if err != nil {
		return Value{}, &EvaluationError{"eval", err.Error()}
	}
	return value, nil
}

// factsOf makes facts of variables by their names; those that the language does not have come back as extra.
func factsOf(vars []Variable) (f *Facts, extra []Variable, err error) {
	f = &Facts{spelled: make(map[int]string)}
	var router, server, session []Variable
	for _, v := range vars {
		n := variableNode(v.Name, &ParseOptions{})
		switch {
		case n == nil:
			extra = append(extra, v)
		case n.op == opAbsent: // nobody can know it
		case n.variable.scope == scopeRouter:
			router = append(router, v)
		case n.variable.scope == scopeServer:
			server = append(server, v)
			if n.typ == RoleType {
				f.spelled[n.variable.id] = v.Value.Text
			}
		default:
			session = append(session, v)
		}
	}
	var errs [3]error
	f.Router, errs[0] = NewRouter(router)
	f.Server, errs[1] = NewServer(server)
	f.Session, errs[2] = NewSession(session)
	return f, extra, errors.Join(errs[:]...)
}
