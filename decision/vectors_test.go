package decision_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/digest"
)

// vectors reads a list of cases from testdata.
func vectors[T any](tb testing.TB, name string) []T {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	var list []T
	if err := json.Unmarshal(data, &list); err != nil {
		tb.Fatal(err)
	}
	if len(list) == 0 {
		tb.Fatalf("%s is empty", name)
	}
	return list
}

// bit is a column that the vectors give as 0 or 1.
type bit int

func (f *bit) bool() *bool {
	if f == nil {
		return nil
	}
	b := *f != 0
	return &b
}

type vectorRule struct {
	RuleID               int64   `json:"rule_id"`
	Active               *bit    `json:"active"`
	Username             string  `json:"username"`
	Schemaname           string  `json:"schemaname"`
	FlagIn               int64   `json:"flagIN"`
	ClientAddr           string  `json:"client_addr"`
	ProxyAddr            string  `json:"proxy_addr"`
	ProxyPort            *int64  `json:"proxy_port"`
	Digest               string  `json:"digest"`
	MatchDigest          *string `json:"match_digest"`
	MatchPattern         *string `json:"match_pattern"`
	NegateMatchPattern   bit     `json:"negate_match_pattern"`
	ReModifiers          *string `json:"re_modifiers"`
	FlagOut              *int64  `json:"flagOUT"`
	ReplacePattern       *string `json:"replace_pattern"`
	DestinationHostgroup *int64  `json:"destination_hostgroup"`
	CacheTTL             *int64  `json:"cache_ttl"`
	CacheEmptyResult     *bit    `json:"cache_empty_result"`
	CacheTimeout         *int64  `json:"cache_timeout"`
	Reconnect            *bit    `json:"reconnect"`
	Timeout              *int64  `json:"timeout"`
	Retries              *int64  `json:"retries"`
	Delay                *int64  `json:"delay"`
	NextQueryFlagIn      *int64  `json:"next_query_flagIN"`
	MirrorFlagOut        *int64  `json:"mirror_flagOUT"`
	MirrorHostgroup      *int64  `json:"mirror_hostgroup"`
	ErrorMsg             *string `json:"error_msg"`
	OKMsg                *string `json:"OK_msg"`
	StickyConn           *bit    `json:"sticky_conn"`
	Multiplex            *int64  `json:"multiplex"`
	GTIDFromHostgroup    *int64  `json:"gtid_from_hostgroup"`
	Log                  *bit    `json:"log"`
	Apply                bit     `json:"apply"`
	Attributes           string  `json:"attributes"`
	Comment              string  `json:"comment"`
}

func (r *vectorRule) rule() decision.QueryRule {
	return decision.QueryRule{
		RuleID: r.RuleID, Active: r.Active.bool(), Username: r.Username, Schemaname: r.Schemaname, FlagIn: r.FlagIn,
		ClientAddr: r.ClientAddr, ProxyAddr: r.ProxyAddr, ProxyPort: r.ProxyPort, Digest: r.Digest,
		MatchDigest: r.MatchDigest, MatchPattern: r.MatchPattern, NegateMatchPattern: r.NegateMatchPattern != 0,
		ReModifiers: r.ReModifiers, FlagOut: r.FlagOut, ReplacePattern: r.ReplacePattern,
		DestinationHostgroup: r.DestinationHostgroup, CacheTTL: r.CacheTTL, CacheEmptyResult: r.CacheEmptyResult.bool(),
		CacheTimeout: r.CacheTimeout, Reconnect: r.Reconnect.bool(), Timeout: r.Timeout, Retries: r.Retries,
		Delay: r.Delay, NextQueryFlagIn: r.NextQueryFlagIn, MirrorFlagOut: r.MirrorFlagOut,
		MirrorHostgroup: r.MirrorHostgroup, ErrorMsg: r.ErrorMsg, OKMsg: r.OKMsg, StickyConn: r.StickyConn.bool(),
		Multiplex: r.Multiplex, GTIDFromHostgroup: r.GTIDFromHostgroup, Log: r.Log.bool(), Apply: r.Apply != 0,
		Attributes: r.Attributes, Comment: r.Comment,
	}
}

type vectorSession struct {
	Username             string `json:"username"`
	Schema               string `json:"schema"`
	ClientAddr           string `json:"client_addr"`
	ProxyAddr            string `json:"proxy_addr"`
	ProxyPort            uint32 `json:"proxy_port"`
	NextQueryFlagIn      *int32 `json:"next_query_flagIN"`
	TransactionHostgroup *int32 `json:"transaction_hostgroup"`
}

func (s *vectorSession) session() decision.Session {
	return decision.Session{
		Username: s.Username, Schemaname: s.Schema, ClientAddr: s.ClientAddr, ProxyAddr: s.ProxyAddr,
		ProxyPort: s.ProxyPort, NextQueryFlagIn: orNone(s.NextQueryFlagIn),
		TransactionHostgroup: orNone(s.TransactionHostgroup), LockedHostgroup: decision.None,
	}
}

func orNone(p *int32) int32 {
	if p == nil {
		return decision.None
	}
	return *p
}

type vectorMirror struct {
	Hostgroup int32    `json:"hostgroup"`
	HitRules  []uint32 `json:"hit_rules"`
}

type vectorExpect struct {
	HitRules      []uint32       `json:"hit_rules"`
	Hostgroup     *int32         `json:"hostgroup"`
	FinalFlagIn   int32          `json:"final_flagIN"`
	FastRouteUsed bool           `json:"fast_route_used"`
	Out           map[string]any `json:"out"`
	RewrittenSQL  *string        `json:"rewritten_sql"`
	Mirror        *vectorMirror  `json:"mirror"`
	AnsweredWith  string         `json:"answered_with"`
}

type vectorStep struct {
	Session          vectorSession     `json:"session"`
	SQL              string            `json:"sql"`
	Protocol         string            `json:"protocol"`
	DigestText       *string           `json:"digest_text"`
	DigestHash       string            `json:"digest_hash"`
	ForcedFlagOut    map[string]uint32 `json:"forced_flagOUT_choice"`
	MirrorNotChecked bool              `json:"mirror_not_checked"`
	Expect           vectorExpect      `json:"expect"`
}

type vectorChain struct {
	ID      string            `json:"id"`
	Name    string            `json:"name"`
	Globals map[string]uint32 `json:"globals"`
	Users   []struct {
		Username         string `json:"username"`
		DefaultHostgroup int32  `json:"default_hostgroup"`
		DefaultSchema    string `json:"default_schema"`
	} `json:"users"`
	Rules      []vectorRule `json:"rules"`
	FastRoutes []struct {
		Username             string `json:"username"`
		Schemaname           string `json:"schemaname"`
		FlagIn               int64  `json:"flagIN"`
		DestinationHostgroup int64  `json:"destination_hostgroup"`
	} `json:"fast_routes"`
	Steps          []vectorStep      `json:"steps"`
	ExpectRuleHits map[string]uint64 `json:"expect_rule_hits"`
	Refused        []int64           `json:"refused"`
}

func (c *vectorChain) config(tb testing.TB) *decision.Config {
	tb.Helper()
	cfg := &decision.Config{}
	for name, value := range c.Globals {
		switch name {
		case "query_processor_iterations":
			cfg.Settings.QueryProcessorIterations = &value
		case "query_processor_regex":
			cfg.Settings.QueryProcessorRegex = &value
		case "query_rules_fast_routing_algorithm":
			cfg.Settings.QueryRulesFastRoutingAlgorithm = &value
		default:
			tb.Fatalf("unknown variable %s", name)
		}
	}
	for _, u := range c.Users {
		cfg.Users = append(cfg.Users, decision.User{
			Username: u.Username, Password: new(string), DefaultHostgroup: u.DefaultHostgroup, DefaultSchema: u.DefaultSchema,
		})
	}
	for i := range c.Rules {
		cfg.QueryRules = append(cfg.QueryRules, c.Rules[i].rule())
	}
	for _, r := range c.FastRoutes {
		cfg.FastRoutes = append(cfg.FastRoutes, decision.FastRoute{
			Username: r.Username, Schemaname: r.Schemaname, FlagIn: r.FlagIn, DestinationHostgroup: r.DestinationHostgroup,
		})
	}
	return cfg
}

func TestRuleChains(t *testing.T) {
	for _, c := range vectors[vectorChain](t, "rule_chains.json") {
		t.Run(c.ID, func(t *testing.T) {
			g, problems := decision.Compile(1, c.config(t))
			if len(c.Refused) > 0 {
				checkRefused(t, problems, c.Refused)
				return
			}
			if g == nil {
				t.Fatalf("refused: %v", problems)
			}
			hits := make(map[string]uint64)
			var a decision.Answer
			for i := range c.Steps {
				c.Steps[i].check(t, g, &a)
				for _, id := range a.MatchedRules {
					hits[strconv.FormatUint(uint64(id), 10)]++
				}
			}
			maps.DeleteFunc(c.ExpectRuleHits, func(_ string, n uint64) bool { return n == 0 })
			if c.ExpectRuleHits != nil && !maps.Equal(hits, c.ExpectRuleHits) {
				t.Errorf("hits %v, want %v", hits, c.ExpectRuleHits)
			}
		})
	}
}

// checkRefused wants errors that name exactly the given rules.
func checkRefused(t *testing.T, problems decision.Problems, want []int64) {
	t.Helper()
	var got []int64
	for _, p := range problems {
		if p.Severity == decision.Error {
			got = append(got, p.RuleID)
		}
	}
	slices.Sort(got)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Fatalf("refused rules %v, want %v: %v", got, want, problems)
	}
}

func (s *vectorStep) check(t *testing.T, g *decision.Generation, a *decision.Answer) {
	t.Helper()
	q := decision.Question{
		Session:   s.Session.session(),
		Statement: decision.Statement{Text: []byte(s.SQL), HasText: true},
	}
	switch s.Protocol {
	case "prepare":
		q.Statement.Command = decision.Prepare
	case "execute":
		q.Statement.Command = decision.Execute
	}
	want := s.Expect
	if want.Out["OK_msg"] != nil || want.Out["error_msg"] != nil {
		want.Hostgroup = nil // some older cases name the default hostgroup
	}
	for q.Seed = 0; ; q.Seed++ {
		if err := g.Route(&q, a); err != nil {
			t.Fatalf("%q: %v", s.SQL, err)
		}
		// A forced choice is one that some seed draws.
		if s.ForcedFlagOut == nil || slices.Equal(a.MatchedRules, want.HitRules) || q.Seed == 100 {
			break
		}
	}
	if !slices.Equal(a.MatchedRules, want.HitRules) {
		t.Errorf("%q: hits %v, want %v", s.SQL, a.MatchedRules, want.HitRules)
	}
	if a.FinalFlagIn != want.FinalFlagIn {
		t.Errorf("%q: final flag %d, want %d", s.SQL, a.FinalFlagIn, want.FinalFlagIn)
	}
	if got := orNone(want.Hostgroup); a.DestinationHostgroup != got {
		t.Errorf("%q: hostgroup %d, want %d", s.SQL, a.DestinationHostgroup, got)
	}
	if a.FastRoute != want.FastRouteUsed {
		t.Errorf("%q: fast route %t, want %t", s.SQL, a.FastRoute, want.FastRouteUsed)
	}
	if (a.Reason == decision.ReasonAnswered) != (want.Hostgroup == nil) {
		t.Errorf("%q: reason %d, want answered with %q", s.SQL, a.Reason, want.AnsweredWith)
	}
	if a.IsRewritten != (want.RewrittenSQL != nil) || a.IsRewritten && string(a.Rewritten) != *want.RewrittenSQL {
		t.Errorf("%q: rewritten %t to %q", s.SQL, a.IsRewritten, a.Rewritten)
	}
	if want.Out == nil {
		want.Out = map[string]any{}
	}
	if got := effects(&a.Effects); !reflect.DeepEqual(got, want.Out) {
		t.Errorf("%q: effects %v, want %v", s.SQL, got, want.Out)
	}
	if want.Mirror != nil && (!a.HasMirror || a.Mirror.DestinationHostgroup != want.Mirror.Hostgroup ||
		!slices.Equal(a.Mirror.MatchedRules, want.Mirror.HitRules)) {
		t.Errorf("%q: mirror %t %+v, want %+v", s.SQL, a.HasMirror, a.Mirror, *want.Mirror)
	}
	if s.DigestText == nil {
		return
	}
	if string(a.DigestText) != *s.DigestText || digest.Format(a.Digest) != s.DigestHash {
		t.Errorf("%q: digest %q %s, want %q %s", s.SQL, a.DigestText, digest.Format(a.Digest), *s.DigestText, s.DigestHash)
	}
}

// effects gives the effects that are set, under the vectors' names and as JSON would give them.
func effects(e *decision.Effects) map[string]any {
	zeroOrOne := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	all := []struct {
		field decision.Field
		name  string
		value any
	}{
		{decision.CacheTTL, "cache_ttl", float64(e.CacheTTL)},
		{decision.CacheEmptyResult, "cache_empty_result", zeroOrOne(e.CacheEmptyResult)},
		{decision.CacheTimeout, "cache_timeout", float64(e.CacheTimeout)},
		{decision.Timeout, "timeout", float64(e.Timeout)},
		{decision.Retries, "retries", float64(e.Retries)},
		{decision.Delay, "delay", float64(e.Delay)},
		{decision.Reconnect, "reconnect", zeroOrOne(e.Reconnect)},
		{decision.MirrorHostgroup, "mirror_hostgroup", float64(e.MirrorHostgroup)},
		{decision.MirrorFlagOut, "mirror_flagOUT", float64(e.MirrorFlagOut)},
		{decision.NextQueryFlagIn, "next_query_flagIN", float64(e.NextQueryFlagIn)},
		{decision.StickyConn, "sticky_conn", zeroOrOne(e.StickyConn)},
		{decision.Multiplex, "multiplex", float64(e.Multiplex)},
		{decision.GTIDFromHostgroup, "gtid_from_hostgroup", float64(e.GTIDFromHostgroup)},
		{decision.Log, "log", zeroOrOne(e.Log)},
		{decision.MaxLagMS, "max_lag_ms", float64(e.MaxLagMS)},
		{decision.CreateNewConn, "create_new_conn", e.CreateNewConn},
		{decision.MinGTID, "min_gtid", string(e.MinGTID)},
		{decision.ErrorMsg, "error_msg", e.ErrorMsg},
		{decision.OKMsg, "OK_msg", e.OKMsg},
	}
	set := map[string]any{}
	for _, x := range all {
		if e.Has(x.field) {
			set[x.name] = x.value
		}
	}
	return set
}

type vectorAnnotation struct {
	ID     string         `json:"id"`
	SQL    string         `json:"sql"`
	Expect map[string]any `json:"expect"`
}

func TestCommentAnnotations(t *testing.T) {
	g := mustCompile(t, &decision.Config{Users: []decision.User{{Username: "app", DefaultHostgroup: 1}}})
	for _, c := range vectors[vectorAnnotation](t, "comment_annotations.json") {
		t.Run(c.ID, func(t *testing.T) {
			a := route(t, g, question("app", c.SQL))
			got := effects(&a.Effects)
			if a.Reason == decision.ReasonAnnotation {
				got["destination_hostgroup"] = float64(a.DestinationHostgroup)
			}
			if !reflect.DeepEqual(got, c.Expect) {
				t.Errorf("%q: %v, want %v", c.SQL, got, c.Expect)
			}
		})
	}
}

type vectorAddress struct {
	ID          string `json:"id"`
	Field       string `json:"field"`
	Spec        string `json:"spec"`
	Addr        string `json:"addr"`
	ExpectMatch bool   `json:"expect_match"`
}

func TestAddressMatch(t *testing.T) {
	for _, c := range vectors[vectorAddress](t, "address_match.json") {
		t.Run(c.ID, func(t *testing.T) {
			rule := decision.QueryRule{RuleID: 1}
			q := question("app", "SELECT 1")
			switch c.Field {
			case "client_addr":
				rule.ClientAddr, q.Session.ClientAddr = c.Spec, c.Addr
			case "proxy_addr":
				rule.ProxyAddr, q.Session.ProxyAddr = c.Spec, c.Addr
			}
			g := mustCompile(t, &decision.Config{
				Users: []decision.User{{Username: "app"}}, QueryRules: []decision.QueryRule{rule},
			})
			if a := route(t, g, q); (len(a.MatchedRules) == 1) != c.ExpectMatch {
				t.Errorf("%s %q against %q: %t", c.Field, c.Spec, c.Addr, !c.ExpectMatch)
			}
		})
	}
}

type vectorRewrite struct {
	ID             string  `json:"id"`
	MatchPattern   string  `json:"match_pattern"`
	ReplacePattern string  `json:"replace_pattern"`
	ReModifiers    string  `json:"re_modifiers"`
	Subject        string  `json:"subject"`
	Expect         string  `json:"expect"`
	Matches        bool    `json:"matches"`
	Refused        []int64 `json:"refused"`
}

func TestRewrite(t *testing.T) {
	for _, c := range vectors[vectorRewrite](t, "rewrite.json") {
		t.Run(c.ID, func(t *testing.T) {
			g, problems := decision.Compile(1, &decision.Config{
				Users: []decision.User{{Username: "app"}},
				QueryRules: []decision.QueryRule{{
					RuleID: 1, MatchPattern: &c.MatchPattern, ReplacePattern: &c.ReplacePattern, ReModifiers: &c.ReModifiers,
				}},
			})
			if len(c.Refused) > 0 {
				checkRefused(t, problems, c.Refused)
				return
			}
			if g == nil {
				t.Fatalf("refused: %v", problems)
			}
			a := route(t, g, question("app", c.Subject))
			got := c.Subject
			if a.IsRewritten {
				got = string(a.Rewritten)
			}
			if got != c.Expect || (len(a.MatchedRules) == 1) != c.Matches {
				t.Errorf("%q: %q (hits %v), want %q (%t)", c.Subject, got, a.MatchedRules, c.Expect, c.Matches)
			}
			if a.IsRewritten && got == c.Subject {
				t.Error("rewritten without a change")
			}
		})
	}
}

func mustCompile(tb testing.TB, cfg *decision.Config) *decision.Generation {
	tb.Helper()
	g, problems := decision.Compile(1, cfg)
	if g == nil {
		tb.Fatalf("refused: %v", problems)
	}
	return g
}

func question(username, sql string) *decision.Question {
	return &decision.Question{
		Session: decision.Session{
			Username: username, NextQueryFlagIn: decision.None,
			TransactionHostgroup: decision.None, LockedHostgroup: decision.None, KeptRoute: decision.None,
		},
		Statement: decision.Statement{Text: []byte(sql), HasText: true},
	}
}

func route(tb testing.TB, g *decision.Generation, q *decision.Question) *decision.Answer {
	tb.Helper()
	a := new(decision.Answer)
	if err := g.Route(q, a); err != nil {
		tb.Fatal(err)
	}
	return a
}
