package decision

import (
	"fmt"
	"slices"

	"github.com/pointsman/pointsman/decision/guideline"
)

// maxNotes bounds the notes; the last one then counts the rest.
const maxNotes = 1000

// noteTaker collects what is odd about a report.
type noteTaker struct {
	pools  *Pools
	report *Report
	notes  []string
}

func (p *Pools) notes(r *Report) []string {
	n := noteTaker{pools: p, report: r}
	n.facts()
	n.servers()
	n.routes()
	n.classes()
	if more := len(n.notes) - maxNotes; more > 0 {
		n.notes = append(n.notes[:maxNotes:maxNotes], fmt.Sprintf("and %d more", more))
	}
	return n.notes
}

func (n *noteTaker) note(format string, args ...any) {
	n.notes = append(n.notes, fmt.Sprintf(format, args...))
}

// facts tells what rules lack to be evaluated.
func (n *noteTaker) facts() {
	g := n.pools.guide.guideline
	for _, host := range g.Hosts() {
		if n.pools.names[host] == "" {
			family := "IPv4"
			if host.V6 {
				family = "IPv6"
			}
			n.note("could not resolve %s (%s): rules that ask for it fail", host.Name, family)
		}
	}
	if g.Uses().DestinationsUseRouter && !n.pools.hasRouter {
		n.note("destinations look at $.router, but no router's facts were given: they read NULL; each gateway sees its own")
	}
}

func (n *noteTaker) servers() {
	for i := range n.pools.members {
		m := &n.pools.members[i]
		for _, err := range m.failures {
			n.note("server %s: %v", m.address, err)
		}
		switch {
		case m.hidden():
			n.note("server %s is hidden by its tag _hidden: it is in no tier", m.address)
		case len(m.classes) == 0:
			n.note("server %s is in no class", m.address)
		}
	}
}

func (n *noteTaker) routes() {
	primaries := make(map[string]bool) // that can be drawn
	for i := range n.report.Servers {
		if s := &n.report.Servers[i]; s.Unavailable == "" && n.pools.members[i].facts.MemberRole == guideline.Primary {
			primaries[s.Address] = true
		}
	}
	for i := range n.report.Routes {
		n.route(&n.report.Routes[i], n.pools.guide.guideline.Routes()[i].NeverMatches(), primaries)
	}
	if told, all := len(n.report.Routes), len(n.pools.guide.pools); told < all {
		n.note("the report ends after %d of %d routes: their tiers have too many members", told, all)
	}
}

// route tells about one route; never says that its rule is true of no session.
func (n *noteTaker) route(r *ReportedRoute, never bool, primaries map[string]bool) {
	if !r.Enabled {
		n.note("route %q is disabled: it never matches", r.Name)
		return
	}
	if never {
		n.note("route %q can never match: its rule is always FALSE; a word without $. is a text", r.Name)
		return
	}
	available, writable := 0, false
	for i := range r.Tiers {
		tier := &r.Tiers[i]
		switch {
		case len(tier.Servers) == 0:
			n.note("route %q: tier %d has no server", r.Name, i+1)
		case tier.Available == 0:
			n.note("route %q: tier %d has no available server", r.Name, i+1)
		}
		available += tier.Available
		writable = writable || slices.ContainsFunc(tier.Servers, func(address string) bool { return primaries[address] })
	}
	switch {
	case available == 0:
		n.note("route %q: no server is available, statements of its sessions fail", r.Name)
	case !writable && n.pools.guide.splits():
		n.note("route %q: no primary is available, so on listeners with mode rw_split its sessions can't write", r.Name)
	}
}

func (n *noteTaker) classes() {
	used := make(map[string]bool)
	for _, route := range n.pools.guide.guideline.Routes() {
		for _, group := range route.Groups {
			for _, class := range group.Classes {
				used[class] = true
			}
		}
	}
	for i := range n.report.Classes {
		switch class := &n.report.Classes[i]; {
		case n.pools.guide.guideline.Classes()[i].NeverMatches():
			n.note("class %q can never match: its rule is always FALSE; a word without $. is a text", class.Name)
		case !used[class.Name]:
			n.note("class %q is used by no route", class.Name)
		case len(class.Servers) == 0:
			n.note("class %q has no server", class.Name)
		}
	}
}
