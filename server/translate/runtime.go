package translate

import (
	"cmp"
	"maps"
	"slices"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/guideline"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// RuntimeToProto gives the API's form of what is known at run time, in a fixed order. Of the hosts that are wanted, those
// that were not resolved come with an empty address. A nil runtime knows nothing.
func RuntimeToProto(rt *decision.Runtime, wanted []guideline.Host) *configv1.RuntimeState {
	out := &configv1.RuntimeState{}
	if rt == nil {
		rt = &decision.Runtime{}
	}
	for _, address := range slices.Sorted(maps.Keys(rt.Servers)) {
		s := rt.Servers[address]
		out.Servers = append(out.Servers, &configv1.ServerState{Server: address, MemberRole: s.MemberRole, Unavailable: shown(s.Unavailable)})
	}
	hosts := slices.SortedFunc(slices.Values(wanted), func(a, b guideline.Host) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), compareBool(a.V6, b.V6))
	})
	for _, host := range hosts {
		out.Names = append(out.Names, &configv1.ResolvedName{Name: host.Name, Ipv6: host.V6, Address: rt.Names[host]})
	}
	return out
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// ReportToProto gives the API's form of a report on the guideline in force. Generation is the caller's to fill in.
func ReportToProto(d *decision.Guide, r *decision.Report) *configv1.GetGuidelineResponse {
	g := d.Guideline()
	out := &configv1.GetGuidelineResponse{Name: g.Name(), Version: g.Version(), Binding: BindingToProto(d.Binding())}
	for i := range r.Classes {
		c := &r.Classes[i]
		out.Classes = append(out.Classes, &configv1.GuidelineClass{Name: c.Name, Match: c.Match, Servers: c.Servers})
	}
	for i := range r.Routes {
		out.Routes = append(out.Routes, reportedRouteToProto(&r.Routes[i]))
	}
	for i := range r.Servers {
		s := &r.Servers[i]
		out.Servers = append(out.Servers, &configv1.GuidelineServer{
			Server: s.Address, Label: s.Label, MemberRole: s.MemberRole, RoleSource: s.RoleSource, Classes: s.Classes,
			Hostgroups: s.Hostgroups, Weight: s.Weight, Unavailable: shown(s.Unavailable),
		})
	}
	for _, note := range r.Notes {
		out.Notes = append(out.Notes, shown(note))
	}
	return out
}

func reportedRouteToProto(r *decision.ReportedRoute) *configv1.GuidelineRoute {
	out := &configv1.GuidelineRoute{Name: r.Name, Match: r.Match, Enabled: r.Enabled}
	for i := range r.Tiers {
		t := &r.Tiers[i]
		out.Tiers = append(out.Tiers, &configv1.GuidelineTier{
			Priority: t.Priority, Strategy: t.Strategy, Classes: t.Classes, Servers: t.Servers, Available: uint32(t.Available),
		})
	}
	return out
}
