package decision

import (
	"fmt"
	"sync/atomic"

	"github.com/pointsman/pointsman/decision/guideline"
	"github.com/pointsman/pointsman/decision/selection"
)

// Pools are the servers of a guide's routes, by what is known of them at one moment. To their users they never change: who
// learns more makes new ones.
type Pools struct {
	guide     *Guide
	hasRouter bool
	names     guideline.Names
	servers   []Server         // the rows
	members   []member         // each address once
	classesOf [][]int          // of each member; none for one that is in no pool
	overfull  map[int32]string // hostgroups that have too many servers ONLINE to draw any, and how many
	kept      keptPools        // by the guide's slots
}

// NewPools puts the servers into classes and the routes' tiers. Rows of the same address are one server, and what one row
// doesn't say of it, another one may. router may be nil: its variables are NULL then. servers and rt must not be changed
// afterwards. hostgroups are those that the configuration declares: as outside of guidelines, no row of a hostgroup is drawn
// while more of its rows are ONLINE than its MaxNumOnlineServers (nil: no limit) allows.
//
// A server's role is what rt says of it; else its member_role; else PRIMARY in the writer hostgroup and SECONDARY in the reader
// hostgroup (in both: PRIMARY); else UNDEFINED. Who finds out roles can't tell a read replica from another secondary, so a
// SECONDARY whose member_role is READ_REPLICA is that. Servers hidden by their tag _hidden are in no pool.
func (d *Guide) NewPools(router *guideline.Router, hostgroups []Hostgroup, servers []Server, rt *Runtime) *Pools {
	p := &Pools{guide: d, hasRouter: router != nil, names: rt.names(), servers: servers}
	p.kept.slots = make([]atomic.Pointer[Pool], len(d.slots))
	p.members = d.members(servers, rt)
	p.countOnline(hostgroups)
	p.classesOf = make([][]int, len(p.members))
	for i := range p.members {
		m := &p.members[i]
		m.classes, m.failures = d.guideline.Classify(&guideline.Facts{Router: router, Server: &m.facts, Names: p.names})
		if !m.hidden() {
			p.classesOf[i] = m.classes
		}
	}
	return p
}

// countOnline finds the hostgroups with too many servers ONLINE. One that is known to be unavailable is not.
func (p *Pools) countOnline(hostgroups []Hostgroup) {
	online := make(map[int32]int)
	for i := range p.members {
		m := &p.members[i]
		for _, row := range m.rows {
			if s := &p.servers[row]; p.candidate(m, row).Status == selection.Online {
				online[s.HostgroupID]++
			}
		}
	}
	p.overfull = make(map[int32]string)
	for i := range hostgroups {
		h := &hostgroups[i]
		if h.MaxNumOnlineServers == nil || online[h.HostgroupID] <= int(*h.MaxNumOnlineServers) {
			continue
		}
		p.overfull[h.HostgroupID] = selection.Reason{
			Kind: selection.TooManyOnline, Value: uint64(online[h.HostgroupID]), Limit: uint64(*h.MaxNumOnlineServers),
		}.String()
	}
}

// Pool gives a pool by its name, as Choice.Pools has it; nil when the guideline has no such route.
func (p *Pools) Pool(name string) *Pool {
	slot, ok := p.guide.slots[name]
	if !ok {
		return nil
	}
	return p.kept.get(slot, func() *Pool { return p.fill(slot/poolModes, GuidelineAll+GuidelineMode(slot%poolModes)) })
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

// candidate is a row of a member as pools draw it. A server that is known to be unavailable is shunned, and so are all of a
// hostgroup with too many ONLINE.
func (p *Pools) candidate(m *member, row int) selection.Candidate {
	s := &p.servers[row]
	c := s.candidate()
	if m.unavailable != "" || p.overfull[s.HostgroupID] != "" {
		c.Status = selection.Shunned
	}
	return c
}
