package core

import (
	"fmt"
	"math/rand/v2"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/digest"
)

// The size of the configuration behind the rows of whole decisions.
const (
	users       = 500
	schemas     = 200
	chains      = 10
	hostgroups  = 20
	perGroup    = 20 // servers
	exactRules  = 10_000
	regexRules  = 1000
	ruleDigests = 6000
)

// ruleDigest is a digest that rules name and hardly any statement has.
func ruleDigest(i int) uint64 { return 0x9E3779B97F4A7C15 * uint64(i+1) }

// exactRule draws the predicates of one rule without an expression: one of ten combinations of columns.
func exactRule(r *rand.Rand, i int, known []uint64) decision.QueryRule {
	rule := decision.QueryRule{RuleID: int64(i + 1), FlagIn: int64(i / 10 % chains), Apply: true, DestinationHostgroup: new(int64(r.IntN(hostgroups)))}
	user := func() { rule.Username = userName(r.IntN(users)) }
	schema := func() { rule.Schemaname = schemaName(r.IntN(schemas)) }
	address := func() { rule.ClientAddr = fmt.Sprintf("10.%d.%%", r.IntN(64)) }
	sum := func() {
		hash := ruleDigest(r.IntN(ruleDigests))
		if len(known) > 0 && r.IntN(10) == 0 {
			hash = known[r.IntN(len(known))]
		}
		rule.Digest = digest.Format(hash)
	}
	switch i % 10 {
	case 0:
		user()
		schema()
	case 1:
		sum()
	case 2:
		user()
		sum()
	case 3:
		schema()
		sum()
	case 4:
		user()
		address()
	case 5:
		user()
		schema()
		sum()
	case 6:
		address()
		sum()
	case 7:
		user()
		schema()
		rule.ProxyPort = new(int64(6033 + r.IntN(4)))
	case 8:
		user()
		schema()
		address()
	case 9:
		user()
		rule.ProxyPort = new(int64(6033 + r.IntN(4)))
	}
	return rule
}

// configuration makes one of that many rules of each kind and fast routes for all users and schemas. Exact rules come
// first. known are digests that statements have; some exact rules name them, and one in a hundred goes on in another
// chain.
func configuration(exact, regex int, known []uint64) *decision.Config {
	r := random(40)
	cfg := &decision.Config{}
	for h := range hostgroups {
		for i := range perGroup {
			cfg.Servers = append(cfg.Servers, decision.Server{HostgroupID: int32(h), Hostname: fmt.Sprintf("db%d-%d", h, i), Weight: new(int64(1 + i%5))})
		}
	}
	for u := range users {
		cfg.Users = append(cfg.Users, decision.User{Username: userName(u), Password: new("secret"), DefaultHostgroup: int32(u % hostgroups)})
	}
	for i := range exact {
		rule := exactRule(r, i, known)
		if r.IntN(100) == 0 {
			rule.Apply, rule.FlagOut = false, new(int64(r.IntN(chains)))
		}
		cfg.QueryRules = append(cfg.QueryRules, rule)
	}
	for i, expr := range expressions(regex) {
		cfg.QueryRules = append(cfg.QueryRules, decision.QueryRule{
			RuleID: int64(exact + i + 1), MatchDigest: &expr, Apply: true, DestinationHostgroup: new(int64(i % hostgroups)),
		})
	}
	for u := range users {
		for v := range schemas {
			cfg.FastRoutes = append(cfg.FastRoutes, decision.FastRoute{
				Username: userName(u), Schemaname: schemaName(v), DestinationHostgroup: int64((u + v) % hostgroups),
			})
		}
	}
	return cfg
}

// compile makes a generation and fails on problems that are no mere warnings.
func compile(cfg *decision.Config) (*decision.Generation, error) {
	g, problems := decision.Compile(1, cfg)
	if g == nil {
		for _, p := range problems {
			if p.Severity == decision.Error {
				return nil, fmt.Errorf("compile: %s: %s", p.Path, p.Message)
			}
		}
	}
	return g, nil
}

// session draws a session of one of the users.
func session(r *rand.Rand) decision.Session {
	return decision.Session{
		Username:             userName(r.IntN(users)),
		Schemaname:           schemaName(r.IntN(schemas)),
		ClientAddr:           fmt.Sprintf("10.%d.%d.%d", r.IntN(80), r.IntN(256), 1+r.IntN(254)),
		ProxyAddr:            "10.255.0.1",
		ProxyPort:            6033,
		NextQueryFlagIn:      decision.None,
		TransactionHostgroup: decision.None,
		LockedHostgroup:      decision.None,
		KeptRoute:            decision.None,
	}
}
