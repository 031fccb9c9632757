package decision

import "github.com/pointsman/pointsman/decision/guideline"

// member is a server as a guideline sees it, whatever hostgroups it is in.
type member struct {
	address     string
	rows        []int // indexes of the servers
	facts       guideline.Server
	roleSource  string
	unavailable string // as the runtime state says; empty: it is not

	classes  []int
	failures []error // of the classes' rules
}

// Where a member's role comes from.
const (
	roleOfMonitor       = "monitor"
	roleOfConfiguration = "configuration"
	roleOfHostgroup     = "hostgroup"
)

// members gives the servers, each address once, in the order of their first rows.
func (d *Guide) members(servers []Server, rt *Runtime) []member {
	var out []member
	var merged []Server
	places := make(map[string]int, len(servers))
	for i := range servers {
		address := servers[i].Address()
		at, known := places[address]
		if !known {
			at = len(out)
			places[address] = at
			out = append(out, member{address: address})
			merged = append(merged, servers[i])
		} else {
			merged[at].merge(&servers[i])
		}
		out[at].rows = append(out[at].rows, i)
	}
	for i := range out {
		m := &out[i]
		state := rt.state(m.address)
		m.facts, m.unavailable = merged[i].facts(), state.Unavailable
		m.facts.MemberRole, m.roleSource = d.role(&merged[i], m.rows, servers, state.MemberRole)
	}
	return out
}

// role gives a server's role and where it comes from; see NewPools.
func (d *Guide) role(s *Server, rows []int, servers []Server, seen string) (role guideline.Role, source string) {
	configured := guideline.Undefined
	if s.MemberRole != nil {
		configured, _ = parseMemberRole(*s.MemberRole)
	}
	if role, ok := parseMemberRole(seen); ok && role != guideline.Undefined {
		if role == guideline.Secondary && configured == guideline.ReadReplica {
			return configured, roleOfConfiguration
		}
		return role, roleOfMonitor
	}
	if s.MemberRole != nil {
		return configured, roleOfConfiguration
	}
	role = guideline.Undefined
	for _, row := range rows {
		switch servers[row].HostgroupID {
		case d.writer:
			return guideline.Primary, roleOfHostgroup
		case d.reader:
			role = guideline.Secondary
		}
	}
	return role, roleOfHostgroup
}

func (m *member) hidden() bool { return guideline.Hidden(m.facts.Tags) }
