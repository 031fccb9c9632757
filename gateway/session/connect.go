package session

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pointsman/pointsman/decision/selection"
	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/pool"
	"github.com/pointsman/pointsman/gateway/snapshot"
)

// drawn is a server that a statement may go to.
type drawn struct {
	key            serverKey
	maxConnections uint32
}

// drawAt picks a server that was not tried yet, by its address. ok is false when none is eligible now.
func (s *session) drawAt(at *place, tried []string, maxLagMS *uint32) (d drawn, ok bool, err error) {
	if len(at.pools) > 0 {
		return s.drawPools(at, tried, maxLagMS)
	}
	snap := at.snap
	hg := snap.Hostgroup(at.hostgroup)
	if hg == nil {
		return drawn{}, false, mysql.NewError(codeUnreachable, "HY000", "Hostgroup %d has no servers in generation %d", at.hostgroup, snap.Generation)
	}
	var excluded selection.Set
	if len(tried) > 0 {
		for i := range hg.Servers {
			if slices.Contains(tried, hg.Servers[i].Addr) {
				excluded.Add(i)
			}
		}
	}
	i := s.draw(hg, &snap.Settings, excluded, maxLagMS)
	if i < 0 {
		return drawn{}, false, nil
	}
	return drawn{serverKey{hg.ID, hg.Servers[i].Addr}, hg.Candidates.At(i).MaxConnections}, true, nil
}

func limitsOf(settings *snapshot.Settings, maxLagMS *uint32) selection.Limits {
	limits := selection.DefaultLimits()
	limits.DefaultMaxLatencyMS = settings.DefaultMaxLatencyMS
	if maxLagMS != nil {
		limits.HasMaxLag, limits.MaxLagMS = true, *maxLagMS
	}
	return limits
}

// draw picks a server of the hostgroup, -1 when none is eligible. Servers that could not be reached just now come last.
func (s *session) draw(hg *snapshot.Hostgroup, settings *snapshot.Settings, tried selection.Set, maxLagMS *uint32) int {
	limits := limitsOf(settings, maxLagMS)
	limits.MaxNumOnlineServers = hg.MaxNumOnlineServers
	seed := rand.Uint64() //nolint:gosec // a draw of servers, no secret
	used := func(i int) uint32 {
		key := serverKey{hg.ID, hg.Servers[i].Addr}
		n := s.pool.Used(key.row())
		if n > 0 && s.backends.open[key] != nil {
			n-- // this session's own takes no new place
		}
		return n
	}
	if s.outages.some() {
		reachable := func(i int) uint32 {
			if s.outages.paused(hg.Servers[i].Addr) {
				return math.MaxUint32 // full
			}
			return used(i)
		}
		if i := hg.Candidates.Pick(&limits, seed, tried, reachable); i >= 0 {
			return i
		}
	}
	return hg.Candidates.Pick(&limits, seed, tried, used)
}

// preferred gives the connection that the session stays on as long as it lives, nil when there is none.
func (s *session) preferred(at *place) *backend {
	if len(at.pools) == 0 {
		if b := s.state.sticky[at.key()]; b != nil && s.usable(b) {
			return b
		}
		return nil
	}
	if at.awaited > 0 {
		return nil
	}
	if b := s.stuck(at); b != nil {
		return b
	}
	return s.keptBackend(at.snap, at.pools[0])
}

// retryInterval is how long the session waits before it looks again for an eligible server.
const retryInterval = 50 * time.Millisecond

// search is one search for a connection to some server of a place.
type search struct {
	schema   string
	maxLagMS *uint32
	begin    time.Time
	tried    []string // addresses that could not be reached since the last start
	failures uint32
	last     error // why the latest could not be reached
}

// connect gives a connection to some server of the statement's place: one that the session has, a free one, or a new one. A
// server that can't be reached is left out of the next draw; when all were tried, or none is eligible, it starts over, until
// connect_retries_on_failure or connect_timeout_server_max is used up. Where all servers are full it stands in line. Each draw
// is of the place as it is then.
func (s *session) connect(ctx context.Context, st *statement, schema string, maxLagMS *uint32) (*backend, error) {
	f := search{schema: schema, maxLagMS: maxLagMS}
	for {
		at, err := s.destination(ctx, st)
		if err != nil {
			return nil, err
		}
		if b := s.preferred(at); b != nil {
			b.at = at.key()
			return b, nil
		}
		if f.begin.IsZero() {
			f.begin = time.Now()
			s.connecting()
		}
		settings := &at.snap.Settings
		left := settings.ConnectTimeoutServerMax - time.Since(f.begin)
		if left <= 0 || f.failures > settings.ConnectRetriesOnFailure {
			return nil, s.unreachable(at, time.Since(f.begin), f.last)
		}
		d, ok, err := s.drawAt(at, f.tried, maxLagMS)
		if err != nil {
			return nil, err
		}
		var b *backend
		if ok {
			b, err = s.toServer(ctx, d, schema, min(left, settings.ConnectTimeoutServer))
		} else {
			f.tried = f.tried[:0]
			d, b, err = s.standInLine(ctx, st, at, &f, left)
		}
		switch {
		case b != nil:
			b.at = at.key()
			return b, nil
		case err == nil && ok:
			f.tried = append(f.tried, d.key.addr) // other sessions were faster: it is full
		case err != nil:
			if err := s.failed(ctx, d, &f, settings, err); err != nil {
				return nil, err
			}
		}
	}
}

// failed notes that a server could not be reached. The error is for the client: no other server is worth a try.
func (s *session) failed(ctx context.Context, d drawn, f *search, settings *snapshot.Settings, err error) error {
	var dial *pool.DialError
	if ctx.Err() != nil || !errors.As(err, &dial) || !dial.TryElsewhere() {
		return err
	}
	s.Metrics.connectFailures.WithLabelValues(d.key.addr).Inc()
	if s.outages.begin(s.target(d.key.addr, "", settings.ConnectTimeoutServer)) {
		s.Log.Warn("server not reached", "hostgroup", d.key.hostgroup, "server", d.key.addr, "error", err)
	}
	f.tried = append(f.tried, d.key.addr)
	f.last = err
	f.failures++
	return nil
}

// unreachable is the one clear error for a place without a usable server.
func (s *session) unreachable(at *place, after time.Duration, last error) error {
	why := "no server is eligible"
	if last != nil {
		why = last.Error()
	} else if at.awaited > 0 {
		why = fmt.Sprintf("the configuration of generation %d, which has chosen it, has not come yet", at.awaited)
	} else if none, _ := at.snap.NoMembers(s.listener, at.pools); none != "" {
		why = none
	} else if rooms := s.rooms(at, nil); len(rooms) > 0 {
		why = fmt.Sprintf("%s, %d statements wait", s.inUse(rooms), s.waiting(rooms))
	}
	return mysql.NewError(codeUnreachable, "HY000",
		"Max connect timeout reached while reaching %s after %dms: %s", at.String(), after.Milliseconds(), why)
}

// toServer gives the session's connection to a server, a free one, or makes one. Neither a connection nor an error: the server
// has no place left.
func (s *session) toServer(ctx context.Context, d drawn, schema string, timeout time.Duration) (*backend, error) {
	key := d.key
	if b := s.backends.open[key]; b != nil {
		if s.usable(b) {
			return b, nil
		}
		s.backends.drop(b)
	}
	s.makeRoom(ctx)
	want := s.want(key.addr, schema)
	free, ok := s.pool.Take(key.row(), d.maxConnections, &want)
	if !ok {
		return nil, nil //nolint:nilnil // as said
	}
	return s.occupy(ctx, key, free, &want, timeout)
}

// occupy makes use of a place at a server that the session was given, with the free connection that came with it or a new one.
func (s *session) occupy(ctx context.Context, key serverKey, free *pool.Free, want *pool.Want, timeout time.Duration) (*backend, error) {
	b := s.adopt(ctx, key, free, want)
	if b == nil {
		var err error
		if b, err = s.dial(ctx, key, want, timeout); err != nil {
			s.pool.Release(key.row(), s)
			return nil, err
		}
		s.outages.end(key.addr)
	}
	if s.backends.open == nil {
		s.backends.open = map[serverKey]*backend{}
		s.backends.gone = s.backendGone
	}
	s.backends.open[key] = b
	return b, nil
}

func (s *session) dial(ctx context.Context, key serverKey, want *pool.Want, timeout time.Duration) (*backend, error) {
	target := want.Target
	target.DB, target.ConnectTimeout = want.Schema, timeout
	if err := s.pool.Throttle(ctx, key.row()); err != nil {
		return nil, err
	}
	conn, err := s.logIn(ctx, target)
	if err != nil {
		return nil, err
	}
	b := &backend{BackendConn: conn, key: key, target: target, kind: want.Kind, born: time.Now(), schema: target.DB}
	if err := b.track(ctx); err != nil {
		_ = conn.Conn.Close() // broken: no goodbye
		return nil, &pool.DialError{Addr: target.Addr, User: target.User, Err: err}
	}
	b.shares = b.tracked
	return b, nil
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
