package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pointsman/pointsman/decision/selection"
	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/pool"
	"github.com/pointsman/pointsman/gateway/snapshot"
)

// maxBackends bounds the connections that one session keeps open. The one used longest ago goes first.
const maxBackends = 8

// killTimeout limits the second connection that a KILL takes.
const killTimeout = 5 * time.Second

// trackers makes a server report what a statement changes in its session, so that the gateway can restore it elsewhere.
const trackers = "SET SESSION session_track_system_variables='*', session_track_state_change=ON, session_track_schema=ON"

// backend is one connection to a server, owned by one session.
type backend struct {
	*pool.BackendConn
	key    serverKey
	at     placeKey // that it was taken for last
	target pool.Target
	used   uint64 // when, by the session's count of uses

	open      bool   // a transaction is open, as far as is known
	savepoint bool   // with autocommit off, where servers don't report that as a transaction
	cursors   int    // open ones
	tracked   bool   // the server reports state changes
	schema    string // in force there
	vars      int    // the state's variables that are in force there
	option    int    // the state's COM_SET_OPTION that is in force there
	uncertain bool   // after an error the status flags are unknown

	aimed      atomic.Bool        // a KILL of its statement was sent, and may come late: no other session may have it
	statements prometheus.Counter // of its hostgroup
}

// ownTimeout limits what the gateway itself asks of a server, where the server has no reason to wait.
const ownTimeout = 10 * time.Second

// exec runs a statement of the gateway's own.
func (b *backend) exec(ctx context.Context, query string) error {
	ctx, cancel := context.WithTimeout(ctx, ownTimeout)
	defer cancel()
	_, err := b.Exec(ctx, query)
	return err
}

// track asks the server for reports of state changes. An error leaves the connection broken.
func (b *backend) track(ctx context.Context) error {
	b.tracked = false
	if b.ServerCapabilities&mysql.CapSessionTrack == 0 {
		return nil
	}
	err := b.exec(ctx, trackers)
	b.tracked = err == nil
	if isServerError(err) {
		return nil // it can't: SETs pin sessions to it
	}
	return err
}

// reset begins the server's session anew. An error leaves the connection broken.
func (b *backend) reset(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, ownTimeout)
	defer cancel()
	if _, err := b.ResetConnection(limited); err != nil {
		return err
	}
	b.open, b.savepoint, b.cursors, b.vars, b.option, b.uncertain = false, false, 0, 0, 0, false
	b.schema = "" // servers differ
	return b.track(ctx)
}

// kill ends the statement that runs on the connection.
func (b *backend) kill(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, killTimeout)
	defer cancel()
	return pool.Kill(ctx, b.target, b.ThreadID, true)
}

// backends are a session's connections by server.
type backends struct {
	open map[serverKey]*backend
	uses uint64
	gone func(*backend) // tells the session of a connection's end
}

func (bs *backends) closeAll() {
	for _, b := range bs.open {
		bs.drop(b)
	}
}

// drop closes a connection and forgets it.
func (bs *backends) drop(b *backend) {
	if bs.open[b.key] != b {
		return
	}
	delete(bs.open, b.key)
	bs.gone(b)
	_ = b.Close() // it is given up in any case
}

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
		n := s.counts.of(key)
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

// retryInterval is how long the session waits before it looks again for an eligible server.
const retryInterval = 50 * time.Millisecond

// preferred gives the connection that the session stays on as long as it lives, nil when there is none.
func (s *session) preferred(at *place) *backend {
	if len(at.pools) == 0 {
		if b := s.state.sticky[at.key()]; b != nil && b.Alive() {
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

// connect gives a connection to some server of the statement's place: one that the session has, or a new one. A server that
// can't be reached is left out of the next draw; when all were tried, or none is eligible, it starts over, until
// connect_retries_on_failure or connect_timeout_server_max is used up. Each draw is of the place as it is then.
func (s *session) connect(ctx context.Context, st *statement, schema string, maxLagMS *uint32) (*backend, error) {
	var begin time.Time
	var tried []string // addresses
	var last error
	for tries := uint32(0); ; {
		at, err := s.destination(ctx, st)
		if err != nil {
			return nil, err
		}
		if b := s.preferred(at); b != nil {
			b.at = at.key()
			return b, nil
		}
		if begin.IsZero() {
			begin = time.Now()
			s.connecting()
		}
		settings := &at.snap.Settings
		left := settings.ConnectTimeoutServerMax - time.Since(begin)
		if left <= 0 || tries > settings.ConnectRetriesOnFailure {
			return nil, s.unreachable(at, time.Since(begin), last)
		}
		d, ok, err := s.drawAt(at, tried, maxLagMS)
		if err != nil {
			return nil, err
		}
		if !ok {
			tried = tried[:0]
			if err := pause(ctx, min(retryInterval, left)); err != nil {
				return nil, err
			}
			continue
		}
		b, err := s.toServer(ctx, d, schema, min(left, settings.ConnectTimeoutServer))
		if b != nil {
			b.at = at.key()
			return b, nil
		}
		tried = append(tried, d.key.addr)
		if err == nil {
			continue // other sessions were faster: it is full
		}
		var dial *pool.DialError
		if ctx.Err() != nil || !errors.As(err, &dial) || !dial.TryElsewhere() {
			return nil, err
		}
		s.Metrics.connectFailures.WithLabelValues(d.key.addr).Inc()
		if s.outages.begin(s.target(d.key.addr, "", settings.ConnectTimeoutServer)) {
			s.Log.Warn("server not reached", "hostgroup", d.key.hostgroup, "server", d.key.addr, "error", err)
		}
		last = err
		tries++
	}
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
	}
	return mysql.NewError(codeUnreachable, "HY000",
		"Max connect timeout reached while reaching %s after %dms: %s", at.String(), after.Milliseconds(), why)
}

// toServer gives the session's connection to a server, or makes one. Neither a connection nor an error: the server has
// no place left.
func (s *session) toServer(ctx context.Context, d drawn, schema string, timeout time.Duration) (*backend, error) {
	key := d.key
	if b := s.backends.open[key]; b != nil {
		if b.Alive() {
			return b, nil
		}
		s.backends.drop(b)
	}
	s.makeRoom()
	if !s.counts.take(key, d.maxConnections) {
		return nil, nil //nolint:nilnil // as said
	}
	b, err := s.dial(ctx, key, schema, timeout)
	if err != nil {
		s.counts.release(key)
		return nil, err
	}
	s.outages.end(key.addr)
	if s.backends.open == nil {
		s.backends.open = map[serverKey]*backend{}
		s.backends.gone = s.backendGone
	}
	s.backends.open[key] = b
	return b, nil
}

func (s *session) dial(ctx context.Context, key serverKey, schema string, timeout time.Duration) (*backend, error) {
	target := s.target(key.addr, schema, timeout)
	conn, err := s.logIn(ctx, target)
	if err != nil {
		return nil, err
	}
	b := &backend{BackendConn: conn, key: key, target: target, schema: target.DB}
	if err := b.track(ctx); err != nil {
		_ = conn.Conn.Close() // broken: no goodbye
		return nil, &pool.DialError{Addr: target.Addr, User: target.User, Err: err}
	}
	return b, nil
}

// target says where and as whom to log in: as the client itself, by what its login proved, or as the backend user.
func (s *session) target(addr, schema string, timeout time.Duration) pool.Target {
	u := s.Snapshots.Current().User(s.login.User)
	t := pool.Target{
		Addr: addr, User: s.login.User, Secret: s.login.Secret, DB: schema,
		ClientFlags: s.login.Capabilities, SessionTrack: true, Charset: s.login.Charset, MaxPacket: s.login.MaxPacket,
		Attrs: maps.Clone(s.login.Attrs), ConnectTimeout: timeout,
	}
	if u != nil && u.GetBackendUsername() != "" {
		t.User = u.GetBackendUsername()
	}
	if u != nil && u.BackendPassword != nil {
		t.Secret = mysql.ClearSecret(u.GetBackendPassword())
	}
	if s.Snapshots.Current().TLS(addr) {
		t.TLS = s.ServerTLS
	}
	if t.Attrs == nil {
		t.Attrs = map[string]string{}
	}
	t.Attrs["_pointsman_client"] = s.route.ClientAddr
	return t
}

// makeRoom closes the connection used longest ago when the session has too many.
func (s *session) makeRoom() {
	if len(s.backends.open) < maxBackends {
		return
	}
	var oldest *backend
	for _, b := range s.backends.open {
		if !s.holds(b) && (oldest == nil || b.used < oldest.used) {
			oldest = b
		}
	}
	if oldest != nil {
		s.backends.drop(oldest)
	}
}

// backendGone forgets what the session remembers of a connection.
func (s *session) backendGone(b *backend) {
	s.left(b)
	s.counts.release(b.key)
	s.state.forget(b)
	s.prepared.forget(b)
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
