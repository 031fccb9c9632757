package session

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/decision/digest"
	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/pool"
	"github.com/pointsman/pointsman/gateway/route"
	"github.com/pointsman/pointsman/gateway/snapshot"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// maxStatement is the most bytes of one statement: what a question may carry.
const maxStatement = 64 << 20

// statement is one statement on its way.
type statement struct {
	text       []byte
	digest     []byte // digest text, for classification also when digests are off
	comment    []byte // the first comment; nil when there is none
	kind       kind
	answer     *decisionv1.RouteStatementResponse
	settings   *snapshot.Settings
	generation uint64 // that the settings are of

	prepare *preparedStatement // being prepared
	execute *preparedStatement // being executed
	on      *backend           // the only place it can run, unless nil
}

// query routes and runs COM_QUERY.
func (s *session) query(ctx context.Context, cmd *mysql.Command) error {
	if err := s.gather(cmd); err != nil {
		return err
	}
	st := s.examine(cmd.Arg())
	switch {
	case st.kind.kill:
		if handled, err := s.killStatement(ctx, &st); handled {
			return err
		}
	case st.kind.use != "":
		return s.atHome(ctx, cmd) // the server says whether the schema exists; rules have no say, as in ProxySQL
	}
	s.decide(ctx, &st, decisionv1.Command_COMMAND_QUERY)
	if done, err := s.obey(ctx, &st); done || err != nil {
		return err
	}
	return s.run(ctx, cmd, &st, s.rewritten(&st))
}

// gather reads the whole command.
func (s *session) gather(cmd *mysql.Command) error {
	if cmd.Complete {
		return nil
	}
	if err := s.client.Gather(maxStatement + 1); err != nil {
		return &mysql.SideError{Side: mysql.SideClient, Op: "read", Err: err}
	}
	if cmd.Complete {
		return nil
	}
	err := s.client.WriteError(mysql.NewError(mysql.CodePacketTooLarge, "08S01",
		"Got a packet bigger than the gateway's limit of %d bytes", maxStatement))
	return errors.Join(err, errClose)
}

// examine digests and classifies a statement.
func (s *session) examine(text []byte) statement {
	snap := s.Snapshots.Current()
	st := statement{text: text, settings: &snap.Settings, generation: snap.Generation}
	res := digest.Compute(&s.buffer, text, &st.settings.DigestOptions)
	st.digest = res.Text
	if res.HasComment {
		st.comment = res.FirstComment
	}
	k, ok := s.kinds[string(res.Text)]
	if !ok {
		k = classify(string(res.Text))
		if len(s.kinds) >= maxKinds {
			clear(s.kinds)
		}
		s.kinds[string(res.Text)] = k
	}
	st.kind = k
	if len(text) > st.settings.DigestOptions.MaxQueryLength {
		st.kind.read = false // the digest may lack the end
	}
	return st
}

// maxKinds bounds the classifications that a session remembers.
const maxKinds = 256

// decide asks the router. The answer is shared with other sessions and must not be changed.
func (s *session) decide(ctx context.Context, st *statement, command decisionv1.Command) {
	snap := s.Snapshots.Current()
	if u := snap.User(s.login.User); u != nil {
		s.route.DefaultHostgroup = u.DefaultHostgroup
		if u.FastForward {
			st.answer = fastForward(u.DefaultHostgroup)
			s.Metrics.decision(st.answer, "fast_forward")
			return
		}
	}
	q := route.Statement{Text: st.text, Command: command}
	if st.settings.Digests {
		q.Generation = st.generation
		q.DigestText, q.FirstComment = st.digest, st.comment
	}
	answer, source := s.Router.Decide(ctx, &s.route, &q)
	st.answer = answer
	s.Metrics.decision(answer, string(source))
}

func fastForward(hostgroup int32) *decisionv1.RouteStatementResponse {
	return &decisionv1.RouteStatementResponse{
		DestinationHostgroup: proto.Int32(hostgroup), Reason: decisionv1.Reason_REASON_DEFAULT_HOSTGROUP,
	}
}

// obey does what an answer demands before a server is asked. done: the client has got its answer.
func (s *session) obey(ctx context.Context, st *statement) (done bool, err error) {
	a := st.answer
	if a.GetLog() {
		s.Log.Info("statement", "session", s.id, "user", s.login.User, "schema", s.route.Schemaname, "client", s.route.ClientAddr,
			"digest", a.Digest, "digest_text", a.DigestText, "hostgroup", a.DestinationHostgroup, "reason", a.Reason.String(),
			"rules", a.MatchedRules, "generation", a.Generation)
	}
	s.Metrics.unsupportedEffects(a)
	switch {
	case a.OkMsg != nil:
		return true, s.client.WriteOK(mysql.OK{Status: s.status(), Info: *a.OkMsg})
	case a.ErrorMsg != nil:
		return true, s.client.WriteError(mysql.NewError(codeRuleError, "42000", "%s", *a.ErrorMsg))
	}
	if a.NextQueryFlagIn != nil && (s.route.NextQueryFlagIn == nil || *s.route.NextQueryFlagIn != *a.NextQueryFlagIn) {
		s.route.NextQueryFlagIn = proto.Int32(*a.NextQueryFlagIn)
		s.route.Changed()
	}
	delay := st.settings.DefaultQueryDelay
	if a.DelayMs != nil {
		delay = time.Duration(*a.DelayMs) * time.Millisecond
	}
	if delay > 0 {
		return false, pause(ctx, delay)
	}
	return false, nil
}

// rewritten is the text to send instead, nil for the client's own.
func (s *session) rewritten(st *statement) []byte {
	switch {
	case st.answer.RawRewrittenText != nil:
		return st.answer.RawRewrittenText
	case st.answer.RewrittenText != nil:
		return []byte(*st.answer.RewrittenText)
	}
	return nil
}

// place finds the connection that a statement runs on: what holds the session, or one of the destination.
func (s *session) place(ctx context.Context, st *statement) (*backend, error) {
	b, err := s.held(ctx, st)
	if b != nil || err != nil {
		return b, err
	}
	hostgroup := s.route.DefaultHostgroup
	if st.answer.DestinationHostgroup != nil {
		hostgroup = *st.answer.DestinationHostgroup
	}
	if s.state.autocommitOff && st.kind.read && st.answer.Reason != decisionv1.Reason_REASON_ANNOTATION && s.persistent() {
		// With autocommit off a read begins a transaction, which writes will follow: it goes where BEGIN would.
		begin := statement{text: []byte("BEGIN"), digest: []byte("BEGIN"), settings: st.settings, generation: st.generation}
		s.decide(ctx, &begin, decisionv1.Command_COMMAND_QUERY)
		if begin.answer.DestinationHostgroup != nil {
			hostgroup = *begin.answer.DestinationHostgroup
		}
	}
	schema := s.state.schema
	if st.kind.use != "" {
		schema = "" // the one that the session leaves may be gone
	}
	return s.connect(ctx, hostgroup, schema, st.answer.MaxLagMs)
}

// persistent tells whether transactions hold the session, by the user's transaction_persistent.
func (s *session) persistent() bool {
	u := s.Snapshots.Current().User(s.login.User)
	return u == nil || u.TransactionPersistent == nil || *u.TransactionPersistent
}

// held gives the connection that the session is held on, nil when it is free to go where the answer says.
func (s *session) held(ctx context.Context, st *statement) (*backend, error) {
	state := &s.state
	if state.last != nil { // an error may have left the transaction's state open
		if err := s.settle(ctx, state.last); err != nil {
			return nil, s.lost(state.last, err)
		}
	}
	switch {
	case st.on != nil:
		return st.on, nil
	case state.pin != nil:
		return state.pin, nil
	case state.transaction != nil && (s.persistent() || st.kind.commit):
		return state.transaction, nil
	case s.homeOf(st.execute, st) != nil:
		return s.homeOf(st.execute, st), nil
	case st.kind.needsInsert && state.insert != nil:
		return state.insert, nil
	case st.kind.needsLast && state.last != nil:
		return state.last, nil
	case state.next != nil && !st.kind.read:
		return state.next, nil
	}
	return nil, nil //nolint:nilnil // nothing holds the session
}

// lost gives up a connection that broke and gives the error for the client.
func (s *session) lost(b *backend, cause error) error {
	s.Metrics.errors.WithLabelValues(mysql.SideBackend.String()).Inc()
	s.log.Warn("connection to server lost", "hostgroup", b.hostgroup, "server", b.Addr, "error", cause)
	_ = b.Conn.Close() // broken: no goodbye
	s.backends.drop(b)
	return mysql.NewError(codeLostBackend, "08S01", "Lost connection to server %s of hostgroup %d during the statement: %v", b.Addr, b.hostgroup, cause)
}

// run sends the client's current command to a server and relays the response.
func (s *session) run(ctx context.Context, cmd *mysql.Command, st *statement, text []byte) error {
	retries := st.settings.QueryRetriesOnFailure
	if st.answer.Retries != nil {
		retries = *st.answer.Retries
	}
	for {
		b, err := s.ready(ctx, st)
		req := mysql.Request{Text: text}
		if err == nil && st.execute != nil {
			req.Text, err = s.prepareOn(ctx, st.execute, b, cmd)
			if err != nil && !isServerError(err) {
				err = s.lost(b, err)
			}
		}
		if err != nil {
			return s.fail(ctx, err)
		}
		if st.prepare != nil {
			req.StatementID = st.prepare.id
		}
		again, err := s.relay(ctx, cmd, st, b, req, retries > 0)
		if !again {
			return err
		}
		retries--
	}
}

// isServerError tells a server's word from a broken connection.
func isServerError(err error) bool {
	var told *mysql.Error
	return errors.As(err, &told)
}

// ready gives the connection for a statement, with the session's state restored on it.
func (s *session) ready(ctx context.Context, st *statement) (*backend, error) {
	for tries := 0; ; tries++ {
		b, err := s.place(ctx, st)
		if err != nil {
			return nil, err
		}
		if s.holds(b) && !b.Alive() {
			return nil, s.lost(b, errors.New("closed by the server"))
		}
		if err = s.sync(ctx, b, st.kind.use == ""); err == nil {
			return b, nil
		}
		if isServerError(err) {
			return nil, err // e.g. an unknown schema
		}
		held := s.holds(b)
		err = s.lost(b, err)
		if held || tries > 0 {
			return nil, err
		}
	}
}

// fail tells the client why its statement did not run. The session goes on unless its state is lost.
func (s *session) fail(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var e *mysql.Error
	if !errors.As(err, &e) {
		e = pool.ClientError(err)
	}
	s.Metrics.errors.WithLabelValues("gateway").Inc()
	if werr := s.client.WriteError(e); werr != nil {
		return werr
	}
	if e.Code == codeLostBackend {
		return errClose // drivers drop the connection on 08S01; so does the gateway
	}
	return nil
}

// relay runs the current command on b. again: nothing has reached the client and the statement may be tried elsewhere.
func (s *session) relay(ctx context.Context, cmd *mysql.Command, st *statement, b *backend, req mysql.Request, mayRetry bool) (again bool, err error) {
	s.backends.uses++
	b.used = s.backends.uses
	held := s.holds(b)
	limit := s.watchTime(ctx, st, b)
	req.OnError = limit.rename
	s.setRunning(b)
	begin := time.Now()
	out, err := mysql.Relay(s.client, b.Conn, req)
	s.setRunning(nil)
	limit.stop()
	s.Metrics.statement(b.hostgroup, time.Since(begin))
	if err == nil {
		s.finished(st, b, &out)
		return false, nil
	}
	var side *mysql.SideError
	if !errors.As(err, &side) || side.Side == mysql.SideClient {
		// The client is gone in the middle: what the server still sends belongs to nobody.
		_ = b.Conn.Close() // a goodbye would not be read
		s.backends.drop(b)
		return false, err
	}
	lost := s.lost(b, side.Err)
	switch {
	case out.FirstByteSent:
		return false, errClose // an error can't be put into the middle of a response
	case mayRetry && st.kind.read && !held && cmd.Replayable():
		s.Metrics.retries.Inc()
		return true, nil
	}
	return false, s.fail(ctx, lost)
}

func (s *session) setRunning(b *backend) {
	s.mu.Lock()
	s.running = b
	s.mu.Unlock()
}

// finished takes over what a complete response said.
func (s *session) finished(st *statement, b *backend, out *mysql.Outcome) {
	state := &s.state
	wasOff := state.autocommitOff
	if st.kind.setStatement && out.Track != nil {
		out.Track.Variables = nil // in force for that statement only
	}
	s.observe(b, out)
	state.last, state.next = b, nil
	if out.LastInsertID != 0 {
		state.insert = b
	}
	if st.kind.setTransaction && out.Err == nil {
		state.next = b
	}
	s.implicitTransaction(st, b, out, wasOff)
	if out.Err == nil {
		s.pins(st, b, out)
	}
	if st.kind.use != "" && out.Err == nil && !b.tracked {
		s.setSchema(b, st.kind.use)
	}
	if st.prepare != nil && out.Prepared.OK {
		s.preparedOn(st.prepare, b, out)
	}
	if st.execute != nil {
		s.prepared.busy = nil
		if out.StatusKnown && out.Status&mysql.StatusCursorExists != 0 {
			s.prepared.busy = b
		}
	}
}

// implicitTransaction treats autocommit=0 as a transaction from its first statement to COMMIT or ROLLBACK, since the
// server reports one only from the first use of a table on.
func (s *session) implicitTransaction(st *statement, b *backend, out *mysql.Outcome, wasOff bool) {
	if !s.state.autocommitOff || !wasOff || st.kind.set || st.kind.use != "" {
		return
	}
	if st.kind.commit {
		if out.Err == nil && !out.InTransaction() {
			s.setTransaction(nil)
		}
		return
	}
	s.setTransaction(b)
}

// heldFlags are the state that only its own connection has. Sessions share no connections, so the other flags of
// multiplexing need no care here.
const heldFlags = PreparedStatement | LockTables | TemporaryTable | GetLock | SQLLogBin0

// pins holds the session on b when the statement left something there that can't be restored elsewhere.
func (s *session) pins(st *statement, b *backend, out *mysql.Outcome) {
	o := DefaultMultiplexOptions()
	o.Text, o.Multiplex = st.text, st.answer.Multiplex
	set, cleared := StatementFlags(st.digest, o)
	state := &s.state
	if cleared&LockTables != 0 && state.lockOnly && state.pin == b {
		state.pin, state.lockOnly = nil, false
	}
	switch {
	case set&NoMultiplex != 0:
		state.stick(b)
	case cleared&NoMultiplex != 0:
		delete(state.sticky, b.hostgroup)
	}
	if set&heldFlags != 0 {
		state.lockOnly = set&heldFlags == LockTables && state.pin == nil
		s.pinTo(b, (set & heldFlags).String())
		return
	}
	mayLock := st.answer.Multiplex == nil && st.settings.LockOnHostgroup
	switch t := out.Track; {
	case st.kind.setsVariable:
		if mayLock {
			s.pinTo(b, UserVariable.String())
		}
	case st.kind.setStatement:
	case t != nil && t.StateChanged && len(t.Variables) == 0 && t.Schema == nil:
		if mayLock {
			s.pinTo(b, "STATE_CHANGED")
		}
	case !b.tracked && st.kind.set:
		if mayLock {
			s.pinTo(b, "UNTRACKED_SET")
		}
	}
}

// timeLimit kills a statement that runs too long.
type timeLimit struct {
	timer *time.Timer
	done  chan struct{}
	fired atomic.Bool
}

// watchTime starts the statement's time limit; nil when there is none.
func (s *session) watchTime(ctx context.Context, st *statement, b *backend) *timeLimit {
	d := st.settings.DefaultQueryTimeout
	if st.answer.GetTimeoutMs() > 0 {
		d = time.Duration(*st.answer.TimeoutMs) * time.Millisecond
	}
	if d <= 0 {
		return nil
	}
	l := &timeLimit{done: make(chan struct{})}
	l.timer = time.AfterFunc(d, func() {
		defer close(l.done)
		l.fired.Store(true)
		if err := b.kill(ctx); err != nil {
			s.log.Warn("statement over its time limit not killed", "server", b.Addr, "error", err)
			_ = b.Conn.Close() // the client must not wait any longer
		}
	})
	return l
}

// stop ends the limit. A KILL on its way is waited for, so that it can't hit the next statement.
func (l *timeLimit) stop() {
	if l != nil && !l.timer.Stop() {
		<-l.done
	}
}

// rename turns the server's "interrupted" into the error that says why.
func (l *timeLimit) rename(e *mysql.Error) *mysql.Error {
	const interrupted = 1317
	if l != nil && e.Code == interrupted && l.fired.Load() {
		return mysql.NewError(codeQueryTimeout, "70100", "Query execution was interrupted, query_timeout exceeded")
	}
	return e
}

// atHome runs a command that is not routed on the connection that the session used last, else on one of the user's
// default hostgroup.
func (s *session) atHome(ctx context.Context, cmd *mysql.Command) error {
	if err := s.gather(cmd); err != nil {
		return err
	}
	snap := s.Snapshots.Current()
	if u := snap.User(s.login.User); u != nil {
		s.route.DefaultHostgroup = u.DefaultHostgroup
	}
	st := statement{
		settings: &snap.Settings,
		answer:   fastForward(s.route.DefaultHostgroup),
		kind:     kind{needsLast: true},
	}
	switch cmd.Code {
	case mysql.ComInitDB:
		st.kind.use = string(cmd.Arg())
	case mysql.ComQuery:
		st = s.examine(cmd.Arg())
		st.answer = fastForward(s.route.DefaultHostgroup)
		st.kind.needsLast = true
	}
	option := append([]byte(nil), cmd.Arg()...)
	if err := s.run(ctx, cmd, &st, nil); err != nil {
		return err
	}
	if cmd.Code == mysql.ComSetOption && s.state.last != nil && !s.state.last.uncertain {
		s.state.option = option
		s.state.optionVersion++
		s.state.last.option = s.state.optionVersion
	}
	return nil
}

// killStatement handles KILL [QUERY|CONNECTION] id of a session of this gateway. Other ids are the servers' affair.
func (s *session) killStatement(ctx context.Context, st *statement) (handled bool, err error) {
	words := strings.Fields(strings.TrimRight(string(st.text), "; \t\r\n"))
	query := false
	if len(words) > 2 {
		query = strings.EqualFold(words[len(words)-2], "QUERY")
	}
	id, err := strconv.ParseUint(words[len(words)-1], 10, 32)
	if err != nil || s.find(uint32(id)) == nil {
		return false, nil
	}
	return true, s.answerKill(s.kill(ctx, s, uint32(id), query))
}

// processKill handles COM_PROCESS_KILL.
func (s *session) processKill(ctx context.Context, cmd *mysql.Command) error {
	arg := cmd.Arg()
	if len(arg) != 4 {
		return s.client.WriteError(mysql.NewError(mysql.CodeUnknownCommand, "08S01", "Malformed kill command"))
	}
	id := uint32(arg[0]) | uint32(arg[1])<<8 | uint32(arg[2])<<16 | uint32(arg[3])<<24
	return s.answerKill(s.kill(ctx, s, id, false))
}

func (s *session) answerKill(e *mysql.Error) error {
	if e != nil {
		return s.client.WriteError(e)
	}
	return s.client.WriteOK(mysql.OK{Status: s.status()})
}
