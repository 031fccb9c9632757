package session

import (
	"math"
	"slices"
	"sync"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/selection"
	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/snapshot"
)

// kept is the server that a session has in a pool.
type kept struct {
	key    serverKey
	serial uint64 // of the snapshot that it was looked up in last
	first  bool   // no better tier could take over
}

// maxKept bounds what a session keeps: a route has three pools, and sessions seldom see more than two routes.
const maxKept = 16

// keptBackend gives the session's open connection to its server of the first pool while nothing has changed since it was
// drawn, nil when that must be looked into.
func (s *session) keptBackend(snap *snapshot.Snapshot, pool string) *backend {
	k, ok := s.kept[pool]
	if !ok || !k.first || k.serial != snap.Serial || s.outages.some() {
		return nil
	}
	return s.open(k.key)
}

// open gives the session's connection to a server if it has one that can be used.
func (s *session) open(key serverKey) *backend {
	if b := s.backends.open[key]; b != nil && s.usable(b) {
		return b
	}
	return nil
}

// stuck gives the connection that multiplex=0 keeps for the pools while its server is in one of them.
func (s *session) stuck(at *place) *backend {
	b := s.state.sticky[at.key()]
	if b == nil || !s.usable(b) {
		return nil
	}
	view := at.snap.View(s.listener)
	for _, name := range at.pools {
		if pool := view.Pool(name); pool != nil && rowOf(at.snap, pool, b.key.addr) >= 0 {
			return b
		}
	}
	return nil
}

// rowOf finds a server in a pool, -1 when it is not there.
func rowOf(snap *snapshot.Snapshot, pool *decision.Pool, addr string) int {
	for _, row := range pool.Rows() {
		if snap.Rows[row].Addr == addr {
			return row
		}
	}
	return -1
}

// drawPools picks a server of the first pool that has one to give: the one that the session has there, if that is in
// the tier that counts now, else a new one. Servers that could not be reached come last of all. ok is false when no server
// is eligible now, or the pools are still to come.
func (s *session) drawPools(at *place, tried []string, maxLagMS *uint32) (d drawn, ok bool, err error) {
	if at.awaited > 0 {
		return drawn{}, false, nil
	}
	snap := at.snap
	view := snap.View(s.listener)
	excluded := rowsOf(snap, tried)
	limits := limitsOf(&snap.Settings, maxLagMS)
	for _, reachable := range [...]bool{true, false} {
		if reachable && !s.outages.some() {
			continue
		}
		used := s.usedOf(snap, reachable)
		for _, name := range at.pools {
			pool := view.Pool(name)
			if pool == nil {
				return drawn{}, false, noServer(snap.PoolProblem(name).Error())
			}
			if row := s.drawPool(snap, pool, name, &limits, excluded, used); row >= 0 {
				r := &snap.Rows[row]
				return drawn{key: serverKey{r.Hostgroup, r.Addr}, maxConnections: r.MaxConnections}, true, nil
			}
		}
	}
	if none, lasting := snap.NoMembers(s.listener, at.pools); lasting {
		return drawn{}, false, noServer(none)
	}
	return drawn{}, false, nil
}

// noServer is the error for pools that it makes no sense to wait for.
func noServer(why string) error {
	return mysql.NewError(codeUnreachable, "HY000", "No server: %s", why)
}

func (s *session) drawPool(snap *snapshot.Snapshot, pool *decision.Pool, name string, limits *selection.Limits,
	excluded selection.Set, used selection.Used,
) int {
	if pool.Pick(limits, 0, excluded, used) < 0 {
		return -1 // nobody takes a turn
	}
	if k, ok := s.kept[name]; ok {
		if mine := rowOf(snap, pool, k.key.addr); mine >= 0 && pool.Allows(mine, limits, excluded, used) {
			s.keep(snap, pool, name, mine)
			return mine
		}
	}
	row := pool.Pick(limits, s.turns.next(turnKey{s.listener, name}), excluded, used)
	if row >= 0 { // other sessions may have been faster
		s.keep(snap, pool, name, row)
	}
	return row
}

// keep notes the server that the session has in a pool.
func (s *session) keep(snap *snapshot.Snapshot, pool *decision.Pool, name string, row int) {
	if s.kept == nil || len(s.kept) >= maxKept {
		s.kept = map[string]kept{}
	}
	r, best := &snap.Rows[row], pool.Rows()[0] // tier by tier
	s.kept[name] = kept{
		key: serverKey{r.Hostgroup, r.Addr}, serial: snap.Serial, first: pool.Tier(row) == pool.Tier(best),
	}
}

// usedOf counts the gateway's connections to each row. This session's own takes no new place. reachable: servers that could
// not be reached are full, unless the session is connected.
func (s *session) usedOf(snap *snapshot.Snapshot, reachable bool) selection.Used {
	return func(row int) uint32 {
		r := &snap.Rows[row]
		key := serverKey{r.Hostgroup, r.Addr}
		mine := s.open(key) != nil
		if reachable && !mine && s.outages.out(r.Addr) {
			return math.MaxUint32
		}
		n := s.pool.Used(key.row())
		if n > 0 && mine {
			n--
		}
		return n
	}
}

// rowsOf gives all rows of some servers.
func rowsOf(snap *snapshot.Snapshot, addrs []string) selection.Set {
	if len(addrs) == 0 {
		return nil
	}
	var set selection.Set
	for i := range snap.Rows {
		if slices.Contains(addrs, snap.Rows[i].Addr) {
			set.Add(i)
		}
	}
	return set
}

// turns count the draws of each listener's pools, for round-robin.
type turns struct {
	mu sync.Mutex
	of map[turnKey]uint64
}

type turnKey struct {
	listener int
	pool     string
}

// maxTurns bounds the pools that are counted: guidelines come and go.
const maxTurns = 65536

func (t *turns) next(k turnKey) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil || len(t.of) >= maxTurns {
		t.of = map[turnKey]uint64{}
	}
	n := t.of[k]
	t.of[k] = n + 1
	return n
}

// Unavailable counts the servers that the monitor, or this gateway itself, finds unavailable.
func (g *Gateway) Unavailable() int {
	snap := g.Snapshots.Current()
	if snap == nil {
		return 0
	}
	return snap.Unavailable(g.outages.out)
}
