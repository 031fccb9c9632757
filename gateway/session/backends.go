package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

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
	hostgroup int32
	target    pool.Target
	used      uint64 // when, by the session's count of uses

	tracked   bool   // the server reports state changes
	schema    string // in force there
	vars      int    // the state's variables that are in force there
	option    int    // the state's COM_SET_OPTION that is in force there
	uncertain bool   // after an error the status flags are unknown
}

// kill ends the statement that runs on the connection.
func (b *backend) kill(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, killTimeout)
	defer cancel()
	return pool.Kill(ctx, b.target, b.ThreadID, true)
}

// backends are a session's connections by server.
type backends struct {
	open map[string]*backend // by hostgroup and address
	uses uint64
	gone func(*backend) // tells the session of a connection's end
}

func backendKey(hostgroup int32, addr string) string { return fmt.Sprintf("%d %s", hostgroup, addr) }

func (bs *backends) closeAll() {
	for _, b := range bs.open {
		bs.drop(b)
	}
}

// drop closes a connection and forgets it.
func (bs *backends) drop(b *backend) {
	key := backendKey(b.hostgroup, b.Addr)
	if bs.open[key] != b {
		return
	}
	delete(bs.open, key)
	bs.gone(b)
	_ = b.Close() // it is given up in any case
}

// draw picks a server of the hostgroup that was not tried yet, -1 when none is eligible.
func (s *session) draw(hg *snapshot.Hostgroup, settings *snapshot.Settings, tried selection.Set, maxLagMS *uint32) int {
	cands := slices.Clone(hg.Candidates)
	for i := range cands {
		cands[i].CurrentConnections = s.counts.of(hg.Servers[i].Addr)
		if s.backends.open[backendKey(hg.ID, hg.Servers[i].Addr)] != nil && cands[i].CurrentConnections > 0 {
			cands[i].CurrentConnections-- // this session's own takes no new place
		}
	}
	limits := selection.DefaultLimits()
	limits.DefaultMaxLatencyMS = settings.DefaultMaxLatencyMS
	limits.MaxNumOnlineServers = hg.MaxNumOnlineServers
	if maxLagMS != nil {
		limits.HasMaxLag, limits.MaxLagMS = true, *maxLagMS
	}
	return selection.Pick(cands, &limits, rand.Uint64(), tried) //nolint:gosec // a draw of servers, no secret
}

// retryInterval is how long the session waits before it looks again for an eligible server.
const retryInterval = 50 * time.Millisecond

// connect gives a connection to some server of the hostgroup: one that the session has, or a new one. A server that can't
// be reached is left out of the next draw; when all were tried, or none is eligible, it starts over, until
// connect_retries_on_failure or connect_timeout_server_max is used up.
func (s *session) connect(ctx context.Context, hostgroup int32, schema string, maxLagMS *uint32) (*backend, error) {
	if b := s.state.sticky[hostgroup]; b != nil && b.Alive() {
		return b, nil
	}
	begin := time.Now()
	var tried selection.Set
	var last error
	for tries := uint32(0); ; {
		snap := s.Snapshots.Current()
		settings := &snap.Settings
		if left := settings.ConnectTimeoutServerMax - time.Since(begin); left <= 0 || tries > settings.ConnectRetriesOnFailure {
			return nil, unreachable(hostgroup, time.Since(begin), last)
		}
		hg := snap.Hostgroup(hostgroup)
		if hg == nil {
			return nil, mysql.NewError(codeUnreachable, "HY000", "Hostgroup %d has no servers in generation %d", hostgroup, snap.Generation)
		}
		i := s.draw(hg, settings, tried, maxLagMS)
		if i < 0 {
			tried = nil
			if err := pause(ctx, retryInterval); err != nil {
				return nil, err
			}
			continue
		}
		b, err := s.toServer(ctx, hg.Servers[i], schema, settings)
		if err == nil {
			return b, nil
		}
		var dial *pool.DialError
		if ctx.Err() != nil || !errors.As(err, &dial) || !dial.TryElsewhere() {
			return nil, err
		}
		s.Metrics.connectFailures.WithLabelValues(hg.Servers[i].Addr).Inc()
		s.log.Warn("server not reached", "hostgroup", hostgroup, "server", hg.Servers[i].Addr, "error", err)
		last = err
		tries++
		tried.Add(i)
	}
}

// unreachable is the one clear error for a hostgroup without a usable server.
func unreachable(hostgroup int32, after time.Duration, last error) error {
	why := "no server is eligible"
	if last != nil {
		why = last.Error()
	}
	return mysql.NewError(codeUnreachable, "HY000",
		"Max connect timeout reached while reaching hostgroup %d after %dms: %s", hostgroup, after.Milliseconds(), why)
}

// toServer gives the session's connection to a server, or makes one.
func (s *session) toServer(ctx context.Context, server snapshot.Server, schema string, settings *snapshot.Settings) (*backend, error) {
	if b := s.backends.open[backendKey(server.Hostgroup, server.Addr)]; b != nil {
		if b.Alive() {
			return b, nil
		}
		s.backends.drop(b)
	}
	target := s.target(server, schema, settings)
	s.makeRoom()
	conn, err := pool.Dial(ctx, target)
	if err != nil {
		return nil, err
	}
	b := &backend{BackendConn: conn, hostgroup: server.Hostgroup, target: target, schema: target.DB}
	if conn.ServerCapabilities&mysql.CapSessionTrack != 0 {
		if _, err := conn.Exec(ctx, trackers); err == nil {
			b.tracked = true
		} else {
			s.log.Warn("server does not track sessions: SET pins sessions to it", "server", server.Addr, "error", err)
		}
	}
	if s.version.Load() == nil {
		s.version.CompareAndSwap(nil, &conn.ServerVersion)
	}
	s.counts.add(b.Addr, 1)
	if s.backends.open == nil {
		s.backends.open = map[string]*backend{}
		s.backends.gone = s.backendGone
	}
	s.backends.open[backendKey(b.hostgroup, b.Addr)] = b
	return b, nil
}

// target says where and as whom to log in: as the client itself, by what its login proved, or as the backend user.
func (s *session) target(server snapshot.Server, schema string, settings *snapshot.Settings) pool.Target {
	u := s.Snapshots.Current().User(s.login.User)
	t := pool.Target{
		Addr: server.Addr, User: s.login.User, Secret: s.login.Secret, DB: schema,
		ClientFlags: s.login.Capabilities, SessionTrack: true, Charset: s.login.Charset, MaxPacket: s.login.MaxPacket,
		Attrs: maps.Clone(s.login.Attrs), ConnectTimeout: settings.ConnectTimeoutServer,
	}
	if u != nil && u.BackendUsername != "" {
		t.User = u.BackendUsername
	}
	if u != nil && u.BackendPassword != nil {
		t.Secret = mysql.ClearSecret(*u.BackendPassword)
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
	s.counts.add(b.Addr, -1)
	s.state.forget(b)
	s.prepared.forget(b)
}

// sync restores on the backend what the session has changed elsewhere: the schema if wanted, variables, and COM_SET_OPTION.
func (s *session) sync(ctx context.Context, b *backend, withSchema bool) error {
	if withSchema && b.schema != s.state.schema && s.state.schema != "" {
		if _, err := b.InitDB(ctx, s.state.schema); err != nil {
			return err
		}
		b.schema = s.state.schema
	}
	if b.vars != s.state.version {
		if set := s.state.restore(); set != "" {
			if _, err := b.Exec(ctx, set); err != nil {
				return fmt.Errorf("restore session variables (%s) on %s: %w", set, b.Addr, err)
			}
		}
		b.vars = s.state.version
	}
	if b.option != s.state.optionVersion {
		err := b.Conn.Within(ctx, func() error {
			_, err := b.Conn.Exec(mysql.ComSetOption, s.state.option)
			return err
		})
		if err != nil {
			return err
		}
		b.option = s.state.optionVersion
	}
	return nil
}

// settle learns the status flags of a backend after an error, which carries none.
func (s *session) settle(ctx context.Context, b *backend) error {
	if !b.uncertain {
		return nil
	}
	out, err := b.Ping(ctx)
	if err != nil {
		return err
	}
	b.uncertain = false
	s.observe(b, &out)
	return nil
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

// quoteValue writes a reported variable value as SET takes it.
func quoteValue(name, value string) string {
	if value == "" && name == "character_set_results" {
		return "NULL" // reported as an empty text
	}
	if isNumber(value) {
		return value
	}
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value) + "'"
}

func isNumber(s string) bool {
	digits, points := 0, 0
	for i, c := range s {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '.':
			points++
		case c == '-' && i == 0:
		default:
			return false
		}
	}
	return digits > 0 && points <= 1
}
