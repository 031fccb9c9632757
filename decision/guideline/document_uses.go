package guideline

import (
	"slices"
	"strings"
)

// Uses says what a guideline looks at: which sessions it can tell apart, and what its classes depend on besides the servers.
type Uses struct {
	// What enabled routes look at.
	User, Schema          bool
	SourceIP              bool
	TargetIP, TargetPort  bool
	RandomValue           bool
	ConnectAttrs          []string // keys, sorted
	Router                bool     // any of its variables
	Names                 bool     // resolved host names
	DestinationsUseRouter bool
	DestinationsUseNames  bool
}

// Uses gives what the guideline looks at.
func (g *Guideline) Uses() Uses { return g.uses }

const (
	routerPrefix      = "router."
	connectAttrPrefix = "session.connectAttrs."
)

func usesOf(g *Guideline) Uses {
	var u Uses
	for _, i := range g.enabled {
		rule := g.routes[i].rule
		u.Names = u.Names || len(rule.Hosts()) > 0
		for _, use := range rule.Variables() {
			u.note(use.Name)
		}
	}
	slices.Sort(u.ConnectAttrs)
	u.ConnectAttrs = slices.Compact(u.ConnectAttrs)
	for i := range g.classes {
		rule := g.classes[i].rule
		u.DestinationsUseNames = u.DestinationsUseNames || len(rule.Hosts()) > 0
		for _, use := range rule.Variables() {
			u.DestinationsUseRouter = u.DestinationsUseRouter || strings.HasPrefix(use.Name, routerPrefix)
		}
	}
	return u
}

// note records a variable of a route.
func (u *Uses) note(name string) {
	switch name {
	case "session.user":
		u.User = true
	case "session.schema":
		u.Schema = true
	case "session.sourceIP":
		u.SourceIP = true
	case "session.targetIP":
		u.TargetIP = true
	case "session.targetPort":
		u.TargetPort = true
	case "session.randomValue":
		u.RandomValue = true
	default:
		if key, ok := strings.CutPrefix(name, connectAttrPrefix); ok {
			u.ConnectAttrs = append(u.ConnectAttrs, key)
		}
		u.Router = u.Router || strings.HasPrefix(name, routerPrefix)
	}
}
