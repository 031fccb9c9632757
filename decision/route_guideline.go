package decision

import (
	"encoding/binary"
	"net/netip"
	"strings"

	"github.com/pointsman/pointsman/decision/guideline"
)

// guidedSession is room for what a guideline sees of a session.
type guidedSession struct {
	facts   guideline.Facts
	session guideline.Session
}

// ask gives what the guideline in force makes of a session.
func (g *Generation) ask(q *Question, room *guidedSession) chosen {
	s := &q.Session
	of := chosen{route: s.KeptRoute, listener: g.guide.Mode(s.listener())}
	switch {
	case of.route == Refused:
		of.refusal = g.guide.noRoute
	case !g.guide.has(of.route):
		g.guidedFacts(q, room)
		of.route, of.refusal = g.guide.route(&room.facts)
	}
	return of
}

// guidedFacts fills in what routes look at. A user who is not known has no route to look for: the question is refused.
func (g *Generation) guidedFacts(q *Question, room *guidedSession) {
	s := &q.Session
	schema := s.Schemaname
	if user := g.byName[s.Username]; user != nil {
		schema = g.schemaOf(s.Schemaname, user)
	}
	room.session = s.Facts(schema)
	room.facts = guideline.Facts{Router: s.Router, Session: &room.session, Names: q.Names}
}

// Facts gives what guidelines see of a session. schema is the one that query rules see, with the user's and the settings'
// defaults. The target is the listener that the router tells, else the address that the client connected to.
func (s *Session) Facts(schema string) guideline.Session {
	target := s.ProxyAddr
	if s.Router != nil && s.Router.BindAddress != "" {
		target = s.Router.BindAddress
	}
	return guideline.Session{
		TargetIP: unmapped(target), TargetPort: float64(s.ProxyPort), SourceIP: unmapped(s.ClientAddr), RandomValue: s.RandomValue,
		User: s.Username, Schema: schema, ConnectAttrs: s.ConnectAttrs,
	}
}

// unmapped gives the IPv4 address inside an IPv4-mapped one, as servers that listen on both see their IPv4 clients, and every
// other text as it is. It needs no memory for the usual spelling, ::ffff:10.1.2.3.
func unmapped(address string) string {
	at := strings.LastIndexByte(address, ':')
	if at < 0 {
		return address
	}
	ip, err := netip.ParseAddr(address)
	if err != nil || !ip.Is4In6() {
		return address
	}
	if last := address[at+1:]; strings.Contains(last, ".") && ip.Zone() == "" {
		return last
	}
	return ip.Unmap().String()
}

// listener is the listener that a session came by.
func (s *Session) listener() Listener {
	l := Listener{Port: s.ProxyPort}
	if s.Router != nil {
		l.Name = s.Router.RouteName
	}
	return l
}

// guided lets the session's route stand in for a hostgroup of the guideline's binding. A session that is held there stays
// where it is and is never refused, but its route is told, so that the caller draws from the same pool again when it is free.
func (g *Generation) guided(c *class, a *Answer) {
	if g.guide == nil || !g.guide.Bound(a.DestinationHostgroup) {
		return
	}
	held := a.Reason == ReasonLocked || a.Reason == ReasonTransaction
	of := &c.key.chosen
	if held && of.route < 0 {
		return
	}
	g.guide.choose(&a.Guideline, of, a.DestinationHostgroup)
	a.HasGuideline = true
	if held {
		return
	}
	a.Reason = ReasonGuideline
	if of.route < 0 {
		a.DestinationHostgroup = None
		a.ErrorMsg = of.refusal
		a.Set |= ErrorMsg
	}
}

// append appends all that tells two sessions of one generation apart.
func (of *chosen) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(of.route))
	dst = append(dst, byte(of.listener))
	start := len(dst)
	return appendLength(append(dst, of.refusal...), start)
}

// hash is 0 without a guideline.
func (of *chosen) hash() uint64 {
	return uint64(uint32(of.route+1))<<24 ^ uint64(of.listener)<<56
}
