package decision_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/decision"
)

// readWriteSplit sends writes to 10 and reads to 20.
func readWriteSplit() *decision.Config {
	return &decision.Config{
		Users: []decision.User{
			{Username: "app", DefaultHostgroup: 10},
			{Username: "off", Active: new(false)},
			{Username: "ff", DefaultHostgroup: 30, FastForward: true},
		},
		QueryRules: []decision.QueryRule{
			{RuleID: 1, MatchDigest: new("^SELECT.*FOR UPDATE$"), DestinationHostgroup: new(int64(10)), Apply: true},
			{RuleID: 2, MatchDigest: new("^SELECT"), DestinationHostgroup: new(int64(20)), Timeout: new(int64(500)), Apply: true},
		},
		FastRoutes: []decision.FastRoute{{Username: "app", Schemaname: "crm", DestinationHostgroup: 40}},
	}
}

// hardText is a text on which tooHard takes all the steps it gets.
var hardText = []byte(strings.Repeat("a", 200) + "b")

func tooHard(id int64) decision.QueryRule {
	return decision.QueryRule{RuleID: id, MatchPattern: new("(?=a)(a|aa)+(?!b)$")}
}

// TestTooComplex wants to be told of expressions without an outcome, on the way of the mirrored copy as well.
func TestTooComplex(t *testing.T) {
	behind := tooHard(2)
	behind.FlagIn = 5
	mirror := decision.QueryRule{RuleID: 1, MirrorFlagOut: new(int64(5))}
	stop := decision.QueryRule{RuleID: 1, MatchPattern: new("^a"), Apply: true}
	rewrite := decision.QueryRule{RuleID: 3, MatchPattern: new("^x|(?=a)(a|aa)+(?!b)$"), ReplacePattern: new("y"), ReModifiers: new("GLOBAL")}
	for _, tt := range []struct {
		name  string
		rules []decision.QueryRule
		text  string
		want  bool
	}{
		{"hard", []decision.QueryRule{tooHard(1)}, string(hardText), true},
		{"hard expression, easy text", []decision.QueryRule{tooHard(1)}, "b", false},
		{"not reached", []decision.QueryRule{stop, tooHard(2)}, string(hardText), false},
		{"another flag", []decision.QueryRule{behind}, string(hardText), false},
		{"mirrored copy", []decision.QueryRule{mirror, behind}, string(hardText), true},
		{"mirrored copy, easy text", []decision.QueryRule{mirror, behind}, "b", false},
		{"rewrite", []decision.QueryRule{rewrite}, "x" + string(hardText), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := readWriteSplit()
			cfg.QueryRules = tt.rules
			g, reference := withReference(t, cfg)
			q := question("app", tt.text)
			a := route(t, g, q)
			if a.TooComplex != tt.want {
				t.Errorf("too complex: %t", a.TooComplex)
			}
			if got, want := public(t, a), public(t, route(t, reference, q)); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			agree(t, g, q)
			q.Statement.Text = []byte("SELECT 1")
			if err := g.Route(q, a); err != nil || a.TooComplex {
				t.Errorf("then too complex: %t, %v", a.TooComplex, err)
			}
		})
	}
}

func TestReasons(t *testing.T) {
	g := mustCompile(t, readWriteSplit())
	tests := []struct {
		name        string
		sql         string
		change      func(q *decision.Question)
		destination int32
		reason      decision.Reason
		scope       decision.CacheScope
	}{
		{"rule", "SELECT 1", nil, 20, decision.ReasonRule, decision.ScopeDigest},
		{"default", "UPDATE t SET a=1", nil, 10, decision.ReasonDefaultHostgroup, decision.ScopeDigest},
		{"annotation", "/* hostgroup=7 */ SELECT 1", nil, 7, decision.ReasonAnnotation, decision.ScopeText},
		{"comment", "/* app:web */ SELECT 1", nil, 20, decision.ReasonRule, decision.ScopeDigest},
		{"unknown annotation", "/* app=web */ SELECT 1", nil, 20, decision.ReasonRule, decision.ScopeText},
		{"time", "/* min_epoch_ms=1 */ SELECT 1", nil, 20, decision.ReasonRule, decision.ScopeNone},
		{"long digest", "SELECT " + strings.Repeat("a,", 1500) + "b", nil, 20, decision.ReasonRule, decision.ScopeText},
		{"fast route", "UPDATE t SET a=1", func(q *decision.Question) { q.Session.Schemaname = "crm" }, 40, decision.ReasonFastRoute, decision.ScopeDigest},
		{"apply stops fast routes", "SELECT 1", func(q *decision.Question) { q.Session.Schemaname = "crm" }, 20, decision.ReasonRule, decision.ScopeDigest},
		{"transaction", "SELECT 1", func(q *decision.Question) { q.Session.TransactionHostgroup = 10 }, 10, decision.ReasonTransaction, decision.ScopeNone},
		{"transaction and annotation", "/* hostgroup=7 */ SELECT 1", func(q *decision.Question) { q.Session.TransactionHostgroup = 0 }, 0, decision.ReasonTransaction, decision.ScopeNone},
		{"lock", "SELECT 1", func(q *decision.Question) { q.Session.LockedHostgroup, q.Session.TransactionHostgroup = 5, 10 }, 5, decision.ReasonLocked, decision.ScopeNone},
		{"flag without rules", "SELECT 1", func(q *decision.Question) { q.Session.NextQueryFlagIn = 3 }, 10, decision.ReasonDefaultHostgroup, decision.ScopeDigest},
		{"fast_forward", "/* hostgroup=7 */ SELECT 1", func(q *decision.Question) { q.Session.Username = "ff" }, 30, decision.ReasonDefaultHostgroup, decision.ScopeText},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := question("app", tt.sql)
			if tt.change != nil {
				tt.change(q)
			}
			a := route(t, g, q)
			if a.DestinationHostgroup != tt.destination || a.Reason != tt.reason || a.CacheScope != tt.scope {
				t.Errorf("hostgroup %d, reason %d, scope %d", a.DestinationHostgroup, a.Reason, a.CacheScope)
			}
			if a.Reason == decision.ReasonTransaction && a.Timeout != 500 {
				t.Error("a transaction keeps other effects from counting")
			}
		})
	}
}

func TestFastForward(t *testing.T) {
	g := mustCompile(t, readWriteSplit())
	a := route(t, g, question("ff", "SELECT 1"))
	if a.HasDigest || len(a.DigestText) > 0 || len(a.MatchedRules) > 0 || a.Set != 0 {
		t.Errorf("answer %+v", a)
	}
}

func TestAnswered(t *testing.T) {
	g := mustCompile(t, &decision.Config{
		Users: []decision.User{{Username: "app", DefaultHostgroup: 10}},
		QueryRules: []decision.QueryRule{
			{RuleID: 1, MatchDigest: new("^DROP"), ErrorMsg: new(""), NextQueryFlagIn: new(int64(5)), MirrorHostgroup: new(int64(9)), DestinationHostgroup: new(int64(8))},
		},
	})
	q := question("app", "DROP TABLE t")
	q.Session.TransactionHostgroup = 3
	a := route(t, g, q)
	if a.Reason != decision.ReasonAnswered || a.DestinationHostgroup != decision.None || !a.Has(decision.ErrorMsg) || a.ErrorMsg != "" {
		t.Errorf("answer %+v", a)
	}
	if !a.Has(decision.NextQueryFlagIn) || a.HasMirror {
		t.Error("an answered statement hides its rule's flag or is mirrored")
	}
}

func TestQuestionErrors(t *testing.T) {
	g := mustCompile(t, readWriteSplit())
	tests := []struct {
		field  string
		change func(q *decision.Question)
	}{
		{"session.username", func(q *decision.Question) { q.Session.Username = "" }},
		{"session.username", func(q *decision.Question) { q.Session.Username = "nobody" }},
		{"session.username", func(q *decision.Question) { q.Session.Username = "off" }},
		{"session.proxy_port", func(q *decision.Question) { q.Session.ProxyPort = 65536 }},
		{"statement.command", func(q *decision.Question) { q.Statement.Command = 3 }},
		{"statement", func(q *decision.Question) { q.Statement = decision.Statement{} }},
		{"statement", func(q *decision.Question) { q.Statement = decision.Statement{HasDigest: true} }},
		{"statement", func(q *decision.Question) { q.Statement = decision.Statement{Command: decision.Execute} }},
	}
	for _, tt := range tests {
		q := question("app", "SELECT 1")
		tt.change(q)
		err := g.Route(q, new(decision.Answer))
		if bad, ok := errors.AsType[*decision.QuestionError](err); !ok || bad.Field != tt.field {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

func TestSchemaname(t *testing.T) {
	config := func(userSchema string, setting *string) *decision.Config {
		return &decision.Config{
			Settings: decision.Settings{DefaultSchema: setting},
			Users:    []decision.User{{Username: "app", DefaultSchema: userSchema}},
			QueryRules: []decision.QueryRule{
				{RuleID: 1, Schemaname: "shop"}, {RuleID: 2, Schemaname: "information_schema"}, {RuleID: 3, Schemaname: "crm"},
			},
		}
	}
	tests := []struct {
		session, user string
		setting       *string
		want          uint32
	}{
		{"", "", nil, 2}, {"", "shop", nil, 1}, {"", "", new("crm"), 3}, {"crm", "shop", nil, 3}, {"", "shop", new("crm"), 1},
	}
	for _, tt := range tests {
		q := question("app", "SELECT 1")
		q.Session.Schemaname = tt.session
		if a := route(t, mustCompile(t, config(tt.user, tt.setting)), q); !slices.Equal(a.MatchedRules, []uint32{tt.want}) {
			t.Errorf("%+v: hits %v", tt, a.MatchedRules)
		}
	}
}

func TestDigestsOff(t *testing.T) {
	g := mustCompile(t, &decision.Config{
		Settings: decision.Settings{QueryDigests: new(bool)},
		Users:    []decision.User{{Username: "app"}},
		QueryRules: []decision.QueryRule{
			{RuleID: 1, MatchDigest: new("xyz"), NegateMatchPattern: true}, {RuleID: 2, Digest: "0x1"}, {RuleID: 3, MatchPattern: new("SELECT")},
		},
	})
	a := route(t, g, question("app", "/* hostgroup=5 */ SELECT 1"))
	if !slices.Equal(a.MatchedRules, []uint32{3}) || a.HasDigest || a.Reason != decision.ReasonDefaultHostgroup || a.CacheScope != decision.ScopeText {
		t.Errorf("answer %+v", a)
	}
}

func TestExecuteWithoutText(t *testing.T) {
	g := mustCompile(t, &decision.Config{
		Users: []decision.User{{Username: "app"}},
		QueryRules: []decision.QueryRule{
			{RuleID: 1, MatchPattern: new("SELECT")}, {RuleID: 2, MatchPattern: new("xyz"), NegateMatchPattern: true}, {RuleID: 3, MatchDigest: new("^SELECT")},
		},
	})
	q := question("app", "SELECT 1")
	q.Statement.Command = decision.Prepare
	prepared := route(t, g, q)
	if !prepared.ExecuteNeedsText || !slices.Equal(prepared.MatchedRules, []uint32{1, 2, 3}) {
		t.Errorf("prepared %+v", prepared)
	}
	q.Statement = decision.Statement{Command: decision.Execute, HasDigest: true, Digest: prepared.Digest, DigestText: prepared.DigestText}
	a := route(t, g, q)
	if !slices.Equal(a.MatchedRules, []uint32{3}) || a.CacheScope != decision.ScopeNone || a.Digest != prepared.Digest {
		t.Errorf("executed %+v", a)
	}
}

func TestMatchedRulesAreCut(t *testing.T) {
	g := mustCompile(t, &decision.Config{
		Settings:   decision.Settings{QueryProcessorIterations: new(uint32(1_000_000))},
		Users:      []decision.User{{Username: "app"}},
		QueryRules: []decision.QueryRule{{RuleID: 1, FlagOut: new(int64(0))}, {RuleID: 2, DestinationHostgroup: new(int64(5))}},
	})
	a := route(t, g, question("app", "SELECT 1"))
	if len(a.MatchedRules) != decision.MaxMatchedRules || !a.MatchedRulesTruncated || a.DestinationHostgroup != 5 {
		t.Errorf("%d hits, truncated %t, hostgroup %d", len(a.MatchedRules), a.MatchedRulesTruncated, a.DestinationHostgroup)
	}
}

func TestRewriteThereAndBack(t *testing.T) {
	g := mustCompile(t, &decision.Config{
		Users: []decision.User{{Username: "app"}},
		QueryRules: []decision.QueryRule{
			{RuleID: 1, MatchPattern: new("foo"), ReplacePattern: new("bar")}, {RuleID: 2, MatchPattern: new("bar"), ReplacePattern: new("foo")},
		},
	})
	a := route(t, g, question("app", "SELECT foo"))
	if a.IsRewritten || !slices.Equal(a.MatchedRules, []uint32{1, 2}) {
		t.Errorf("rewritten to %q by %v", a.Rewritten, a.MatchedRules)
	}
}

// TestEndlessRewrite has a rule that makes the text longer with each of a million restarts.
func TestEndlessRewrite(t *testing.T) {
	g := mustCompile(t, &decision.Config{
		Settings:   decision.Settings{QueryProcessorIterations: new(uint32(1_000_000))},
		Users:      []decision.User{{Username: "app"}},
		QueryRules: []decision.QueryRule{{RuleID: 1, MatchPattern: new("^a*"), ReplacePattern: new(`\0a`), FlagOut: new(int64(0))}},
	})
	a := route(t, g, question("app", "a"))
	if !a.IsRewritten || !a.MatchedRulesTruncated {
		t.Errorf("rewritten %t, truncated %t", a.IsRewritten, a.MatchedRulesTruncated)
	}
}

func TestSessionAttributes(t *testing.T) {
	all := decision.QueryRule{RuleID: 1, Schemaname: "s", ClientAddr: "1", ProxyAddr: "2", ProxyPort: new(int64(3))}
	off := all
	off.Active = new(false)
	tests := []struct {
		name string
		cfg  decision.Config
		want []string
	}{
		{"none", decision.Config{}, []string{"username", "next_query_flag_in"}},
		{"all", decision.Config{QueryRules: []decision.QueryRule{all}}, []string{"username", "schemaname", "client_addr", "proxy_addr", "proxy_port", "next_query_flag_in"}},
		{"inactive", decision.Config{QueryRules: []decision.QueryRule{off}}, []string{"username", "next_query_flag_in"}},
		{"fast route", decision.Config{FastRoutes: []decision.FastRoute{{}}}, []string{"username", "schemaname", "next_query_flag_in"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := mustCompile(t, &tt.cfg).SessionAttributes(); !slices.Equal(got, tt.want) {
				t.Errorf("attributes %v, want %v", got, tt.want)
			}
		})
	}
}

func TestCookies(t *testing.T) {
	g := mustCompile(t, readWriteSplit())
	base := route(t, g, question("app", "SELECT 1")).Cookie
	same := question("app", "UPDATE t SET a=1")
	same.Session.ClientAddr, same.Session.ProxyPort, same.Session.TransactionHostgroup = "10.1.2.3", 6033, 4
	same.Session.Schemaname, same.Session.NextQueryFlagIn = "information_schema", 0
	if got := route(t, g, same).Cookie; !slices.Equal(got, base) {
		t.Error("what no rule looks at changes the cookie")
	}
	for name, change := range map[string]func(q *decision.Question){
		"username":           func(q *decision.Question) { q.Session.Username = "ff" },
		"schemaname":         func(q *decision.Question) { q.Session.Schemaname = "crm" },
		"next_query_flag_in": func(q *decision.Question) { q.Session.NextQueryFlagIn = 1 },
	} {
		q := question("app", "SELECT 1")
		change(q)
		if got := route(t, g, q).Cookie; slices.Equal(got, base) {
			t.Errorf("%s doesn't change the cookie", name)
		}
	}
	again, _ := decision.Compile(1, readWriteSplit())
	if got := route(t, again, question("app", "SELECT 1")).Cookie; !slices.Equal(got, base) {
		t.Error("another server's cookie differs")
	}
	next, _ := decision.Compile(2, readWriteSplit())
	if got := route(t, next, question("app", "SELECT 1")).Cookie; slices.Equal(got, base) {
		t.Error("another generation's cookie is the same")
	}
	for i := range base {
		broken := slices.Clone(base)
		broken[i] ^= 1
		if _, _, ok := decision.ParseCookie(broken); ok {
			t.Errorf("a cookie with byte %d changed is taken", i)
		}
	}
	for _, short := range [][]byte{nil, base[:len(base)-1], append(slices.Clone(base), 0)} {
		if _, _, ok := decision.ParseCookie(short); ok {
			t.Errorf("a cookie of %d bytes is taken", len(short))
		}
	}
}

func TestRouteAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	cfg := readWriteSplit()
	cfg.QueryRules = append(cfg.QueryRules,
		decision.QueryRule{RuleID: 3, ClientAddr: "10.0.0.0/8", MirrorFlagOut: new(int64(5))},
		decision.QueryRule{RuleID: 4, MatchPattern: new("t SET"), ReplacePattern: new("t  SET"), ReModifiers: new("GLOBAL")},
		decision.QueryRule{RuleID: 5, FlagIn: 5, MatchDigest: new("^UPDATE"), DestinationHostgroup: new(int64(50))},
	)
	g := mustCompile(t, cfg)
	var a decision.Answer
	for _, sql := range []string{"SELECT * FROM t WHERE id IN (1,2,3)", "/* hostgroup=5;min_gtid=a:5 */ UPDATE t SET a = 1"} {
		q := question("app", sql)
		q.Session.ClientAddr = "::ffff:10.1.2.3"
		run := func() {
			if err := g.Route(q, &a); err != nil {
				t.Fatal(err)
			}
		}
		run()
		if n := testing.AllocsPerRun(100, run); n != 0 {
			t.Errorf("%q: %v allocations", sql, n)
		}
	}
}

func BenchmarkRoute(b *testing.B) {
	g := mustCompile(b, readWriteSplit())
	q := question("app", "SELECT id, name FROM orders WHERE id = 4711 AND status = 'new'")
	var a decision.Answer
	b.ReportAllocs()
	for b.Loop() {
		if err := g.Route(q, &a); err != nil {
			b.Fatal(err)
		}
	}
}
