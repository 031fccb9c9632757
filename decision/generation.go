package decision

import (
	"slices"

	"github.com/pointsman/pointsman/decision/digest"
	"github.com/pointsman/pointsman/decision/fastroute"
	"github.com/pointsman/pointsman/decision/guideline"
	"github.com/pointsman/pointsman/decision/rules"
)

// Generation is one compiled configuration. It never changes to its users.
type Generation struct {
	number     uint64
	settings   Settings // all filled
	hostgroups []Hostgroup
	groups     map[int32]*group
	servers    []Server
	users      []User
	byName     map[string]*User

	rules        *rules.Set
	fastRoutes   *fastroute.Table
	backtracking []int64
	sources      []ruleSource // of all rules, by rule_id
	guide        *Guide       // nil: no guideline is in force

	digests       bool
	digestOptions digest.Options
	annotations   bool
	iterations    uint32
	attributes    []string

	plain   bool       // walk by the reference; for tests
	classes classTable // the only part that changes: it remembers what was found out
}

// Number is the generation's number.
func (g *Generation) Number() uint64 { return g.number }

// Settings are the settings with every default filled in. They must not be changed.
func (g *Generation) Settings() Settings { return g.settings }

// Users are the active users in the document's order, with every default but a password filled in. They must not be
// changed, and hold credentials.
func (g *Generation) Users() []User { return slices.Clip(g.users) }

// User gives the active user of that name.
func (g *Generation) User(name string) (*User, bool) {
	u, ok := g.byName[name]
	return u, ok
}

// Hostgroups are all hostgroups that are declared or have servers, by hostgroup_id, with every default filled in.
func (g *Generation) Hostgroups() []Hostgroup { return slices.Clip(g.hostgroups) }

// Servers are all servers in the document's order, with every default filled in.
func (g *Generation) Servers() []Server { return slices.Clip(g.servers) }

// SessionAttributes names the attributes that a session's class depends on, as the API's Session calls them.
func (g *Generation) SessionAttributes() []string { return slices.Clip(g.attributes) }

// Backtracking gives the rule_id of each active rule with an expression that needs the backtracking engine.
func (g *Generation) Backtracking() []int64 { return slices.Clip(g.backtracking) }

// Guide is the routing guideline in force; nil: there is none.
func (g *Generation) Guide() *Guide { return g.guide }

// LooksAtRandomValue tells whether the guideline in force looks at Session.RandomValue.
func (g *Generation) LooksAtRandomValue() bool {
	return g.guide != nil && g.guide.guideline.Uses().RandomValue
}

// DigestOptions are the options that statements are digested with.
func (g *Generation) DigestOptions() digest.Options { return g.digestOptions }

// sessionAttributes lists what a class is resolved from; see classKey. The username is always among them: an unknown one
// has to be refused. With a guideline they are all that its routes look at: classes depend on the route alone, but the route
// has to be found.
func (g *Generation) sessionAttributes() []string {
	names := []string{"username"}
	add := func(looked bool, name string) {
		if looked {
			names = append(names, name)
		}
	}
	var uses guideline.Uses
	if g.guide != nil {
		uses = g.guide.guideline.Uses()
	}
	add(g.looksAtSchemaname() || uses.Schema, "schemaname")
	add(g.rules.LooksAtClientAddr() || uses.SourceIP, "client_addr")
	add(g.rules.LooksAtProxyAddr() || uses.TargetIP, "proxy_addr")
	add(g.rules.LooksAtProxyPort() || g.guide != nil, "proxy_port") // the listener's mode depends on it
	names = append(names, "next_query_flag_in")
	for _, key := range uses.ConnectAttrs {
		names = append(names, "connect_attrs."+key)
	}
	add(uses.RandomValue, "random_value")
	add(g.guide != nil, "router") // as does the mode on the listener's name; its address is $.session.targetIP
	add(uses.Names, "resolved_names")
	return names
}

func (g *Generation) looksAtSchemaname() bool {
	return g.rules.LooksAtSchemaname() || g.fastRoutes.Len() > 0
}
