package session

import (
	"bytes"
	"context"
	"strconv"
	"time"

	"github.com/pointsman/pointsman/gateway/mysql"
)

// traces are what a session's statements may have left on a connection, for those who get it next.
type traces struct {
	flags     Flags // of multiplexing
	variables bool  // user variables, or other state that the server reports without saying what it is
	tainted   bool  // generated ids, errors: nothing ties the session to it, but it must be renewed for others
	role      bool  // perhaps another role, which a reset does not undo
	inherited bool  // the latest statement there was another session's
}

// trace notes what a statement may have left on its connection. It returns the flags of multiplexing that the statement set.
func (s *session) trace(st *statement, b *backend, out *mysql.Outcome) (set Flags) {
	o := DefaultMultiplexOptions()
	o.Text, o.Multiplex = st.text, st.answer.Multiplex
	o.InTransaction, o.Autocommit, o.Warnings = out.InTransaction(), !s.state.autocommitOff, out.Warnings
	ran := out.Err == nil || out.Results > 1
	t := &b.traces
	for part := range bytes.SplitSeq(st.whole, []byte{';'}) { // no ; of a literal is in a digest
		partSet, cleared := StatementFlags(bytes.TrimLeft(part, " "), o)
		set = set&^cleared | partSet
		t.flags = (t.flags&^cleared | partSet) &^ NoMultiplex
		if !ran {
			continue
		}
		if cleared&LockTables != 0 && s.state.lock == b {
			s.state.lock = nil
		}
		switch {
		case partSet&NoMultiplex != 0:
			s.state.stick(b)
		case cleared&NoMultiplex != 0:
			delete(s.state.sticky, b.at)
		}
	}
	s.traceState(st, b, out)
	return set
}

// traceState notes what the flags leave out.
func (s *session) traceState(st *statement, b *backend, out *mysql.Outcome) {
	t := &b.traces
	if hasUserVariable(st.whole) {
		t.variables = true
	}
	if k := out.Track; k != nil && k.StateChanged && (len(k.Variables) == 0 && k.Schema == nil || st.kind.call || out.Results > 1) {
		t.variables = true // else it stands for the variables or the schema that are reported
		if !st.kind.setsVariable && t.flags&(TemporaryTable|PreparedStatement) == 0 || st.kind.call || out.Results > 1 {
			t.role = true
		}
	}
	if st.kind.set && index(st.whole, " ROLE", 0) >= 0 {
		t.role = true
	}
	if givesInsertID(st.whole) {
		t.flags |= UserVariable
		t.variables = true
	}
	t.tainted = t.tainted || !harmless(st, out)
	t.inherited = false
}

// givesInsertID tells whether a statement sets what LAST_INSERT_ID() says by LAST_INSERT_ID(expression).
func givesInsertID(digest []byte) bool {
	const name = "LAST_INSERT_ID("
	for {
		i := index(digest, name, len("LAST"))
		if i < 0 {
			return false
		}
		digest = bytes.TrimLeft(digest[i+len(name):], " ")
		if len(digest) == 0 || digest[0] != ')' {
			return true
		}
	}
}

// harmless tells whether a statement leaves nothing on its connection, apart from what is tracked, that others could see.
func harmless(st *statement, out *mysql.Outcome) bool {
	if out.Err != nil || out.Results > 1 || out.LastInsertID != 0 || out.Warnings > 0 || st.kind.needsInsert || st.kind.setStatement {
		return false
	}
	if st.kind.read || st.kind.set || st.kind.use || st.kind.commit {
		return true
	}
	for _, word := range [...]string{"BEGIN", "START TRANSACTION", "UPDATE ", "DELETE ", "SELECT "} {
		if hasPrefix(st.whole, word) && bytes.IndexByte(st.whole, ';') < 0 {
			return true
		}
	}
	return false
}

// tied tells whether the session would lose something with a connection.
func (s *session) tied(b *backend) bool {
	if s.holds(b) || s.state.autocommitOff || b.uncertain || !b.tracked || !s.fit(b) {
		return true
	}
	for _, sticky := range s.state.sticky {
		if sticky == b {
			return true
		}
	}
	t := &b.traces
	return t.variables || t.flags&^UserVariable != 0
}

// insertDelay is how long a session stays on the connection of a statement that has generated an id.
type insertDelay struct {
	statements uint32 // left
	until      time.Time
}

// share gives the connection back after a statement where sessions share connections, or others wait for one.
func (s *session) share(st *statement, b *backend, out *mysql.Outcome, now time.Time) {
	d := &s.state.delay
	switch {
	case out.LastInsertID != 0:
		s.state.insertID = out.LastInsertID
		*d = insertDelay{statements: st.settings.AutoIncrementDelay}
		if limit := st.settings.AutoIncrementDelayTimeout; limit > 0 {
			d.until = now.Add(limit)
		}
	case d.statements > 0:
		d.statements--
	}
	wanted := s.pool.Waiting(b.key.row()) > 0
	if !wanted && !s.multiplexes(b) || s.tied(b) {
		return
	}
	if wanted || !s.likes(st, b, now) {
		s.handOver(b, now)
	}
}

// multiplexes tells whether sessions share the connections to a hostgroup.
func (s *session) multiplexes(b *backend) bool {
	hg := s.Snapshots.Current().Hostgroup(b.key.hostgroup)
	return hg != nil && hg.Attributes.Multiplex
}

// likes tells whether the session had better keep a connection although nothing ties it: prepared statements would have to be
// prepared anew, and statements to come may ask for what the latest did.
func (s *session) likes(st *statement, b *backend, now time.Time) bool {
	if b.traces.flags != 0 || len(s.prepared.statements) > 0 {
		return true
	}
	d := &s.state.delay
	if s.state.insert == b && d.statements > 0 && (d.until.IsZero() || now.Before(d.until)) {
		return true
	}
	return !st.kind.read && !st.kind.commit && !st.kind.set && !st.kind.use // ROW_COUNT() may come
}

// lastStatement gives the connection of the latest statement where one asks about it, although it was handed over. The error
// says that others have used it since.
func (s *session) lastStatement(ctx context.Context, st *statement) (*backend, error) {
	if !st.kind.needsLast || s.state.last != nil || s.state.given.serial == 0 {
		return nil, nil //nolint:nilnil // nothing of that kind
	}
	b := s.reclaim(ctx)
	if b == nil && (index(st.whole, "FOUND_ROWS(", len("FOUND")) >= 0 || index(st.whole, "ROW_COUNT(", len("ROW")) >= 0) {
		return nil, mysql.NewError(codeHandedOver, "HY000",
			"The connection of the statement before was handed on, so its count of rows is lost: run both in one transaction, or give their rules multiplex=0")
	}
	return b, nil
}

// tidy makes a connection that other sessions have used fit for a statement that asks what was before it.
func (s *session) tidy(ctx context.Context, st *statement, b *backend) error {
	if b.traces.inherited && !s.holds(b) && (st.kind.needsLast || st.kind.needsInsert || st.kind.call) {
		if err := b.renew(ctx, ownTimeout); err != nil {
			return err
		}
	}
	if !st.kind.needsInsert || s.state.insert == b || s.state.insertID == 0 {
		return nil
	}
	b.traces.tainted = true
	return b.exec(ctx, "SET SESSION last_insert_id="+strconv.FormatUint(s.state.insertID, 10))
}
