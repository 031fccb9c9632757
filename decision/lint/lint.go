package lint

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/pointsman/pointsman/decision"
)

// Check gives all findings in the document's order. g is what cfg compiles to; it is asked where typical statements go.
// Of guidelines the one in force is looked at. Rows that are not active are not looked at.
func Check(cfg *decision.Config, g *decision.Generation) []Finding {
	l := newLinter(cfg, g)
	l.columns()
	l.chains()
	l.coverage()
	l.servers()
	l.fastRoutes()
	l.hidden()
	l.statements()
	l.guideline()
	return l.sorted()
}

// linter collects findings.
type linter struct {
	cfg      *decision.Config
	g        *decision.Generation // without the guideline
	guide    *decision.Guide      // nil: no guideline is in force
	settings decision.Settings
	findings []placed

	rules []*rule // the active ones in order of rule_id
	byID  map[int64]*rule
	users map[string]*decision.User
	chain map[int64][]*rule // rules by flag_in, in order
	// entries are the places from which a chain can be entered: the walk then looks at its rules behind them. Sorted.
	entries  map[int64][]int
	ends     map[int64]bool // flags with which a walk can end without apply
	rewrites bool           // a rule has replace_pattern
	// routeFlags are the flags of fast routes.
	routeFlags map[int64]bool
}

// rule is an active rule.
type rule struct {
	row   *decision.QueryRule
	index int // in the document
	place int // in order of rule_id

	digest  *expression // match_digest; nil: none
	pattern *expression // match_pattern; nil: none
	never   bool        // it can't match
	always  bool        // it matches everything that gets to it
	flags   []int64     // those that it can set
	reached bool        // by some walk
	direct  bool        // by one that is no mirrored copy's
}

// start is the place before the first rule.
const start = -1

func newLinter(cfg *decision.Config, g *decision.Generation) *linter {
	l := &linter{
		cfg: cfg, g: withoutGuideline(cfg, g), guide: g.Guide(), settings: g.Settings(),
		users: make(map[string]*decision.User), chain: make(map[int64][]*rule),
		entries: make(map[int64][]int), ends: make(map[int64]bool),
		routeFlags: make(map[int64]bool), byID: make(map[int64]*rule),
	}
	for i := range cfg.FastRoutes {
		l.routeFlags[cfg.FastRoutes[i].FlagIn] = true
	}
	for i := range cfg.Users {
		if u := &cfg.Users[i]; u.Active == nil || *u.Active {
			l.users[u.Username] = u
		}
	}
	for i := range cfg.QueryRules {
		if row := &cfg.QueryRules[i]; row.Active == nil || *row.Active {
			l.rules = append(l.rules, newRule(row, i, &l.settings))
		}
	}
	slices.SortFunc(l.rules, func(a, b *rule) int { return cmp.Compare(a.row.RuleID, b.row.RuleID) })
	for place, r := range l.rules {
		r.place = place
		l.byID[r.row.RuleID] = r
		l.chain[r.row.FlagIn] = append(l.chain[r.row.FlagIn], r)
		l.rewrites = l.rewrites || r.row.ReplacePattern != nil
	}
	return l
}

// withoutGuideline gives the generation before its guideline has a say: it stands in for hostgroups when all that is looked at
// here is through.
func withoutGuideline(cfg *decision.Config, g *decision.Generation) *decision.Generation {
	if g.Guide() == nil {
		return g
	}
	bare := *cfg
	bare.Guideline, bare.GuidelineBinding, bare.ActiveGuideline = "", nil, ""
	without, _ := decision.Compile(g.Number(), &bare) // what compiles with a guideline compiles without
	return without
}

func newRule(row *decision.QueryRule, index int, settings *decision.Settings) *rule {
	caseless := true
	if row.ReModifiers != nil {
		caseless = isCaseless(*row.ReModifiers)
	}
	r := &rule{
		row: row, index: index,
		digest: newExpression(row.MatchDigest, caseless), pattern: newExpression(row.MatchPattern, caseless),
		flags: flagsOf(row),
	}
	r.always = row.Username == "" && row.Schemaname == "" && anyAddress(row.ClientAddr) && row.ProxyAddr == "" &&
		row.ProxyPort == nil && row.Digest == ""
	for _, e := range []*expression{r.digest, r.pattern} {
		if e == nil {
			continue
		}
		r.always = r.always && e.always && !row.NegateMatchPattern
		r.never = r.never || e.always && row.NegateMatchPattern
	}
	if !*settings.QueryDigests && (row.Digest != "" || row.MatchDigest != nil) {
		r.never, r.always = true, false
	}
	return r
}

func anyAddress(pattern string) bool { return pattern == "" || pattern == "%" }

// flagsOf gives the flags that a match of the rule can set: flag_out, else those of attributes with a weight.
func flagsOf(row *decision.QueryRule) []int64 {
	if row.FlagOut != nil {
		return []int64{*row.FlagOut}
	}
	weighted, _ := weights(row)
	return weighted
}

// weights gives the flags of attributes that have a weight, and whether there is a list at all.
func weights(row *decision.QueryRule) (flags []int64, given bool) {
	var attributes struct {
		FlagOUTs []struct {
			ID     int64 `json:"id"`
			Weight int64 `json:"weight"`
		} `json:"flagOUTs"`
	}
	if row.Attributes == "" || json.Unmarshal([]byte(row.Attributes), &attributes) != nil {
		return nil, false // Compile has looked at its form
	}
	for _, item := range attributes.FlagOUTs {
		if item.Weight > 0 && !slices.Contains(flags, item.ID) {
			flags = append(flags, item.ID)
		}
	}
	return flags, len(attributes.FlagOUTs) > 0
}

// leaves tells whether a match ends the walk in its chain: by apply, or by a flag that is another one for sure.
func (r *rule) leaves() bool {
	return r.row.Apply || len(r.flags) > 0 && !slices.Contains(r.flags, r.row.FlagIn)
}

func (r *rule) hasDestination() bool {
	return r.row.DestinationHostgroup != nil && *r.row.DestinationHostgroup >= 0
}
