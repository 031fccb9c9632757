package session

import (
	"slices"
	"strings"

	"github.com/pointsman/pointsman/gateway/mysql"
)

// state is what a session has changed on servers, and what holds it to one of them.
type state struct {
	schema  string
	vars    []variable // in the order of their last change
	version int        // counts changes of vars

	option        []byte // the last COM_SET_OPTION's argument
	optionVersion int

	transaction   *backend // has an open transaction
	autocommitOff bool
	pin           *backend           // holds state that can't be restored elsewhere
	last          *backend           // of the last statement
	lockOnly      bool               // the pin is for LOCK TABLES alone
	insert        *backend           // of the last statement that generated an id
	sticky        map[int32]*backend // by hostgroup: a rule's multiplex=0 keeps the connection
	next          *backend           // the next statement belongs to it, after SET TRANSACTION
}

type variable struct{ name, value string }

// forget drops a connection that is gone. A transaction or pin on it is lost with it; the caller has told the client.
func (st *state) forget(b *backend) {
	for _, p := range []**backend{&st.transaction, &st.pin, &st.last, &st.insert, &st.next} {
		if *p == b {
			*p = nil
		}
	}
	if st.sticky[b.hostgroup] == b {
		delete(st.sticky, b.hostgroup)
	}
}

// stick keeps the hostgroup's statements on one connection.
func (st *state) stick(b *backend) {
	if st.sticky == nil {
		st.sticky = map[int32]*backend{}
	}
	st.sticky[b.hostgroup] = b
}

// holds tells whether the session depends on this very connection.
func (s *session) holds(b *backend) bool {
	st := &s.state
	return b == st.transaction || b == st.pin || b == st.next || b == s.prepared.busy
}

func (s *session) inTransaction() bool { return s.state.transaction != nil }

// holdTransaction makes the state visible to drain, which runs elsewhere.
func (s *session) holdTransaction(open bool) { s.open.Store(open) }

func (s *session) holdsTransaction() bool { return s.open.Load() }

// setTransaction notes which connection has the open transaction.
func (s *session) setTransaction(b *backend) {
	s.state.transaction = b
	s.holdTransaction(b != nil)
}

// pinTo holds the session on a connection for good, that is until it is reset.
func (s *session) pinTo(b *backend, cause string) {
	if s.state.pin == b {
		return
	}
	s.state.pin = b
	s.Metrics.pins.WithLabelValues(cause).Inc()
	s.log.Debug("session pinned", "cause", cause, "hostgroup", b.hostgroup, "server", b.Addr)
}

// setVariable notes a changed variable.
func (st *state) setVariable(v mysql.Variable) {
	name := strings.ToLower(v.Name)
	if strings.HasPrefix(name, "session_track_") {
		return
	}
	st.vars = slices.DeleteFunc(st.vars, func(o variable) bool { return o.name == name })
	st.vars = append(st.vars, variable{name, v.Value})
	st.version++
}

// restore gives the SET that brings a connection up to date, empty when nothing was ever changed.
func (st *state) restore() string {
	if len(st.vars) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("SET ")
	for i, v := range st.vars {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("SESSION " + v.name + "=" + quoteValue(v.name, v.value))
	}
	return b.String()
}

// observe takes over what a response said about the server's session.
func (s *session) observe(b *backend, out *mysql.Outcome) {
	st := &s.state
	if out.Err != nil {
		b.uncertain = true
	}
	if t := out.Track; t != nil {
		for _, v := range t.Variables {
			st.setVariable(v)
			b.vars = st.version // it is in force here; other connections are behind now
		}
		if t.Schema != nil {
			s.setSchema(b, *t.Schema)
		}
	}
	if !out.StatusKnown {
		return
	}
	st.autocommitOff = out.Status&mysql.StatusAutocommit == 0
	switch {
	case out.InTransaction():
		s.setTransaction(b)
	case st.transaction == b && !st.autocommitOff:
		s.setTransaction(nil)
	}
}

// setSchema notes the session's schema, which rules look at from the next statement on.
func (s *session) setSchema(b *backend, schema string) {
	b.schema = schema
	if s.state.schema == schema {
		return
	}
	s.state.schema = schema
	s.route.Schemaname = schema
	s.route.Changed()
}
