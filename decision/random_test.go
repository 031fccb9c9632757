package decision_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/digest"
)

// Small vocabularies, so that random rules, sessions and statements meet.
var (
	someUsers     = []string{"app", "App", "etl", "web"}
	someSchemas   = []string{"", "shop", "crm"}
	someAddresses = []string{"", "10.1.2.3", "10.1.20.3", "127.0.0.1", "::ffff:10.1.2.3"}
	someClients   = []string{"", "", "10.1.%", "10.1.2._", "10.0.0.0/8", "127.0.0.1", "%"}
	someProxies   = []string{"", "", "127.0.0.1", "127.0.0.0/8"}
	someDigests   = []string{"^SELECT", "orders", "FOR UPDATE$", "", "\\?", "^(INSERT|UPDATE)", `(.)\1`}
	somePatterns  = []string{"^SELECT", "orders", "7", "hostgroup", "", "(o)rders?", "/\\*", "x{2}", "(?=S)SELECT"}
	someTexts     = []string{
		"SELECT * FROM orders WHERE id = 7", "SELECT * FROM orders WHERE id = 8", "select 1", "SELECT 7",
		"/* hostgroup=5 */ SELECT 7", "/* shard 7 */ SELECT 7", "/* shard 8 */ SELECT 7", "SELECT 7 -- hostgroup=5",
		"/* min_epoch_ms=1000;hostgroup=6 */ SELECT 7", "SELECT /* mirror=8 */ 7", "UPDATE orders SET a = 7",
		"INSERT INTO orders VALUES (7)", "INSERT INTO orders VALUES (8)", "SELECT id FROM orders FOR UPDATE", "",
		"SELECT aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "SELECT aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "SELECT 'été'",
	}
)

type randomizer struct{ *rand.Rand }

func newRandomizer(seed uint64) randomizer {
	return randomizer{rand.New(rand.NewPCG(seed, 9))}
}

func (r randomizer) oneIn(n int) bool { return r.IntN(n) == 0 }

func pick[T any](r randomizer, list []T) T { return list[r.IntN(len(list))] }

// maybe gives a pointer to one of the values, or nil half the time.
func maybe[T any](r randomizer, list ...T) *T {
	if r.oneIn(2) {
		return nil
	}
	return new(pick(r, list))
}

func rarely[T any](r randomizer, list ...T) *T {
	if !r.oneIn(5) {
		return nil
	}
	return new(pick(r, list))
}

// config makes a valid configuration.
func (r randomizer) config() *decision.Config {
	cfg := &decision.Config{}
	cfg.Settings.QueryProcessorIterations = maybe[uint32](r, 0, 1, 3, 2000)
	cfg.Settings.QueryDigestsMaxDigestLength = maybe[uint32](r, 40, 2048)
	if r.oneIn(8) {
		cfg.Settings.QueryDigests = new(bool)
	}
	cfg.Settings.QueryProcessorFirstCommentParsing = maybe[uint32](r, 0, 2)
	for i, name := range someUsers {
		cfg.Users = append(cfg.Users, decision.User{
			Username: name, Password: new(""), DefaultHostgroup: int32(i % 2), DefaultSchema: pick(r, someSchemas), FastForward: r.oneIn(10),
		})
	}
	rules := 10
	if r.oneIn(8) {
		rules = 80
	}
	for id := range r.IntN(rules) {
		cfg.QueryRules = append(cfg.QueryRules, r.rule(int64(id+1)))
	}
	if r.oneIn(2) {
		for flag := range int64(3) {
			cfg.FastRoutes = append(cfg.FastRoutes, decision.FastRoute{
				Username: pick(r, []string{"", "app"}), Schemaname: pick(r, someSchemas[1:]), FlagIn: flag, DestinationHostgroup: 100 + flag,
			})
		}
	}
	if r.oneIn(3) {
		r.addGuideline(cfg)
	}
	return cfg
}

func (r randomizer) rule(id int64) decision.QueryRule {
	q := decision.QueryRule{
		RuleID: id, FlagIn: int64(r.IntN(3)), ClientAddr: pick(r, someClients), ProxyAddr: pick(r, someProxies),
		NegateMatchPattern: r.oneIn(4), ReModifiers: maybe(r, "", "CASELESS,GLOBAL"), FlagOut: maybe[int64](r, 0, 1, 2),
		DestinationHostgroup: maybe(r, 10+id), CacheTTL: rarely[int64](r, 5, 6), Timeout: rarely[int64](r, 7, 8),
		NextQueryFlagIn: rarely[int64](r, 0, 1), MirrorFlagOut: rarely[int64](r, 0, 1, 2), MirrorHostgroup: rarely[int64](r, 50),
		ProxyPort: rarely[int64](r, 0, 6033), MatchDigest: rarely(r, someDigests...), MatchPattern: rarely(r, somePatterns...),
		Apply: r.oneIn(3),
	}
	if r.oneIn(5) {
		q.Username = pick(r, someUsers)
	}
	if r.oneIn(5) {
		q.Schemaname = pick(r, someSchemas)
	}
	if r.oneIn(6) {
		opts := digest.DefaultOptions()
		q.Digest = digest.Format(digest.Compute(new(digest.Buffer), []byte(pick(r, someTexts)), &opts).Hash)
	}
	if q.MatchPattern != nil && r.oneIn(2) {
		q.ReplacePattern = new(pick(r, []string{"x\\0x", "", "orders /* 7 */"}))
	}
	if r.oneIn(12) {
		q.Attributes = `{"flagOUTs":[{"id":1,"weight":1},{"id":2,"weight":2}]}`
	}
	if r.oneIn(12) {
		q.OKMsg = new("done")
	}
	return q
}

func (r randomizer) question(g *decision.Generation) *decision.Question {
	q := question(pick(r, someUsers), pick(r, someTexts))
	q.Session.Schemaname = pick(r, someSchemas)
	q.Session.ClientAddr = pick(r, someAddresses)
	q.Session.ProxyAddr = pick(r, someAddresses)
	q.Session.ProxyPort = pick(r, []uint32{0, 6033})
	q.Session.NextQueryFlagIn = r.Int32N(3) - 1
	q.Statement.Command = decision.Command(r.IntN(3))
	r.guided(q)
	q.Seed = r.Uint64()
	q.NowMS = int64(r.IntN(5000))
	if q.Statement.Command == decision.Execute && r.oneIn(2) {
		opts := g.DigestOptions()
		var b digest.Buffer
		d := digest.Compute(&b, q.Statement.Text, &opts)
		q.Statement = decision.Statement{Command: decision.Execute, HasDigest: true, Digest: d.Hash, DigestText: d.Text}
	}
	return q
}

// public is everything of an answer that a caller sees, in comparable form.
func public(tb testing.TB, a *decision.Answer) string {
	tb.Helper()
	data, err := json.Marshal(a)
	if err != nil {
		tb.Fatal(err)
	}
	// Empty and nil lists are the same to a caller.
	return strings.NewReplacer("null", `""`, "[]", `""`).Replace(string(data))
}

// TestCachedAnswers keeps answers as far as their scope allows, and wants each to equal every fresh answer that it
// could stand for.
func TestCachedAnswers(t *testing.T) {
	var reused [2]int
	for seed := range uint64(120) {
		r := newRandomizer(seed)
		cfg := r.config()
		g := mustCompile(t, cfg)
		opts := g.DigestOptions()
		byDigest, byText := map[string]string{}, map[string]string{}
		var a decision.Answer
		for range 400 {
			q := r.question(g)
			if err := g.Route(q, &a); err != nil {
				t.Fatal(err)
			}
			fresh := public(t, &a)
			textKey := fmt.Sprintf("%x %d %s", a.Cookie, q.Statement.Command, q.Statement.Text)
			digestKey := ""
			if a.HasDigest {
				var b digest.Buffer
				comment := digest.Compute(&b, q.Statement.Text, &opts).FirstComment
				if !bytes.Contains(comment, []byte("=")) {
					digestKey = fmt.Sprintf("%x %d %x", a.Cookie, q.Statement.Command, a.Digest)
				}
			}
			check := func(cache map[string]string, key string, n *int) {
				cached, ok := cache[key]
				if !ok {
					return
				}
				*n++
				if cached != fresh {
					t.Fatalf("seed %d, %+v, %q:\ncached %s\nfresh  %s\n%s", seed, q, q.Statement.Text, cached, fresh, document(cfg))
				}
			}
			if q.Statement.HasText {
				check(byText, textKey, &reused[0])
			}
			if digestKey != "" {
				check(byDigest, digestKey, &reused[1])
			}
			switch a.CacheScope {
			case decision.ScopeText:
				if !q.Statement.HasText {
					t.Fatal("an answer without a text has the scope of a text")
				}
				byText[textKey] = fresh
			case decision.ScopeDigest:
				if !a.HasDigest || digestKey == "" {
					t.Fatal("the scope is that of a digest that is not to be used")
				}
				byDigest[digestKey] = fresh
			case decision.ScopeNone:
			default:
				t.Fatalf("scope %d", a.CacheScope)
			}
		}
	}
	if min(reused[0], reused[1]) < 1000 {
		t.Errorf("only %v answers were compared", reused)
	}
}

func document(cfg *decision.Config) string {
	data, _ := json.MarshalIndent(cfg, "", " ") //nolint:errchkjson // For people.
	return string(data)
}

// TestAnswerIsReset compares a reused answer with a new one.
func TestAnswerIsReset(t *testing.T) {
	var reused decision.Answer
	for seed := range uint64(100) {
		r := newRandomizer(seed)
		g := mustCompile(t, r.config())
		for range 50 {
			q := r.question(g)
			q.Session.TransactionHostgroup = int32(r.IntN(2)) - 1
			q.Session.LockedHostgroup = int32(r.IntN(2)) - 1
			if err := g.Route(q, &reused); err != nil {
				t.Fatal(err)
			}
			fresh := route(t, g, q)
			if got, want := public(t, &reused), public(t, fresh); got != want {
				t.Fatalf("seed %d: reused %s\nfresh %s", seed, got, want)
			}
		}
	}
}

// TestExecuteFollowsPrepare checks that an EXECUTE with the original text goes where its PREPARE went.
func TestExecuteFollowsPrepare(t *testing.T) {
	for seed := range uint64(150) {
		r := newRandomizer(seed)
		g := mustCompile(t, r.config())
		for range 50 {
			q := r.question(g)
			if !q.Statement.HasText {
				continue
			}
			q.Statement.Command = decision.Prepare
			prepared := route(t, g, q)
			q.Statement.Command = decision.Execute
			executed := route(t, g, q)
			if executed.IsRewritten {
				t.Fatal("an EXECUTE is rewritten")
			}
			if executed.ExecuteNeedsText {
				t.Fatal("an EXECUTE says that EXECUTE needs a text")
			}
			needsText := prepared.ExecuteNeedsText
			prepared.Rewritten, prepared.IsRewritten, prepared.ExecuteNeedsText = nil, false, false
			if got, want := public(t, executed), public(t, prepared); got != want {
				t.Fatalf("seed %d, %q: executed %s\nprepared %s", seed, q.Statement.Text, got, want)
			}
			if needsText || !prepared.HasDigest {
				continue
			}
			q.Statement.HasText, q.Statement.HasDigest = false, true
			q.Statement.Digest, q.Statement.DigestText = prepared.Digest, prepared.DigestText
			executed = route(t, g, q)
			executed.CacheScope = prepared.CacheScope // may be narrower
			if got, want := public(t, executed), public(t, prepared); got != want {
				t.Fatalf("seed %d, %q: executed by digest %s\nprepared %s", seed, q.Statement.Text, got, want)
			}
		}
	}
}

// FuzzCompile checks that compiling random bytes in a rule's texts never panics and that what compiles can route.
func FuzzCompile(f *testing.F) {
	f.Add("^SELECT", "(a)|b", `<\1>`, "CASELESS,GLOBAL", `{"flagOUTs":[{"id":1,"weight":3}]}`, "10.%", "0x1", int64(3))
	f.Add("(?=a)", "[", `\`, "x", `{"flagOUTs":[`, "10.0.0.0/8,", "08", int64(-1))
	f.Fuzz(func(t *testing.T, matchDigest, matchPattern, replace, modifiers, attributes, addr, hash string, n int64) {
		cfg := &decision.Config{
			Users: []decision.User{{Username: "app", DefaultHostgroup: int32(n)}},
			QueryRules: []decision.QueryRule{{
				RuleID: 1, MatchDigest: &matchDigest, MatchPattern: &matchPattern, ReplacePattern: &replace, ReModifiers: &modifiers,
				Attributes: attributes, ClientAddr: addr, ProxyAddr: addr, Digest: hash, FlagOut: &n, Retries: &n,
			}},
		}
		g, problems := decision.Compile(1, cfg)
		if (g == nil) != problems.HasErrors() {
			t.Fatalf("generation %v with %v", g, problems)
		}
		for _, p := range problems {
			if p.Path == "" || p.Code == "" || p.Message == "" || p.Position < -1 || p.Severity == 0 {
				t.Errorf("problem %+v", p)
			}
		}
		if g != nil {
			route(t, g, question("app", "SELECT "+matchDigest))
		}
	})
}
