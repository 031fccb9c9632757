package lint

import (
	"fmt"
	"slices"

	"github.com/pointsman/pointsman/decision"
)

// endingKey is a flag with a user and a schema, empty for any.
type endingKey struct {
	flag         int64
	user, schema string
}

// endings are rules that let no walk of their user and schema end with their flag, unless it ends by apply.
type endings map[endingKey]*rule

// endingRules gives the rules that look at no more than user and schema, leave their chain and stand behind all places
// from which it is entered.
func (l *linter) endingRules() endings {
	out := make(endings)
	for _, r := range l.rules {
		c := conditionsOf(r.row)
		key := endingKey{r.row.FlagIn, c.text[predUsername], c.text[predSchemaname]}
		c.text[predUsername], c.text[predSchemaname] = "", ""
		entries := l.entries[key.flag]
		if r.reached && !r.never && r.leaves() && alwaysFound(r) && c == (conditions{flag: key.flag}) && entries[len(entries)-1] < r.place && out[key] == nil {
			out[key] = r
		}
	}
	return out
}

// of gives a rule that ends the walks of all to whom a fast route applies, or nil.
func (e endings) of(row *decision.FastRoute) *rule {
	for _, user := range slices.Compact([]string{"", row.Username}) {
		for _, schema := range slices.Compact([]string{"", row.Schemaname}) {
			if r := e[endingKey{row.FlagIn, user, schema}]; r != nil {
				return r
			}
		}
	}
	return nil
}

// hidden reports rules that end walks with apply and nothing else to go by, although fast routes wait there: what they
// match goes to the default hostgroup.
func (l *linter) hidden() {
	const everyone = "\x00" // the routes of every user
	type key struct{ user, schema string }
	routes := make(map[int64]map[key]int) // by flag, with and without user and schema: a fast route
	for i := range l.cfg.FastRoutes {
		row := &l.cfg.FastRoutes[i]
		if row.Schemaname == "" && *l.settings.DefaultSchema != "" {
			continue // it is never taken
		}
		if u, known := l.users[row.Username]; row.Username != "" && len(l.cfg.Users) > 0 && (!known || u.FastForward) {
			continue
		}
		byKey := routes[row.FlagIn]
		if byKey == nil {
			byKey = make(map[key]int)
			routes[row.FlagIn] = byKey
		}
		for _, user := range slices.Compact([]string{"", row.Username}) {
			for _, schema := range slices.Compact([]string{"", row.Schemaname}) {
				if _, given := byKey[key{user, schema}]; !given {
					byKey[key{user, schema}] = i
				}
			}
		}
		if row.Username == "" {
			for _, schema := range slices.Compact([]string{"", row.Schemaname}) {
				if _, given := byKey[key{everyone, schema}]; !given {
					byKey[key{everyone, schema}] = i
				}
			}
		}
	}
	keys := l.keysOfFlags()
	for _, r := range l.rules {
		row := r.row
		if !r.direct || r.never || !row.Apply || row.DestinationHostgroup != nil || row.OKMsg != nil || row.ErrorMsg != nil || len(r.flags) > 0 {
			continue
		}
		byKey := routes[row.FlagIn]
		i, found := byKey[key{row.Username, row.Schemaname}]
		if !found {
			i, found = byKey[key{everyone, row.Schemaname}]
		}
		if !found {
			continue
		}
		route := &l.cfg.FastRoutes[i]
		if !keys[row.FlagIn].has(route.Username, route.Schemaname) || l.mayHaveDestination(r) {
			continue
		}
		l.hint(r, "apply", codeApplyHides,
			fmt.Sprintf("the rule gives no destination and ends the walk with apply, so no fast route is looked up for what it matches: it goes to default_hostgroup, and not where fast_routes[%d] would send it", i),
			"Remove apply from the rule, so that the fast route counts.")
	}
}

// mayHaveDestination tells whether a walk can come to a rule with a destination from another one.
func (l *linter) mayHaveDestination(r *rule) bool {
	return slices.ContainsFunc(l.rules, func(o *rule) bool {
		return o != r && o.reached && !o.never && o.hasDestination() && !o.row.Apply && (o.place < r.place || *l.settings.QueryProcessorIterations > 0)
	})
}
