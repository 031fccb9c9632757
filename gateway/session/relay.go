package session

import (
	"context"
	"errors"

	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/pool"
)

// run sends the client's current command to a server and relays the response.
func (s *session) run(ctx context.Context, cmd *mysql.Command, st *statement, text []byte) error {
	if st.kind.commit && st.prepare == nil {
		if err := s.endOthers(ctx, st); err != nil {
			return s.fail(ctx, err)
		}
	}
	retries := st.settings.QueryRetriesOnFailure
	if st.answer.Retries != nil {
		retries = st.answer.GetRetries()
	}
	for {
		s.again = retries > 0 && st.kind.read && cmd.Replayable()
		b, err := s.ready(ctx, st)
		s.again = false
		req := mysql.Request{Text: text}
		if err == nil && st.execute != nil {
			req.Text, err = s.prepareOn(ctx, st.execute, b, cmd)
			if err != nil && !isServerError(err) && !isClientGone(err) {
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

// isClientGone tells that it is the client's connection that broke.
func isClientGone(err error) bool {
	var side *mysql.SideError
	return errors.As(err, &side) && side.Side == mysql.SideClient
}

// lost gives up a connection that broke and gives the error for the client.
func (s *session) lost(b *backend, cause error) error {
	s.Metrics.failed(mysql.SideBackend.String(), kindOfError(cause))
	s.log.Warn("connection to server lost", "hostgroup", b.key.hostgroup, "server", b.Addr, "error", cause)
	_ = b.Conn.Close() // broken: no goodbye
	s.backends.drop(b)
	return mysql.NewError(codeLostBackend, "08S01",
		"Lost connection to server %s of hostgroup %d during the statement: %v", b.Addr, b.key.hostgroup, cause)
}

// fail tells the client why its statement did not run. The session goes on unless its state is lost.
func (s *session) fail(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if isClientGone(err) {
		return err // there is nobody to tell
	}
	var e *mysql.Error
	if !errors.As(err, &e) {
		e = pool.ClientError(err)
	}
	s.countFailure(err, e)
	if werr := s.client.WriteError(e); werr != nil {
		return werr
	}
	switch e.Code { // drivers drop the connection on 08S01; so does the gateway
	case codeLostBackend:
		return errServerLost
	case mysql.CodePacketTooLarge:
		return errClose
	}
	return nil
}

// countFailure counts what a statement failed by, unless a connection was lost: that is counted already.
func (s *session) countFailure(err error, told *mysql.Error) {
	var dial *pool.DialError
	switch {
	case told.Code == codeLostBackend:
	case errors.As(err, &dial):
		s.Metrics.failed(mysql.SideBackend.String(), kindOfError(dial.Err))
	default:
		s.Metrics.failed(sideGateway, kindOfCode(told.Code))
	}
}

// relay runs the current command on b. again: nothing has reached the client and the statement may be tried elsewhere.
func (s *session) relay(ctx context.Context, cmd *mysql.Command, st *statement, b *backend, req mysql.Request, mayRetry bool) (again bool, err error) {
	s.backends.uses++
	b.used = s.backends.uses
	held := s.holds(b)
	if st.keep != nil {
		req.Record = &st.keep.record
	}
	begin := s.clock()
	s.watchTime(ctx, st, b, begin)
	req.OnError = s.onError
	s.setRunning(b, st, begin)
	if ctx.Err() != nil {
		_ = b.Conn.Close() // cut has not seen it
	}
	out, err := mysql.Relay(s.client, b.Conn, req)
	s.doneAt = s.clock()
	b.doneAt = s.doneAt
	s.setDone()
	exceeded := s.limit.stop()
	s.spent += s.doneAt - begin
	s.Metrics.statement(b, s.doneAt-begin)
	if err == nil {
		if st.keep != nil {
			s.keepResponse(st, &out)
		}
		s.finished(ctx, st, b, &out)
		b.uncertain = b.uncertain || exceeded || b.aimed.Load() // the KILL may have come late: a ping takes it away from the next statement
		s.share(st, b, &out, s.began.Add(s.doneAt))
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
		return false, errServerLost // an error can't be put into the middle of a response
	case exceeded:
		return false, errors.Join(s.client.WriteError(queryTimeout()), errClose)
	case mayRetry && st.kind.read && !held && cmd.Replayable():
		s.Metrics.retries.Inc()
		return true, nil
	}
	return false, s.fail(ctx, lost)
}

// finished takes over what a complete response said.
func (s *session) finished(ctx context.Context, st *statement, b *backend, out *mysql.Outcome) {
	state := &s.state
	wasOff := state.autocommitOff
	if st.kind.setStatement && out.Track != nil {
		out.Track.Variables = nil // in force for that statement only
	}
	s.observe(b, out)
	if st.kind.collate && out.Err == nil {
		if name := nameAfter(st.text, " COLLATE "); name != "" {
			s.observeVariable(b, "collation_connection", name) // servers do not report this one
		}
	}
	if st.kind.use && out.Err == nil && !b.tracked {
		s.setSchema(b, usedSchema(st))
	}
	state.last, state.next, state.given = b, nil, given{}
	if out.LastInsertID != 0 || st.kind.needsInsert {
		state.insert = b
	}
	if st.kind.setTransaction && out.Err == nil {
		state.next = b
	}
	s.learnUnscoped(ctx, st, b, out)
	s.implicitTransaction(st, b, out, wasOff)
	set := s.trace(st, b, out)
	if out.Err == nil || out.Results > 1 {
		s.pins(st, b, out, set)
	}
	if wasOff && !state.autocommitOff {
		s.commitOthers(ctx)
	}
	switch {
	case st.prepare != nil && out.Prepared.OK:
		s.preparedOn(st.prepare, b, out)
	case st.execute != nil:
		s.executedOn(st.execute, b, out)
	}
}

// usedSchema is the schema that USE or COM_INIT_DB named.
func usedSchema(st *statement) string {
	if st.digest == nil {
		return string(st.text)
	}
	return nameAfter(st.text, "USE")
}

// implicitTransaction treats autocommit=0 as a transaction from its first statement to COMMIT or ROLLBACK, since the
// server reports one only from the first use of a table on. Where autocommit_false_is_transaction is off, only a savepoint counts,
// which servers do not report either.
func (s *session) implicitTransaction(st *statement, b *backend, out *mysql.Outcome, wasOff bool) {
	if !s.state.autocommitOff || !wasOff || st.digest == nil || st.prepare != nil || st.kind.set || st.kind.use {
		return
	}
	b.savepoint = b.savepoint || st.kind.savepoint && out.Err == nil
	if !st.kind.commit {
		if b.savepoint || s.autocommitOffHolds() {
			s.setOpen(b, true)
		}
	} else if out.Err == nil && !out.InTransaction() {
		s.setOpen(b, false)
	}
}

// commitOthers carries autocommit, which was just switched on, to the other connections with an open transaction: there
// too it commits.
func (s *session) commitOthers(ctx context.Context) {
	for _, b := range s.backends.open {
		if !b.open {
			continue
		}
		if err := s.sync(ctx, b, false); err != nil {
			_ = s.lost(b, err) // the client has got its answer already
			continue
		}
		s.setOpen(b, false)
	}
}
