package decision

import (
	"github.com/pointsman/pointsman/decision/guideline"
	"github.com/pointsman/pointsman/decision/selection"
)

// Report is how a guideline sees the servers, for operators.
type Report struct {
	Classes []ReportedClass  // in the document's order
	Routes  []ReportedRoute  // in the document's order, as many as have 100,000 members in their tiers; a note tells of more
	Servers []ReportedServer // each address once, in the configuration's order
	Notes   []string         // what an operator should know
}

// ReportedClass is a destination class and the addresses of its servers.
type ReportedClass struct {
	Name, Match string
	Servers     []string
}

// ReportedRoute is a route with its tiers.
type ReportedRoute struct {
	Name, Match string
	Enabled     bool
	Tiers       []ReportedTier
}

// ReportedTier is a destination group and its members.
type ReportedTier struct {
	Priority  uint64
	Strategy  string // "round-robin" or "first-available"
	Classes   []string
	Servers   []string // addresses, in order
	Available int      // how many of them could be drawn now
}

// ReportedServer is a server as the guideline sees it.
type ReportedServer struct {
	Address     string
	Label       string
	MemberRole  string
	RoleSource  string // "monitor", "configuration" or "hostgroup"
	Classes     []string
	Hostgroups  []int32
	Weight      int64  // of the row that pools draw for it: as a primary or another server
	Unavailable string // why it can't be drawn now; empty: it can
}

// maxReported is how many members of tiers a report lists.
const maxReported = 100_000

// Report tells how the guideline sees the servers.
func (p *Pools) Report() Report {
	d := p.guide.guideline
	var out Report
	available := make([]bool, len(p.members))
	servers := make([][]string, len(d.Classes()))
	for i := range p.members {
		s := p.reportServer(&p.members[i])
		available[i] = s.Unavailable == ""
		for _, class := range p.members[i].classes {
			servers[class] = append(servers[class], s.Address)
		}
		out.Servers = append(out.Servers, s)
	}
	for i, class := range d.Classes() {
		out.Classes = append(out.Classes, ReportedClass{class.Name, class.Match, servers[i]})
	}
	listed := 0
	for i := range d.Routes() {
		route := p.reportRoute(i, available)
		for t := range route.Tiers {
			listed += len(route.Tiers[t].Servers)
		}
		if listed > maxReported {
			break
		}
		out.Routes = append(out.Routes, route)
	}
	out.Notes = p.notes(&out)
	return out
}

func (p *Pools) reportServer(m *member) ReportedServer {
	mode := GuidelineRead
	if m.facts.MemberRole == guideline.Primary {
		mode = GuidelineWrite
	}
	row := p.row(m, mode)
	s := ReportedServer{
		Address: m.address, Label: m.facts.Label, MemberRole: m.facts.MemberRole.String(), RoleSource: m.roleSource,
		Weight: *filled(p.servers[row].Weight, 1),
	}
	for _, class := range m.classes {
		s.Classes = append(s.Classes, p.guide.guideline.Classes()[class].Name)
	}
	for _, r := range m.rows {
		s.Hostgroups = append(s.Hostgroups, p.servers[r].HostgroupID)
	}
	limits := selection.DefaultLimits()
	s.Unavailable = p.why(m, row, &limits, nil)
	if m.hidden() {
		s.Unavailable = "hidden by its tag _hidden"
	}
	return s
}

func (p *Pools) reportRoute(i int, available []bool) ReportedRoute {
	route := &p.guide.guideline.Routes()[i]
	out := ReportedRoute{Name: route.Name, Match: route.Match, Enabled: route.Enabled}
	for t, members := range p.guide.guideline.Tiers(i, p.classesOf) {
		group := &route.Groups[t]
		tier := ReportedTier{Priority: group.Priority, Strategy: group.Strategy.String(), Classes: group.Classes}
		counted := make(map[int]bool, len(members))
		for _, index := range members {
			tier.Servers = append(tier.Servers, p.members[index].address)
			if available[index] && !counted[index] {
				tier.Available++
			}
			counted[index] = true
		}
		out.Tiers = append(out.Tiers, tier)
	}
	return out
}
