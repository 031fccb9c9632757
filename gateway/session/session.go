package session

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pointsman/pointsman/decision/digest"
	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/route"
)

// handshakeTimeout limits a client's login.
const handshakeTimeout = 10 * time.Second

// writeTimeout frees a backend from a client that does not read, as MySQL's net_write_timeout.
const writeTimeout = 60 * time.Second

// session is one client connection. Its goroutine owns everything but the fields under mu.
type session struct {
	*Gateway
	id       uint32
	listener int // its place in the gateway's snapshot.Site
	client   *mysql.Conn
	login    *mysql.Login
	log      *slog.Logger

	route    route.Session
	random   float64 // what guidelines see as $.session.randomValue
	buffer   digest.Buffer
	backends backends
	logins   logins
	limit    timeLimit
	onError  func(*mysql.Error) *mysql.Error // limit.rename
	state    state
	prepared prepared
	kinds    map[string]kind // by digest text

	looked     bool            // at a snapshot
	serial     uint64          // of the snapshot that was looked at last
	kept       map[string]kept // servers by pool
	wasRouted  bool            // by a guideline, on the route of that name
	routeName  string
	routeLabel string // in metrics
	routeMode  string

	routeCounter prometheus.Counter // of label and mode; nil: to be found

	counted bool // holds one of its user's places

	remote    net.Addr
	connected time.Duration // when it was accepted, by the gateway's clock
	cancel    context.CancelCauseFunc

	// Times by the gateway's clock.
	beganAt    time.Duration // the command was read
	again      bool          // the command in hand can be sent again if its connection turns out to be broken
	doneAt     time.Duration // the last response ended, or the command was read
	decidingAt time.Duration // the question in hand began
	spent      time.Duration // on servers, by the command's statements, and in a rule's delay

	waitVersion int // of the state's variables, when wait_timeout was looked for

	mu  sync.Mutex
	act activity
}

// Serve runs one client connection of a listener, by its place in the snapshots' Site, until it ends, and closes it. ctx
// ends it at once.
func (g *Gateway) Serve(ctx context.Context, nc net.Conn, listener int) {
	g.Metrics.sessions.Inc()
	defer g.Metrics.sessions.Dec()
	client := mysql.NewConn(nc)
	client.SetWriteTimeout(writeTimeout)
	client.OfferTLS(g.ClientTLS, g.RequireTLS)
	defer client.Close() //nolint:errcheck // the client is gone or was told
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &session{
		Gateway: g, id: g.nextID(), listener: listener, client: client, random: randomValue(), kinds: map[string]kind{},
		remote: nc.RemoteAddr(), connected: g.clock(), cancel: cancel,
	}
	s.onError = s.limit.rename
	s.act.since = s.connected
	s.log = g.Log.With("session", s.id)
	cut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(cut)
		s.cut(ctx)
	})
	defer func() {
		if !stop() {
			<-cut
		}
	}()
	g.enter(s)
	defer g.leave(s)
	defer s.leaveUser()
	if err := s.start(ctx); err != nil {
		s.ended(ctx, "login", err)
		return
	}
	defer g.dismiss()
	s.doneAt = g.clock()
	g.register(s)
	defer s.leaveAll(ctx)
	defer s.limit.end()
	s.ended(ctx, "session", client.Serve(func() error { return s.loop(ctx) }))
}

// cut ends the session at once, from another goroutine: ctx has ended.
func (s *session) cut(ctx context.Context) {
	_ = s.client.Close()
	b := s.aim()
	if b == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cutTimeout)
	defer cancel()
	_ = b.kill(ctx)    // as far as that is possible in a moment
	_ = b.Conn.Close() // the session waits for it no longer
}

// cutTimeout is what a statement's KILL may delay the end of a session that is cut.
const cutTimeout = time.Second

// loop reads and runs commands.
func (s *session) loop(ctx context.Context) error {
	for s.await() {
		cmd, err := s.client.ReadCommand()
		woken := s.busy(cmd)
		switch {
		case err != nil && woken == wakeDrain:
			return errDrained
		case err != nil && woken == wakeExpired:
			return s.expire()
		case woken == wakeCalled:
			s.yield(time.Now())
			if errors.Is(err, os.ErrDeadlineExceeded) {
				continue // nothing that was read is lost
			}
		}
		if err != nil {
			return err
		}
		if err := s.command(ctx, cmd); err != nil {
			return err
		}
		s.observeTimes()
	}
	return errDrained
}

// command runs one command of the client. An error ends the session.
func (s *session) command(ctx context.Context, cmd *mysql.Command) error {
	s.Metrics.command(cmd.Code)
	switch cmd.Code {
	case mysql.ComQuit:
		return errQuit
	case mysql.ComPing:
		if s.leaving.Load() && s.state.transaction == nil && s.heldBy() == "" {
			return errors.Join(s.client.WriteError(mysql.NewError(mysql.CodeServerShutdown, "08S01", "Server shutdown in progress")), errDrained)
		}
		return s.ping(ctx)
	case mysql.ComQuery:
		return s.query(ctx, cmd)
	case mysql.ComInitDB:
		return s.atHome(ctx, cmd) // the server says whether the schema exists; then rules look at it
	case mysql.ComStmtPrepare:
		return s.prepare(ctx, cmd)
	case mysql.ComStmtExecute:
		return s.execute(ctx, cmd)
	case mysql.ComStmtSendLongData:
		return s.sendLongData(ctx, cmd)
	case mysql.ComStmtFetch, mysql.ComStmtReset:
		return s.onStatement(ctx, cmd)
	case mysql.ComStmtClose:
		return s.closeStatement(cmd)
	case mysql.ComResetConnection:
		return s.reset(ctx)
	case mysql.ComChangeUser:
		return s.changeUser(ctx)
	case mysql.ComProcessKill:
		return s.processKill(ctx, cmd)
	case mysql.ComFieldList, mysql.ComStatistics, mysql.ComSetOption, mysql.ComProcessInfo, mysql.ComDebug,
		mysql.ComCreateDB, mysql.ComDropDB, mysql.ComRefresh:
		return s.atHome(ctx, cmd)
	}
	return s.client.WriteError(mysql.NewError(mysql.CodeUnknownCommand, "08S01",
		"Command 0x%02x is not supported by the gateway", cmd.Code))
}

// status is what locally made OK packets say of the session: what its server said last. Clients go by it when they quote
// texts, for instance.
func (s *session) status() uint16 { return s.state.flags }

// ping answers for the servers, of which one is asked when an error has left open what it would say.
func (s *session) ping(ctx context.Context) error {
	if err := s.settle(ctx, s.state.last); err != nil {
		return s.fail(ctx, err)
	}
	return s.client.WriteOK(mysql.OK{Status: s.status()})
}

// reset begins the session anew, as COM_RESET_CONNECTION does. Servers end transactions, locks, variables, temporary
// tables and prepared statements before the client gets its answer. The schema stays.
func (s *session) reset(ctx context.Context) error {
	for _, b := range s.backends.open {
		if err := b.reset(ctx, nil, ownTimeout); err != nil {
			s.log.Debug("connection not reset", "server", b.Addr, "error", err)
			_ = b.Conn.Close() // broken: no goodbye
			s.backends.drop(b)
		}
	}
	s.forget(s.state.schema)
	return s.client.WriteOK(mysql.OK{Status: s.status()})
}

// forget drops what the session was, but for its login.
func (s *session) forget(schema string) {
	s.state = state{schema: schema, flags: mysql.StatusAutocommit}
	s.prepared = prepared{}
	s.route.NextQueryFlagIn = nil
	s.route.Changed()
}
