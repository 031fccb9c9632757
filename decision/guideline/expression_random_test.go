package guideline

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// randomText writes expressions of a wanted type, mostly well-typed ones.
type randomText struct {
	rng      *rand.Rand
	jsonTags bool
}

func pick[T any](rng *rand.Rand, all ...T) T { return all[rng.IntN(len(all))] }

func (r *randomText) of(typ Type, depth int) string {
	if r.rng.IntN(40) == 0 { // ill-typed now and then
		typ = pick(r.rng, Number, String, Boolean, RoleType, Null)
	}
	switch typ {
	case Number:
		return r.number(depth)
	case String:
		return r.text(depth)
	case Boolean:
		return r.boolean(depth)
	case RoleType:
		return pick(r.rng, "$.server.memberRole", "$.server.clusterRole", "PRIMARY", "secondary", "REPLICA", "UNDEFINED")
	case Null:
	}
	return "NULL"
}

func (r *randomText) number(depth int) string {
	if depth == 0 {
		return pick(r.rng, "0", "1", "6446", "0.5", "41", "1e999", "$.server.port", "$.session.targetPort", "$.session.randomValue",
			"$.router.port.rw", "$.server.version")
	}
	switch r.rng.IntN(5) {
	case 0:
		return "-" + r.of(Number, depth-1)
	case 1:
		return "NUMBER(" + r.of(String, depth-1) + ")"
	case 2:
		return "SQRT(" + r.of(Number, depth-1) + ")"
	default:
		return "(" + r.of(Number, depth-1) + pick(r.rng, "+", " - ", "*", "/", "%") + r.of(Number, depth-1) + ")"
	}
}

func (r *randomText) text(depth int) string {
	if depth == 0 || r.rng.IntN(3) > 0 {
		return pick(r.rng, "''", "'app'", "\"APP\"", "app", "'a%'", "'41'", "'é'", "'10.1.2.3'", "'10.1.0.0'", "$.session.user", "$.session.schema",
			"$.session.sourceIP", "$.session.connectAttrs.app", "$.session.connectAttrs.none", "$.router.name", "$.server.label",
			"$.server.tags.text", "$.server.tags.number", "$.server.tags.null", "$.server.tags.true", "$.server.tags.list",
			"$.server.tags.escaped", "$.server.tags.none", "$.router.tags.text", "$.sql.queryTags.x", "RESOLVE_V4('db1')", "RESOLVE_V6(db1)")
	}
	switch r.rng.IntN(3) {
	case 0:
		return fmt.Sprintf("SUBSTRING_INDEX(%s, %s, %s)", r.of(String, depth-1), r.of(String, depth-1), r.of(Number, depth-1))
	case 1:
		return fmt.Sprintf("CONCAT(%s, %s)", r.of(pick(r.rng, String, Number, Boolean), depth-1), r.of(String, depth-1))
	default:
		return fmt.Sprintf("NETWORK(%s, %s)", r.of(String, depth-1), pick(r.rng, "8", "16", "24", "32", "33"))
	}
}

func (r *randomText) boolean(depth int) string {
	if depth == 0 {
		return pick(r.rng, "TRUE", "FALSE", "$.server.isClusterInvalidated", "1 = 1", "$.session.user = app")
	}
	typ := pick(r.rng, Number, String, String, String, Boolean, RoleType, Null)
	switch r.rng.IntN(10) {
	case 0:
		return "NOT (" + r.of(typ, depth-1) + ")"
	case 1:
		return "(" + r.of(typ, depth-1) + pick(r.rng, " AND ", " OR ") + r.of(pick(r.rng, Number, String, Boolean, Null), depth-1) + ")"
	case 2:
		return "(" + r.of(Boolean, depth-1) + pick(r.rng, " AND ", " OR ") + r.of(Boolean, depth-1) + pick(r.rng, " AND ", " OR ") +
			r.of(Boolean, depth-1) + ")"
	case 3:
		return "(" + r.of(pick(r.rng, Number, String), depth-1) + pick(r.rng, " < ", " <= ", " > ", " >= ") + r.of(pick(r.rng, Number, String), depth-1) + ")"
	case 4:
		return r.of(String, depth-1) + pick(r.rng, " LIKE ", " NOT LIKE ") +
			pick(r.rng, "'%'", "'a%'", "'%p'", "'%pp%'", "'a_p'", "'%a%p%'", "'app'", "'_'", "'%%'", "'10.%'")
	case 5:
		return fmt.Sprintf("%s(%s, %s)", pick(r.rng, "STARTSWITH", "ENDSWITH", "CONTAINS"), r.of(String, depth-1), r.of(String, depth-1))
	case 6:
		return fmt.Sprintf("%s(%s)", pick(r.rng, "IS_IPV4", "IS_IPV6"), r.of(String, depth-1))
	case 7:
		return fmt.Sprintf("REGEXP_LIKE(%s, %s)", r.of(String, depth-1), pick(r.rng, "'a.*'", "'(app|41)'", "'[0-9.]+'", "$.session.user"))
	case 8:
		elements := make([]string, 1+r.rng.IntN(3))
		for i := range elements {
			elements[i] = r.element(typ, depth-1)
		}
		if r.rng.IntN(8) == 0 {
			elements[0] += ", 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'App'"
		}
		return r.of(typ, depth-1) + pick(r.rng, " IN (", " NOT IN (") + strings.Join(elements, ", ") + ")"
	default:
		return "(" + r.element(typ, depth-1) + pick(r.rng, " = ", " <> ") + r.element(typ, depth-1) + ")"
	}
}

// element writes what may be compared, JSON beside tags included.
func (r *randomText) element(typ Type, depth int) string {
	if r.jsonTags && typ == String && r.rng.IntN(3) == 0 {
		return pick(r.rng, "$.server.tags.list", "$.server.tags.number", "41", "TRUE", "NULL", `[1, "a"]`, `{"a":1}`, "'41'", "-41")
	}
	return r.of(typ, depth)
}

// randomFacts makes facts from few values, so that many comparisons hold.
func randomFacts(rng *rand.Rand) *Facts {
	text := func() string {
		return pick(rng, "", "app", "App", "apq", "a", "41", "é", "10.1.2.3", "10.1.0.0", "::1", "a\np")
	}
	number := func() float64 { return pick(rng, 0, 0.25, 0.5, 41, 6446, 80403) }
	tags := map[string]string{
		"text": pick(rng, `"app"`, `"APP"`, `""`, `"10.1.2.3"`), "number": pick(rng, "41", "41.0", "0", "-41"), "null": "null",
		"true": pick(rng, "true", "false"), "list": pick(rng, `[1,"a"]`, `{"a":1}`, "[]"), "escaped": `"\u0061pp"`,
	}
	f := &Facts{Names: Names{{Name: "db1"}: "10.1.2.3"}}
	if rng.IntN(5) > 0 {
		f.Router = &Router{Name: text(), PortRW: number(), Tags: tags, Null: Variables(rng.Uint32() & rng.Uint32() & rng.Uint32())}
	}
	if rng.IntN(5) > 0 {
		f.Server = &Server{
			Label: text(), Port: number(), Version: number(), IsClusterInvalidated: rng.IntN(2) == 0, MemberRole: Role(rng.IntN(4)),
			ClusterRole: pick(rng, Undefined, Primary, Replica), Tags: tags, Null: Variables(rng.Uint32() & rng.Uint32() & rng.Uint32()),
		}
	}
	if rng.IntN(5) > 0 {
		f.Session = &Session{
			User: text(), Schema: text(), SourceIP: text(), TargetPort: number(), RandomValue: number(),
			ConnectAttrs: map[string]string{"app": text()}, Null: Variables(rng.Uint32() & rng.Uint32() & rng.Uint32()),
		}
	}
	return f
}

// sameAnswers compares the compiled form with the walk over the tree.
func sameAnswers(tb testing.TB, e *Expression, f *Facts) {
	tb.Helper()
	value, wantErr := e.Eval(f)
	match, err := e.Match(f)
	if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
		tb.Fatalf("%q: Match fails with %v, Eval with %v", e.text, err, wantErr)
	}
	// The value of a bare tag is a text, its truth is that of its JSON: only the walker has both.
	w := walker{facts: f, extra: e.extra}
	if d, failed := w.eval(e.tree); failed == nil && match != d.truth() {
		tb.Fatalf("%q: Match gives %v, the walk %v\nrouter %+v\nserver %+v\nsession %+v", e.text, match, value, f.Router, f.Server, f.Session)
	}
}

func TestCompiledFormEqualsWalk(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	parsed, matched, failed := 0, 0, 0
	for range 30_000 {
		r := randomText{rng: rng, jsonTags: rng.IntN(2) == 0}
		text := r.of(Boolean, 1+rng.IntN(4))
		e, bad := ParseExpression(text, ParseOptions{JSONTags: r.jsonTags})
		if bad != nil {
			checkPlace(t, text, bad)
			continue
		}
		parsed++
		for range 4 {
			f := randomFacts(rng)
			sameAnswers(t, e, f)
			switch match, err := e.Match(f); {
			case err != nil:
				failed++
			case match:
				matched++
			}
		}
	}
	t.Logf("%d expressions, %d of 4 evaluations each true, %d failed", parsed, matched, failed)
	if parsed < 10_000 || matched < 10_000 || failed < 1000 {
		t.Errorf("only %d expressions parsed, %d evaluations were true and %d failed: the generator is off", parsed, matched, failed)
	}
}

// checkPlace sees that an error has a message and lies in the text.
func checkPlace(tb testing.TB, text string, bad *ExpressionError) {
	tb.Helper()
	if bad.Message == "" || bad.Start < 0 || bad.End < bad.Start || bad.End > len(text) {
		tb.Fatalf("%q: %+v does not lie in the text", text, bad)
	}
}
