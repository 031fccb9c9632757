package session

import (
	"context"
	"maps"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/pool"
)

// maxBackends bounds the connections that one session keeps open. The one used longest ago goes first.
const maxBackends = 8

// killTimeout limits the second connection that a KILL takes.
const killTimeout = 5 * time.Second

// backend is one connection to a server, owned by one session.
type backend struct {
	*pool.BackendConn
	key    serverKey
	at     placeKey // that it was taken for last
	target pool.Target
	kind   pool.Kind
	born   time.Time // when it logged in
	used   uint64    // when, by the session's count of uses

	open      bool          // a transaction is open, as far as is known
	savepoint bool          // with autocommit off, where servers don't report that as a transaction
	cursors   int           // open ones
	doneAt    time.Duration // when it answered a statement last, by the gateway's clock
	tracked   bool          // the server reports state changes
	schema    string        // in force there
	vars      int           // the state's variables that are in force there
	option    int           // the state's COM_SET_OPTION that is in force there
	uncertain bool          // after an error the status flags are unknown

	traces traces // of this session's statements, for those who get the connection next
	shares bool   // the server reports all that a reset has to undo, so others can have the connection

	aimed      atomic.Bool        // a KILL of its statement was sent, and may come late: no other session may have it
	statements prometheus.Counter // of its hostgroup
}

// fresh is how long after an answer a connection needs no look before a read that can be sent again: the look is a system call.
const fresh = 5 * time.Millisecond

// usable tells whether a connection is fit for the command in hand, as far as can be seen without waiting.
func (s *session) usable(b *backend) bool {
	return s.again && b.doneAt > 0 && s.beganAt-b.doneAt < fresh || b.Alive()
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
	err := b.exec(ctx, pool.Trackers)
	b.tracked = err == nil
	if isServerError(err) {
		return nil // it can't: SETs pin sessions to it
	}
	return err
}

// renew begins the server's session anew, within that time. The schema stays. An error leaves the connection broken.
func (b *backend) renew(ctx context.Context, timeout time.Duration) error {
	return b.reset(ctx, &b.target, timeout)
}

// reset is renew, or what the server makes of a client's own reset when there is no target.
func (b *backend) reset(ctx context.Context, t *pool.Target, timeout time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := b.Renew(limited, t, b.schema); err != nil {
		return err
	}
	b.open, b.savepoint, b.cursors, b.vars, b.option, b.uncertain = false, false, 0, 0, 0, false
	b.tracked, b.traces = b.ServerCapabilities&mysql.CapSessionTrack != 0, traces{tainted: t == nil}
	return nil
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

// makeRoom gives up the connection used longest ago when the session has too many.
func (s *session) makeRoom(ctx context.Context) {
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
		s.giveBack(ctx, oldest)
	}
}

// backendGone forgets a connection that is closed.
func (s *session) backendGone(b *backend) {
	s.leftBackend(b)
	s.pool.Release(b.key.row(), s)
}

// leftBackend forgets what the session remembers of a connection.
func (s *session) leftBackend(b *backend) {
	s.left(b)
	s.state.forget(b)
	s.prepared.forget(b)
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
