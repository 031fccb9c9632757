package lint

import (
	"fmt"
)

// routeGroup are fast routes with the same mistake.
type routeGroup struct {
	code  string
	key   string // what they have in common
	flag  int64
	by    *rule // that ends the walk; nil: none in particular
	first int   // in the document
	count int
}

// fastRoutes reports fast routes whose key no statement can have. Routes with the same cause make one finding.
func (l *linter) fastRoutes() {
	keys, ending := l.keysOfFlags(), l.endingRules()
	var groups []*routeGroup
	place := make(map[routeGroup]*routeGroup)
	add := func(code, key string, flag int64, index int, by *rule) {
		id := routeGroup{code: code, key: key, flag: flag, by: by}
		g := place[id]
		if g == nil {
			g = &routeGroup{code: code, key: key, flag: flag, by: by, first: index}
			place[id] = g
			groups = append(groups, g)
		}
		g.count++
	}
	for i := range l.cfg.FastRoutes {
		row := &l.cfg.FastRoutes[i]
		u, known := l.users[row.Username]
		switch {
		case row.Username == "" || len(l.cfg.Users) == 0:
		case !known:
			add(codeFastRouteUser, fmt.Sprintf("no active user is called %q", row.Username), 0, i, nil)
			continue // who ends walks does not matter
		case u.FastForward:
			add(codeFastRouteUser, fmt.Sprintf("user %q has fast_forward", row.Username), 0, i, nil)
			continue
		}
		if row.Schemaname == "" && *l.settings.DefaultSchema != "" {
			add(codeFastRouteSchema, "", 0, i, nil)
		}
		by := ending.of(row)
		switch {
		case !l.ends[row.FlagIn]:
			add(codeFastRouteFlag, "", row.FlagIn, i, nil)
		case !keys[row.FlagIn].has(row.Username, row.Schemaname):
			add(codeFastRouteFlag, fmt.Sprintf("%q %q", row.Username, row.Schemaname), row.FlagIn, i, nil)
		case by != nil:
			add(codeFastRouteFlag, "", row.FlagIn, i, by)
		}
	}
	for _, g := range groups {
		l.reportRoutes(g)
	}
}

func (l *linter) reportRoutes(g *routeGroup) {
	var field, message, remedy string
	switch g.code {
	case codeFastRouteUser:
		field, message = "username", "the fast route is never taken: "+g.key
		remedy = "Mend the name (it is compared byte for byte), or leave it empty for every user."
	case codeFastRouteSchema:
		field, message = "schemaname", "the fast route is never taken: schemaname is empty, which is no wildcard, and every session has a schema"
		remedy = "Name the schema; for all schemas of a user write a rule with username instead."
	default:
		field, message = "flag_in", fmt.Sprintf("the fast route is never taken: no walk can end with flag %d without apply", g.flag)
		if g.key != "" {
			message = fmt.Sprintf("the fast route is never taken: no rule that leads to flag %d matches this user and schema", g.flag)
		}
		remedy = "Mend flag_in, or let a rule without apply set that flag."
		if g.by != nil {
			message = fmt.Sprintf("the fast route is never taken: rule %d takes every statement of this user and schema that comes to flag %d, and %s", g.by.row.RuleID, g.flag, leaving(g.by))
			remedy = "Remove the fast route, or apply (or the flag) from that rule."
		}
	}
	if g.count > 1 {
		message += fmt.Sprintf(" (%d fast routes)", g.count)
	}
	f := l.found(listRoutes, g.first, field, g.code, Warning, message, remedy)
	if g.by != nil {
		f.OtherRules = ids([]*rule{g.by})
	}
}

// keySet are the users and schemas with which a flag can be set.
type keySet struct {
	any     bool
	pairs   map[[2]string]bool // user and schema; empty: any
	schemas map[string]bool    // those of pairs
}

// has tells whether the flag can be set for a user, empty for any, and a schema.
func (k *keySet) has(user, schema string) bool {
	switch {
	case k == nil:
		return false
	case k.any:
		return true
	case user == "":
		return k.schemas[schema] || k.schemas[""]
	}
	return k.pairs[[2]string{user, schema}] || k.pairs[[2]string{user, ""}] || k.pairs[[2]string{"", schema}] || k.pairs[[2]string{"", ""}]
}

// keysOfFlags gives the users and schemas of the rules that set each flag. Flag 0 and those that sessions store are
// there for everybody.
func (l *linter) keysOfFlags() map[int64]*keySet {
	out := make(map[int64]*keySet)
	of := func(flag int64) *keySet {
		if out[flag] == nil {
			out[flag] = &keySet{pairs: make(map[[2]string]bool), schemas: make(map[string]bool)}
		}
		return out[flag]
	}
	of(0).any = true
	for _, r := range l.rules {
		if !r.reached || r.never {
			continue
		}
		if p := r.row.NextQueryFlagIn; p != nil {
			of(*p).any = true
		}
		if r.row.Apply {
			continue
		}
		for _, flag := range r.flags {
			k := of(flag)
			k.pairs[[2]string{r.row.Username, r.row.Schemaname}] = true
			k.schemas[r.row.Schemaname] = true
		}
	}
	return out
}
