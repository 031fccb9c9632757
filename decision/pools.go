package decision

import (
	"fmt"

	"github.com/pointsman/pointsman/decision/guideline"
	"github.com/pointsman/pointsman/decision/selection"
)

// Pools are the servers of a guide's routes, by what is known of them at one moment. To their users they never change: who
// learns more makes new ones.
type Pools struct {
	guide     *Guide
	hasRouter bool
	names     guideline.Names
	servers   []Server // the rows
	members   []member // each address once
	classesOf [][]int  // of each member; none for one that is in no pool
	pools     map[string]*Pool
}

// NewPools puts the servers into classes and the routes' tiers. Rows of the same address are one server, and what one row
// doesn't say of it, another one may. router may be nil: its variables are NULL then. servers and rt must not be changed
// afterwards.
//
// A server's role is what rt says of it; else its member_role; else PRIMARY in the writer hostgroup and SECONDARY in the reader
// hostgroup (in both: PRIMARY); else UNDEFINED. Who finds out roles can't tell a read replica from another secondary, so a
// SECONDARY whose member_role is READ_REPLICA is that. Servers hidden by their tag _hidden are in no pool.
func (d *Guide) NewPools(router *guideline.Router, servers []Server, rt *Runtime) *Pools {
	p := &Pools{guide: d, hasRouter: router != nil, names: rt.names(), servers: servers, pools: make(map[string]*Pool, 3*len(d.pools))}
	p.members = d.members(servers, rt)
	p.classesOf = make([][]int, len(p.members))
	for i := range p.members {
		m := &p.members[i]
		m.classes, m.failures = d.guideline.Classify(&guideline.Facts{Router: router, Server: &m.facts, Names: p.names})
		if !m.hidden() {
			p.classesOf[i] = m.classes
		}
	}
	for i := range d.pools {
		names := &d.pools[i]
		p.pools[names.all[0]] = &Pool{of: p, route: i, mode: GuidelineAll}
		p.pools[names.write[0]] = &Pool{of: p, route: i, mode: GuidelineWrite}
		p.pools[names.read[0]] = &Pool{of: p, route: i, mode: GuidelineRead}
	}
	return p
}

// Pool gives a pool by its name, as Choice.Pools has it; nil when the guideline has no such route.
func (p *Pools) Pool(name string) *Pool {
	pool := p.pools[name]
	if pool != nil {
		pool.filled.Do(pool.fill)
	}
	return pool
}

// UnknownPoolError is a pool that the guideline does not have.
type UnknownPoolError struct {
	Pool string
}

// Error tells what pools there are.
func (e *UnknownPoolError) Error() string {
	return fmt.Sprintf("guideline pool %q is unknown: the guideline in force has all:<route>, write:<route> and read:<route> for each of its routes", e.Pool)
}

// row gives the row of a member that pools of a mode draw: that of the writer hostgroup for writes and of the reader hostgroup
// for reads, and where it has none, its first one.
func (p *Pools) row(m *member, mode GuidelineMode) int {
	for _, row := range m.rows {
		switch hostgroup := p.servers[row].HostgroupID; {
		case mode == GuidelineWrite && hostgroup == p.guide.writer, mode == GuidelineRead && hostgroup == p.guide.reader:
			return row
		}
	}
	return m.rows[0]
}

// candidate is a row of a member as pools draw it. A server that is known to be unavailable is shunned.
func (p *Pools) candidate(m *member, row int) selection.Candidate {
	c := p.servers[row].candidate()
	if m.unavailable != "" {
		c.Status = selection.Shunned
	}
	return c
}
