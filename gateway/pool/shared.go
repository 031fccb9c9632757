package pool

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Row names a server as a row of the configuration does. Connections are counted, limited and shared by row.
type Row struct {
	Hostgroup int32
	Addr      string
}

// Policy is what the configuration says of a row's connections. The zero value is that of rows that are gone.
type Policy struct {
	Online    bool          // free connections are kept
	Max       uint32        // connections, free ones included
	MaxFree   uint32        // free connections
	MaxAge    time.Duration // of a free connection since its login; 0: no limit
	MaxIdle   time.Duration // without use; 0: no limit
	Warm      bool          // free connections are made ahead
	PerSecond uint32        // logins to all servers of the row's hostgroup
	MaxQueue  uint32        // statements that wait for one of the row's hostgroup
}

// Holder is somebody who has connections of the pool.
type Holder interface {
	// CallIn asks to give back connections that are not needed at the moment. It must not block, and tells whether they
	// will be.
	CallIn() bool
}

// Shared counts a gateway's connections to servers and keeps those that nobody uses at the moment, so that they need not log
// in anew. Whoever wants a connection takes a place first, and gives it back with or without the connection. Where all
// places are taken there is a queue.
type Shared struct {
	policy  func(Row) Policy
	metrics *Metrics
	serials atomic.Uint64
	ended   atomic.Bool // takes no free connections any more

	rows atomic.Pointer[map[Row]*row] // replaced as a whole, so that it can be read without a lock

	mu     sync.Mutex // for changes of rows, after that of a group
	groups map[int32]*group
}

// NewShared makes a pool without connections. policy is asked often.
func NewShared(policy func(Row) Policy, metrics *Metrics) *Shared {
	p := &Shared{policy: policy, metrics: metrics, groups: map[int32]*group{}}
	p.rows.Store(&map[Row]*row{})
	return p
}

// group is a hostgroup's part of the pool.
type group struct {
	hostgroup int32
	waiting   atomic.Int32 // length of queue
	throttle  *rate.Limiter

	mu    sync.Mutex // also for the group's rows
	queue []*Waiter  // first come, first served
}

// row is a server's part.
type row struct {
	Row
	group   *group
	used    atomic.Uint32 // places taken; changes with group.mu
	gone    bool          // not in the pool any more
	free    []*Free
	holders map[Holder]uint32 // places by who has them
	kinds   []seenKind        // that were asked for, for warming
}

// Free is a connection between two users.
type Free struct {
	*BackendConn
	Kind   Kind
	Target Target    // of its login
	Born   time.Time // when it logged in
	Schema string    // in force there
	Set    string    // the SET whose variables are in force there; empty: as after a login
	// Owner has left the connection as it was after a statement; 0: it was renewed since.
	Owner uint64
	// Tainted says that only its owner may find it like that: it has to be renewed for others.
	Tainted bool

	serial uint64
	since  time.Time
}

// Want is what somebody is looking for.
type Want struct {
	By     Holder
	Owner  uint64
	Kind   Kind
	Target Target
	Schema string // empty: the connection must have none
	Set    string
}

// at gives a row's part of the pool with the lock on its group.
func (p *Shared) at(r Row) *row {
	for {
		at := (*p.rows.Load())[r]
		if at == nil {
			at = p.add(r)
		}
		at.group.mu.Lock()
		if !at.gone {
			return at
		}
		at.group.mu.Unlock()
	}
}

func (p *Shared) add(r Row) *row {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := *p.rows.Load()
	if at := all[r]; at != nil {
		return at
	}
	g := p.groups[r.Hostgroup]
	if g == nil {
		g = &group{hostgroup: r.Hostgroup, throttle: rate.NewLimiter(rate.Inf, 1)}
		p.groups[r.Hostgroup] = g
	}
	at := &row{Row: r, group: g, holders: map[Holder]uint32{}}
	more := maps.Clone(all)
	more[r] = at
	p.rows.Store(&more)
	return at
}

// remove forgets a row; with the lock on its group.
func (p *Shared) remove(at *row) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at.gone = true
	less := maps.Clone(*p.rows.Load())
	delete(less, at.Row)
	p.rows.Store(&less)
}

// all gives the rows of the pool as they are now.
func (p *Shared) all() []*row { return slices.Collect(maps.Values(*p.rows.Load())) }

// hold and letGo count a place; with the lock on the group.
func (at *row) hold(by Holder) {
	at.used.Add(1)
	at.holders[by]++
}

func (at *row) letGo(by Holder) {
	at.used.Add(^uint32(0))
	if at.holders[by]--; at.holders[by] == 0 {
		delete(at.holders, by)
	}
}

// total is the number of connections, free ones included; with the lock on the group.
func (at *row) total() uint32 { return at.used.Load() + uint32(len(at.free)) }

// Used is the number of places taken.
func (p *Shared) Used(r Row) uint32 {
	if at := (*p.rows.Load())[r]; at != nil {
		return at.used.Load()
	}
	return 0
}

// Take takes a place unless limit are taken already. With it comes a live free connection of the wanted kind if there is one;
// if not, f is nil and the caller logs in. The place is given back by Put or Release.
func (p *Shared) Take(r Row, limit uint32, want *Want) (f *Free, ok bool) {
	at := p.at(r)
	if at.used.Load() >= limit {
		at.group.mu.Unlock()
		return nil, false
	}
	at.hold(want.By)
	f, surplus := at.draw(want, limit)
	at.group.mu.Unlock()
	if surplus != nil {
		p.close(surplus, closedRoom)
	}
	return p.living(at, want, limit, f), true
}

// living gives f, or another free connection in its stead, if it is alive.
func (p *Shared) living(at *row, want *Want, limit uint32, f *Free) *Free {
	for f != nil && !f.Alive() {
		p.close(f, closedDead)
		at.group.mu.Lock()
		f, _ = at.draw(want, limit)
		at.group.mu.Unlock()
	}
	if f != nil {
		p.metrics.reused(f, want)
	}
	return f
}

// draw takes the best free connection for want, or else the oldest one out where a new one would have no room; with the lock on the group.
func (at *row) draw(want *Want, limit uint32) (f, surplus *Free) {
	best, place := 0, -1
	for i := len(at.free) - 1; i >= 0 && best < bestRating; i-- { // the latest first: others may grow old
		if rating := at.free[i].rate(want); rating > best {
			best, place = rating, i
		}
	}
	if place >= 0 {
		return at.pull(place), nil
	}
	at.see(want)
	if len(at.free) > 0 && at.total() > limit {
		return nil, at.pull(0)
	}
	return nil, nil
}

func (at *row) pull(place int) *Free {
	f := at.free[place]
	last := len(at.free) - 1
	copy(at.free[place:], at.free[place+1:])
	at.free[last] = nil
	at.free = at.free[:last]
	return f
}

const bestRating = 4

// rate tells how well a connection suits; 0: not at all. Servers have no way back to no schema.
func (f *Free) rate(want *Want) int {
	switch {
	case f.Kind != want.Kind, want.Target.Addr != "" && f.Target.TLS != want.Target.TLS, want.Schema == "" && f.Schema != "":
		return 0
	case f.Owner != 0 && f.Owner == want.Owner:
		return bestRating
	case f.MustRenew(want):
		return 1
	case f.Schema != want.Schema || f.Set != want.Set:
		return 2
	}
	return 3
}

// MustRenew tells whether the connection may show who asks what somebody else has left there.
func (f *Free) MustRenew(want *Want) bool {
	return f.Owner != want.Owner && f.Owner != 0 && (f.Tainted || f.Set != "" && f.Set != want.Set)
}

// Reclaim takes back a connection, with a place, that nobody has used since it was put in under that serial; nil when
// somebody has.
func (p *Shared) Reclaim(r Row, serial uint64, limit uint32, by Holder) *Free {
	at := p.at(r)
	defer at.group.mu.Unlock()
	if at.used.Load() >= limit {
		return nil
	}
	i := slices.IndexFunc(at.free, func(f *Free) bool { return f.serial == serial })
	if i < 0 {
		return nil
	}
	at.hold(by)
	return at.pull(i)
}

// Release gives back a place whose connection is gone, or never came about.
func (p *Shared) Release(r Row, by Holder) {
	at := p.at(r)
	defer at.group.mu.Unlock()
	at.letGo(by)
	at.pass(nil)
}

// Put gives back a place with its connection, on which nothing may be under way. The serial is for Reclaim.
func (p *Shared) Put(r Row, f *Free, by Holder, now time.Time) (serial uint64) {
	policy := p.policy(r)
	serial = p.serials.Add(1)
	f.serial, f.since = serial, now
	cause := policy.refuses(f, now)
	at := p.at(r)
	at.letGo(by)
	switch {
	case cause != closedNot:
		at.pass(nil)
	case at.pass(f):
		f = nil
	case p.ended.Load():
		cause = closedEnd
	case uint32(len(at.free)) < policy.MaxFree && at.total() < policy.Max:
		at.free = append(at.free, f)
		f = nil
	default:
		cause = closedRoom
	}
	at.group.mu.Unlock()
	if f != nil {
		p.close(f, cause)
	}
	return serial
}

// refuses tells why a connection is not kept, closedNot when nothing speaks against it.
func (l *Policy) refuses(f *Free, now time.Time) closeCause {
	switch {
	case !l.Online:
		return closedConfig
	case l.MaxAge > 0 && now.Sub(f.Born) >= l.MaxAge:
		return closedAge
	case l.MaxIdle > 0 && now.Sub(f.since) >= l.MaxIdle:
		return closedIdle
	}
	return closedNot
}

func (p *Shared) close(f *Free, cause closeCause) {
	p.metrics.closed[cause].Inc()
	_ = f.Close() // it is given up in any case
}

// Doubt counts a connection that is closed rather than given back.
func (p *Shared) Doubt() { p.metrics.closed[closedDoubt].Inc() }

// Throttle waits until another login to a server of the hostgroup is in order.
func (p *Shared) Throttle(ctx context.Context, r Row) error {
	limit := rate.Limit(p.policy(r).PerSecond)
	if limit <= 0 || limit >= noThrottle {
		return nil
	}
	at := p.at(r)
	throttle := at.group.throttle
	if throttle.Limit() != limit {
		throttle.SetLimit(limit)
		throttle.SetBurst(int(limit))
	}
	at.group.mu.Unlock()
	return throttle.Wait(ctx)
}

// noThrottle is ProxySQL's default, which no gateway reaches.
const noThrottle = 1_000_000

// Dial logs in as Dial of this package does, and counts it.
func (p *Shared) Dial(ctx context.Context, t Target) (*BackendConn, error) {
	b, err := Dial(ctx, t)
	if err == nil {
		p.metrics.created.Inc()
	}
	return b, err
}
