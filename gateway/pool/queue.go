package pool

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
)

// Room is a row and how many places it has.
type Room struct {
	Row Row
	Max uint32
}

// Grant is a place that a waiter was given, with a connection if a fitting one came along.
type Grant struct {
	Row  Row
	Conn *Free
}

// Waiter stands in the queue for a place at one of several rows.
type Waiter struct {
	shared *Shared
	want   *Want
	rooms  []Room
	groups []*group
	grants chan Grant // has room for the one that comes
	done   atomic.Bool
}

// QueueFullError says that too many wait already.
type QueueFullError struct {
	Hostgroup int32
	Waiting   uint32
}

// Error names hostgroup and number.
func (e *QueueFullError) Error() string {
	return fmt.Sprintf("%d statements wait already for a connection to hostgroup %d", e.Waiting, e.Hostgroup)
}

// Queue stands in line for a place at one of the rooms, and calls in connections that others do not need. No waiter: a place
// has come free in the meantime.
func (p *Shared) Queue(want *Want, rooms []Room) (*Waiter, error) {
	w := &Waiter{shared: p, want: want, rooms: rooms, grants: make(chan Grant, 1)}
	for _, room := range rooms {
		at := p.at(room.Row)
		g := at.group
		free := room.Max > at.used.Load()
		full := !slices.Contains(w.groups, g) && uint32(len(g.queue)) >= p.policy(room.Row).MaxQueue
		if !free && !full && !slices.Contains(w.groups, g) {
			w.groups = append(w.groups, g)
			g.queue = append(g.queue, w)
			g.waiting.Store(int32(len(g.queue)))
		}
		waiting := uint32(len(g.queue))
		g.mu.Unlock()
		switch {
		case free:
			w.Leave()
			return nil, nil //nolint:nilnil // as said
		case full:
			w.Leave()
			p.metrics.waits[waitFull].Inc()
			return nil, &QueueFullError{g.hostgroup, waiting}
		}
	}
	w.CallIn()
	return w, nil
}

// CallIn calls in a connection that somebody does not need.
func (w *Waiter) CallIn() {
	for _, room := range w.rooms {
		at := w.shared.at(room.Row)
		holders := slices.Collect(maps.Keys(at.holders))
		at.group.mu.Unlock()
		for _, h := range holders {
			if h != w.want.By && h.CallIn() {
				return
			}
		}
	}
}

// pass gives a place that has come free to the first in the queue who wants it, with the connection if that suits, which is
// then given away; with the lock on the group.
func (at *row) pass(f *Free) (given bool) {
	g := at.group
	for _, w := range g.queue {
		if !w.takes(at) || !w.done.CompareAndSwap(false, true) { // another hostgroup may have served it just now
			continue
		}
		g.remove(w)
		at.hold(w.want.By)
		if given = f != nil && f.rate(w.want) > 0; !given {
			f = nil
		}
		w.grants <- Grant{at.Row, f}
		return given
	}
	return false
}

func (w *Waiter) takes(at *row) bool {
	return slices.ContainsFunc(w.rooms, func(room Room) bool { return room.Row == at.Row && at.used.Load() < room.Max })
}

func (g *group) remove(w *Waiter) {
	g.queue = slices.DeleteFunc(g.queue, func(other *Waiter) bool { return other == w })
	g.waiting.Store(int32(len(g.queue)))
}

// Granted gives the place when there is one. After it has come, Leave only cleans up.
func (w *Waiter) Granted() <-chan Grant { return w.grants }

// Leave leaves the queue. A place that was granted in the meantime is given back, unless it was received.
func (w *Waiter) Leave() {
	w.done.Store(true)
	for _, g := range w.groups {
		g.mu.Lock()
		g.remove(w)
		g.mu.Unlock()
	}
	select {
	case grant := <-w.grants:
		w.shared.giveBack(grant, w.want.By)
	default:
	}
}

func (p *Shared) giveBack(grant Grant, by Holder) {
	if grant.Conn != nil {
		p.Put(grant.Row, grant.Conn, by, grant.Conn.since)
		return
	}
	p.Release(grant.Row, by)
}

// Accept takes over a received grant as Take gives it: with a live connection or none.
func (p *Shared) Accept(grant Grant, limit uint32, want *Want) *Free {
	p.metrics.waits[waitServed].Inc()
	at := p.at(grant.Row)
	f, surplus := grant.Conn, (*Free)(nil)
	if f != nil && f.rate(want) == 0 { // the configuration has changed
		p.close(f, closedConfig)
		f = nil
	}
	if f == nil {
		f, surplus = at.draw(want, limit)
	}
	at.group.mu.Unlock()
	if surplus != nil {
		p.close(surplus, closedRoom)
	}
	return p.living(at, want, limit, f)
}

// GaveUp counts a waiter whose time was up.
func (p *Shared) GaveUp() { p.metrics.waits[waitTimeout].Inc() }

// Waiting is the length of the queue for servers of a row's hostgroup.
func (p *Shared) Waiting(r Row) int {
	if at := (*p.rows.Load())[r]; at != nil {
		return int(at.group.waiting.Load())
	}
	return 0
}
