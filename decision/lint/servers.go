package lint

import (
	"fmt"

	"github.com/pointsman/pointsman/decision"
)

// destination is where a hostgroup is named.
type destination struct {
	list, index int
	field       string
	rule        *rule // nil: no rule
}

// servers reports hostgroups to which something is sent although none of their servers can be drawn. A configuration
// without servers leaves them to its callers, and a guideline draws from its own tiers for the hostgroups that it stands in for.
func (l *linter) servers() {
	if len(l.cfg.Servers) == 0 {
		return
	}
	var order []int64
	uses := make(map[int64][]destination)
	use := func(hostgroup int64, d destination) {
		if hostgroup < 0 || l.guide != nil && l.guide.Bound(int32(hostgroup)) && d.field != "mirror_hostgroup" {
			return
		}
		if len(uses[hostgroup]) == 0 {
			order = append(order, hostgroup)
		}
		uses[hostgroup] = append(uses[hostgroup], d)
	}
	for i := range l.cfg.Users {
		if u := &l.cfg.Users[i]; l.users[u.Username] == u {
			use(int64(u.DefaultHostgroup), destination{list: listUsers, index: i, field: "default_hostgroup"})
		}
	}
	for _, r := range l.rules {
		if r.hasDestination() {
			use(*r.row.DestinationHostgroup, destination{listRules, r.index, "destination_hostgroup", r})
		}
		if p := r.row.MirrorHostgroup; p != nil {
			use(*p, destination{listRules, r.index, "mirror_hostgroup", r})
		}
	}
	for i := range l.cfg.FastRoutes {
		use(l.cfg.FastRoutes[i].DestinationHostgroup, destination{list: listRoutes, index: i, field: "destination_hostgroup"})
	}
	for _, hostgroup := range order {
		if why := l.unusable(int32(hostgroup)); why != "" {
			l.reportHostgroup(hostgroup, why, uses[hostgroup])
		}
	}
}

func (l *linter) reportHostgroup(hostgroup int64, why string, uses []destination) {
	first := uses[0]
	message := fmt.Sprintf("hostgroup %d has no server that can be drawn: %s", hostgroup, why)
	if n := len(uses) - 1; n > 0 {
		message += fmt.Sprintf(" (%d more places send statements there)", n)
	}
	f := l.found(first.list, first.index, first.field, codeNoUsableServer, Warning, message, "Add a server, set one ONLINE with a weight above 0, or mend the number.")
	var others []*rule
	for _, d := range uses[1:min(len(uses), maxNamed)] {
		if d.rule != nil && d.rule != first.rule {
			others = append(others, d.rule)
		}
	}
	f.OtherRules = ids(others)
}

// unusable says why no server of a hostgroup can be drawn; empty: one can.
func (l *linter) unusable(hostgroup int32) string {
	result := l.g.Select(&decision.SelectRequest{Hostgroup: hostgroup, Explain: true})
	switch n := len(result.Rejections); {
	case result.Eligible > 0:
		return ""
	case n == 0:
		return "it has none"
	case n == 1:
		return fmt.Sprintf("%s: %s", result.Rejections[0].Server, result.Rejections[0].Reason)
	default:
		return fmt.Sprintf("%s: %s, and %d more are out as well", result.Rejections[0].Server, result.Rejections[0].Reason, n-1)
	}
}
