package session

import (
	"context"
	"time"

	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/pool"
)

// logins keeps what the session's logins to servers have in common while neither its user nor the configuration changes.
type logins struct {
	login  *mysql.Login
	serial uint64 // of the snapshot
	target pool.Target
	kind   pool.Kind
}

// want says what the session is looking for at a server.
func (s *session) want(addr, schema string) pool.Want {
	l := &s.logins
	if snap := s.Snapshots.Current(); l.login != s.login || l.serial != snap.Serial {
		t := s.target("", "", 0)
		*l = logins{login: s.login, serial: snap.Serial, target: t, kind: t.Kind()}
	}
	w := pool.Want{By: s, Owner: uint64(s.id), Kind: l.kind, Target: l.target, Schema: schema, Set: s.state.restore()}
	w.Target.DB = schema
	s.direct(&w, addr)
	return w
}

// direct turns what the session is looking for to a server.
func (s *session) direct(w *pool.Want, addr string) {
	w.Target.Addr, w.Target.TLS = addr, nil
	if s.Snapshots.Current().TLS(addr) {
		w.Target.TLS = s.ServerTLS
	}
}

// adopt makes a free connection the session's own; nil when there is none, or when it turned out to be broken.
func (s *session) adopt(ctx context.Context, key serverKey, f *pool.Free, want *pool.Want) *backend {
	if f == nil {
		return nil
	}
	b := &backend{
		BackendConn: f.BackendConn, key: key, target: f.Target, kind: f.Kind, born: f.Born,
		tracked: true, shares: true, schema: f.Schema,
	}
	b.traces.tainted = f.Tainted
	b.traces.inherited = f.Owner != 0 && f.Owner != want.Owner
	if f.Owner != 0 && f.Set == want.Set {
		b.vars = s.state.version
	}
	if f.MustRenew(want) {
		if err := b.renew(ctx, pool.RenewTimeout); err != nil {
			s.pool.Doubt()
			_ = b.Conn.Close() // broken: no goodbye
			return nil
		}
	}
	return b
}

// fit tells whether others may have the connection once it is renewed.
func (s *session) fit(b *backend) bool {
	return b.shares && !b.aimed.Load() && !b.traces.role && b.option == 0 && b.cursors == 0
}

// giveBack ends what the session has on a connection and leaves it to others, or closes it where that can't be done.
func (s *session) giveBack(ctx context.Context, b *backend) {
	if s.backends.open[b.key] != b {
		return
	}
	if policy := s.poolPolicy(b.key.row()); policy.MaxFree == 0 && s.pool.Waiting(b.key.row()) == 0 {
		s.backends.drop(b)
		return
	}
	if !s.fit(b) || !b.Alive() {
		s.pool.Doubt()
		s.backends.drop(b)
		return
	}
	if s.multiplexes(b) && !s.tied(b) && !b.traces.tainted {
		s.handOver(b, time.Now())
		return
	}
	if err := b.renew(ctx, pool.RenewTimeout); err != nil {
		s.log.Debug("connection not given back", "server", b.Addr, "error", err)
		s.pool.Doubt()
		_ = b.Conn.Close() // broken: no goodbye
		s.backends.drop(b)
		return
	}
	s.put(b, &pool.Free{Schema: b.schema}, time.Now())
}

// put leaves a connection to others as it is.
func (s *session) put(b *backend, f *pool.Free, now time.Time) (serial uint64) {
	f.BackendConn, f.Kind, f.Target, f.Born = b.BackendConn, b.kind, b.target, b.born
	delete(s.backends.open, b.key)
	s.leftBackend(b)
	return s.pool.Put(b.key.row(), f, s, now)
}

// giveBackAll gives back all connections.
func (s *session) giveBackAll(ctx context.Context) {
	for _, b := range s.backends.open {
		s.giveBack(ctx, b)
	}
}

// leaveAll parts with all connections at the session's end. The client shall not have to wait for that.
func (s *session) leaveAll(ctx context.Context) {
	_ = s.client.Close() // it is gone or was told
	s.leaveUser()
	if ctx.Err() != nil {
		s.backends.closeAll()
		return
	}
	s.giveBackAll(ctx)
}

// handOver leaves a connection with what is set on it to the next session that has the same set. It is left as its latest
// statement has left it, so the session may come back to it.
func (s *session) handOver(b *backend, now time.Time) {
	set := s.state.restore()
	if b.vars != s.state.version {
		set = outOfDate
	}
	latest := b == s.state.last
	serial := s.put(b, &pool.Free{Schema: b.schema, Set: set, Owner: uint64(s.id), Tainted: b.traces.tainted}, now)
	if latest {
		s.state.given = given{row: b.key.row(), serial: serial}
	}
}

// outOfDate stands for variables that the session has changed elsewhere since. No session wants that.
const outOfDate = "?"

// given is where the connection of the session's latest statement was left.
type given struct {
	row    pool.Row
	serial uint64 // 0: it was not
}

// reclaim takes back the connection of the latest statement, which a statement asks about; nil when others have used it.
func (s *session) reclaim(ctx context.Context) *backend {
	row := s.state.given.row
	limit := s.poolPolicy(row).Max
	key := serverKey{row.Hostgroup, row.Addr}
	if s.backends.open[key] != nil {
		return nil
	}
	f := s.pool.Reclaim(row, s.state.given.serial, limit, s)
	if f == nil {
		return nil
	}
	want := s.want(row.Addr, s.state.schema)
	if !f.Alive() {
		s.pool.Doubt()
		_ = f.Close() // it is given up in any case
		s.pool.Release(row, s)
		return nil
	}
	b := s.adopt(ctx, key, f, &want)
	s.backends.open[key] = b
	s.state.last = b
	return b
}

// mayYield tells whether an idle session may have connections that it does not need. What it has is looked at when it is asked.
func (s *session) mayYield() bool {
	st := &s.state
	return len(s.backends.open) > 0 && st.pin == nil && st.lock == nil && st.next == nil && s.prepared.long == nil && len(st.sticky) == 0
}

// CallIn wakes the session, if it is idle, to give back connections that others wait for.
func (s *session) CallIn() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.act.spare || s.act.called || s.act.draining || s.act.expired {
		return false
	}
	s.act.called = true
	s.wake()
	return true
}

// yield gives back the connections that others wait for and that nothing ties the session to.
func (s *session) yield(now time.Time) {
	for _, b := range s.backends.open {
		if s.pool.Waiting(b.key.row()) > 0 && !s.tied(b) {
			s.handOver(b, now)
		}
	}
}
