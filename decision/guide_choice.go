package decision

import "github.com/pointsman/pointsman/decision/guideline"

// GuidelineMode says which of a route's servers a statement may go to.
type GuidelineMode uint8

// The modes.
const (
	GuidelineAll   GuidelineMode = iota + 1 // all of them: the listener's mode is rw or ro
	GuidelineWrite                          // its primaries: the destination is the binding's writer hostgroup
	GuidelineRead                           // its other servers: the destination is the binding's reader hostgroup
)

// poolModes is how many modes there are.
const poolModes = 3

// Choice is what the routing guideline says of a statement that goes to one of its binding's hostgroups.
type Choice struct {
	Guideline string        // the guideline's name
	Route     int32         // index in the guideline's Routes; None: the statement is refused
	Name      string        // the route's name; empty when the statement is refused
	Mode      GuidelineMode // which of the route's servers
	// Pools are the pools to draw a server from, a later one when the earlier ones have no server to give: all:<route>;
	// write:<route>; or read:<route> and write:<route>, so that reads go to the primaries when no other server is there. The
	// list is shared and must not be changed; it is empty when the statement is refused.
	Pools   []string
	Refusal string // why the statement is refused, for the client; empty: it is not
}

// chosen is what a guideline makes of a session, whatever the statement.
type chosen struct {
	route    int32 // Refused: none matched; None: a rule failed
	listener ListenerMode
	refusal  string
}

// Choose sets c to what the guideline says of a session for a statement whose destination is a bound hostgroup. It needs no
// memory when a route matches.
func (d *Guide) Choose(c *Choice, f *guideline.Facts, l Listener, hostgroup int32) {
	var of chosen
	of.route, of.refusal = d.route(f)
	of.listener = d.Mode(l)
	d.choose(c, &of, hostgroup)
}

// choose picks a route's servers. Where writer and reader hostgroup are the same nobody knows reads from writes, so under
// rw_split all statements go to the primaries.
func (d *Guide) choose(c *Choice, of *chosen, hostgroup int32) {
	*c = Choice{Guideline: d.guideline.Name(), Route: max(of.route, None), Refusal: of.refusal}
	switch {
	case of.listener != ListenerRWSplit:
		c.Mode = GuidelineAll
	case hostgroup == d.writer:
		c.Mode = GuidelineWrite
	default:
		c.Mode = GuidelineRead
	}
	if of.route < 0 {
		return
	}
	c.Name = d.guideline.Routes()[of.route].Name
	switch pools := &d.pools[of.route]; c.Mode {
	case GuidelineAll:
		c.Pools = pools.all
	case GuidelineWrite:
		c.Pools = pools.write
	case GuidelineRead:
		c.Pools = pools.read
	}
}
