package lint_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/digest"
	"github.com/pointsman/pointsman/decision/lint"
)

var (
	someExpressions = []string{
		"^SELECT", "^SELECT a", "^select a$", "SELECT", "a", "^a|^SELECT a", "a|b", "", ".*", "^.*", "^SELECT .* FROM t", "FROM t",
		"^(SELECT|SHOW) a", "a+b", "^a?b", "^SELECT a.*", "(a)(b)", "(?:ab)+", "^S[A-E]LECT", `^SELECT \w`, "'x'", "a  b", "= 5 ", "(?i)a", "$", "^$", "b{0,2}", `\.a`,
		`^SELECT\b`, `^\(*(SELECT|SHOW)\b`, `^\(*SELECT a\b`, `^SELECT .* FROM t\b`, `\ba\b`, `^\(*(SELECT|SHOW)\b.*\bt\b`, `^b?a\b`, `^a?a*+b`, "[^a]b", "x[^a]b",
	}
	someStatements = []string{
		"SELECT a FROM t", "select a", "SELECT b FROM t WHERE x = 5 ", "a", "b", "ab", "aab", "SHOW a", "", "SELECT a.a", "SELECT 'x' FROM `a'x'`", "x", "abab", "(SELECT a", "((SELECT b FROM t)", "SELECTS a", "SELECT ab FROM tt", "xAb", "a b",
	}
	someUsers   = []string{"u", "v", "nobody"}
	someSchemas = []string{"s", "t"}
	someClients = []string{"10.1.2.3", "10.2.2.3", "192.168.0.1", ""}
)

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// sometimes gives a pointer in one of n cases.
func sometimes[T any](r *rand.Rand, n int, v T) *T {
	if r.IntN(n) > 0 {
		return nil
	}
	return &v
}

func randomConfig(r *rand.Rand) *decision.Config {
	flag := func() int64 { return int64(r.IntN(4)) }
	cfg := &decision.Config{
		Settings: decision.Settings{
			QueryProcessorIterations: sometimes(r, 3, uint32(r.IntN(3))), QueryDigestsLowercase: sometimes(r, 5, true), QueryDigests: sometimes(r, 10, false),
		},
		Users: []decision.User{{Username: "u", DefaultHostgroup: 1}, {Username: "v", DefaultHostgroup: 2, FastForward: r.IntN(9) == 0}},
	}
	for id := range 2 + r.IntN(7) {
		row := decision.QueryRule{
			RuleID: int64(id + 1), FlagIn: flag() * int64(r.IntN(2)),
			MatchDigest: sometimes(r, 2, pick(r, someExpressions)), MatchPattern: sometimes(r, 6, pick(r, someExpressions)),
			NegateMatchPattern: r.IntN(9) == 0, FlagOut: sometimes(r, 4, flag()), DestinationHostgroup: sometimes(r, 2, int64(10+id)),
			NextQueryFlagIn: sometimes(r, 9, flag()), MirrorFlagOut: sometimes(r, 15, flag()), CacheTTL: sometimes(r, 4, int64(5)),
			ReModifiers: sometimes(r, 6, ""), Apply: r.IntN(3) == 0,
		}
		if r.IntN(4) == 0 {
			row.Username = pick(r, someUsers)
		}
		if r.IntN(6) == 0 {
			row.Schemaname = pick(r, someSchemas)
		}
		if r.IntN(6) == 0 {
			row.ClientAddr = pick(r, []string{"10.%", "10.1.%", "10.1", "10.1.2.3", "10.0.0.0/8", "%", "10.1.2._"})
		}
		if row.MatchPattern != nil && r.IntN(4) == 0 {
			row.ReplacePattern = new(pick(r, []string{"a", "SELECT a", "b b"}))
		}
		if r.IntN(9) == 0 {
			row.Attributes = fmt.Sprintf(`{"flagOUTs":[{"id":%d,"weight":%d},{"id":%d,"weight":1}]}`, flag(), r.IntN(2), flag())
		}
		cfg.QueryRules = append(cfg.QueryRules, row)
	}
	for _, user := range append(someUsers, "") {
		for _, schema := range append(someSchemas, "") {
			if r.IntN(4) == 0 {
				cfg.FastRoutes = append(cfg.FastRoutes, decision.FastRoute{Username: user, Schemaname: schema, FlagIn: flag(), DestinationHostgroup: int64(100 + len(cfg.FastRoutes))})
			}
		}
	}
	return cfg
}

// claims are what findings say can't happen.
type claims struct {
	unmatched  map[int64]string // rules that never match
	overridden map[int64]bool   // rules whose destination never counts
	routes     map[int32]bool   // destinations of fast routes that are never taken
}

func claimsOf(cfg *decision.Config, findings []lint.Finding) claims {
	c := claims{make(map[int64]string), make(map[int64]bool), make(map[int32]bool)}
	for _, f := range findings {
		switch f.Code {
		case "impossible_match_digest":
			if f.Severity == lint.Warning {
				c.unmatched[f.RuleID] = f.Code
			}
		case "unreachable_rule", "shadowed_rule", "shadowed_cache_rule", "never_matches", "unknown_user", "fast_forward_user":
			c.unmatched[f.RuleID] = f.Code
		case "overridden_destination":
			c.overridden[f.RuleID] = true
		case "fast_route_flag", "fast_route_user", "fast_route_schema":
			if strings.Contains(f.Message, "fast routes)") {
				continue // it stands for several
			}
			index, _, _ := strings.Cut(strings.TrimPrefix(f.Path, "fast_routes["), "]")
			i, _ := strconv.Atoi(index)
			c.routes[int32(cfg.FastRoutes[i].DestinationHostgroup)] = true
		}
	}
	return c
}

// TestWarningsAreTrue routes random statements by random configurations: what findings say can't happen never does.
func TestWarningsAreTrue(t *testing.T) {
	counted := make(map[string]int)
	for seed := range uint64(2500) {
		r := rand.New(rand.NewPCG(seed, 1))
		cfg := randomConfig(r)
		g, problems := decision.Compile(1, cfg)
		if g == nil {
			t.Fatal(problems)
		}
		findings := lint.Check(cfg, g)
		for _, f := range findings {
			counted[f.Code]++
			if strings.Contains(f.Message, "takes every statement of this user and schema") && !strings.Contains(f.Message, "fast routes)") {
				counted["fast_route_flag by a rule"]++
			}
		}
		c := claimsOf(cfg, findings)
		if len(c.unmatched)+len(c.overridden)+len(c.routes) == 0 {
			continue
		}
		var a decision.Answer
		for range 20 {
			q := &decision.Question{Session: decision.Session{
				Username: pick(r, []string{"u", "v"}), Schemaname: pick(r, someSchemas), ClientAddr: pick(r, someClients),
				NextQueryFlagIn: decision.None, TransactionHostgroup: decision.None, LockedHostgroup: decision.None,
			}}
			for range 5 {
				q.Seed = r.Uint64()
				q.Statement.Text, q.Statement.HasText = []byte(pick(r, someStatements)), true
				if err := g.Route(q, &a); err != nil {
					t.Fatal(err)
				}
				if complaint := c.broken(cfg, &a); complaint != "" {
					t.Fatalf("seed %d, user %s, schema %s, client %s, flag %d, %q: %s\nrules %v\n%+v\n%s", seed, q.Session.Username, q.Session.Schemaname,
						q.Session.ClientAddr, q.Session.NextQueryFlagIn, q.Statement.Text, complaint, a.MatchedRules, findings, show(cfg))
				}
				if a.Has(decision.NextQueryFlagIn) {
					q.Session.NextQueryFlagIn = a.NextQueryFlagIn
				}
			}
		}
	}
	for _, code := range []string{"unreachable_rule", "shadowed_rule", "shadowed_cache_rule", "never_matches", "overridden_destination", "fast_route_flag", "fast_route_flag by a rule", "impossible_match_digest"} {
		if counted[code] < 10 {
			t.Errorf("%s came up %d times only", code, counted[code])
		}
	}
}

func (c *claims) broken(cfg *decision.Config, a *decision.Answer) string {
	for _, id := range slices.Concat(a.MatchedRules, a.Mirror.MatchedRules) {
		if code, claimed := c.unmatched[int64(id)]; claimed {
			return fmt.Sprintf("rule %d (%s) matches", id, code)
		}
	}
	if a.FastRoute && c.routes[a.DestinationHostgroup] {
		return fmt.Sprintf("the fast route to %d is taken", a.DestinationHostgroup)
	}
	if a.Reason == decision.ReasonRule {
		for id := range c.overridden {
			if d := cfg.QueryRules[id-1].DestinationHostgroup; d != nil && int32(*d) == a.DestinationHostgroup {
				return fmt.Sprintf("rule %d gives the destination", id)
			}
		}
	}
	return ""
}

func show(cfg *decision.Config) string {
	var b strings.Builder
	text := func(p *string) string {
		if p == nil {
			return "-"
		}
		return strconv.Quote(*p)
	}
	number := func(p *int64) string {
		if p == nil {
			return "-"
		}
		return strconv.FormatInt(*p, 10)
	}
	for i := range cfg.QueryRules {
		r := &cfg.QueryRules[i]
		fmt.Fprintf(&b, "%d in %d user %q schema %q addr %q digest %s pattern %s negate %t modifiers %s out %s %s to %s next %s mirror %s replace %s apply %t\n", r.RuleID, r.FlagIn, r.Username,
			r.Schemaname, r.ClientAddr, text(r.MatchDigest), text(r.MatchPattern), r.NegateMatchPattern, text(r.ReModifiers), number(r.FlagOut), r.Attributes,
			number(r.DestinationHostgroup), number(r.NextQueryFlagIn), number(r.MirrorFlagOut), text(r.ReplacePattern), r.Apply)
	}
	return b.String()
}

// TestDigestTextsLack checks what impossible_match_digest takes for granted: digest texts have no quotes, comments and
// line ends, however broken the statement.
func TestDigestTextsLack(t *testing.T) {
	pieces := []string{
		"SELECT", "a", " ", "  ", "\t", "\n", "\r", "'x'", "'", `"y"`, `"`, "/*", "*/", "/* c */", "-- c\n", "#c\n", "5", "=", ",", "(", ")", "-", "--", "+",
		"1.5", "x'41'", "N'z'", "_utf8'q'", "''", `\'`, "''''", "NULL", "@a", ";", "/*!1 q*/",
	}
	options := digest.DefaultOptions()
	var buffer digest.Buffer
	for seed := range uint64(30_000) {
		r := rand.New(rand.NewPCG(seed, 3))
		var text strings.Builder
		for range 1 + r.IntN(9) {
			text.WriteString(pick(r, pieces))
		}
		got := string(digest.Compute(&buffer, []byte(text.String()), &options).Text)
		for _, part := range []string{"'", `"`, "/*", "\t", "\r", "\n"} {
			if strings.Contains(got, part) {
				t.Fatalf("the digest text of %q is %q", text.String(), got)
			}
		}
	}
}

// TestManyRules checks that the work grows with the configuration and not with its square: rules that are alike as far
// as may be, in many chains, with many fast routes.
func TestManyRules(t *testing.T) {
	const rules, routes = 10_000, 100_000
	cfg := &decision.Config{Users: []decision.User{{Username: "app", DefaultHostgroup: 1}}}
	for i := range rules {
		cfg.QueryRules = append(cfg.QueryRules, decision.QueryRule{
			RuleID: int64(i + 1), FlagIn: int64(i % 50),
			MatchDigest: new(fmt.Sprintf("^SELECT .* FROM table_%d WHERE", i%9000)), DestinationHostgroup: new(int64(i % 7)), Apply: i >= 50 && i%3 == 0,
			Schemaname: strings.Repeat("s", i%3), ClientAddr: []string{"", "10.%", "10.1.2.3"}[i%3],
		})
	}
	for i := range 49 { // each chain leads to the next one
		cfg.QueryRules[i].FlagOut, cfg.QueryRules[i].Schemaname, cfg.QueryRules[i].ClientAddr = new(int64(i+1)), "", ""
	}
	for i := range routes {
		cfg.FastRoutes = append(cfg.FastRoutes, decision.FastRoute{Username: []string{"gone", "app"}[i/100%2], Schemaname: fmt.Sprintf("tenant_%d", i), FlagIn: int64(i % 100), DestinationHostgroup: 1})
	}
	byCode := make(map[string]int)
	for _, f := range check(t, cfg) {
		byCode[f.Code]++
	}
	// Fast routes with the same mistake are one finding.
	if byCode["fast_route_user"] != 1 || byCode["fast_route_flag"] != 50 || byCode["unreachable_rule"] > 0 || byCode["shadowed_rule"] == 0 {
		t.Errorf("findings %v", byCode)
	}
}
