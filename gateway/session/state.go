package session

import (
	"maps"
	"slices"
	"strings"

	"github.com/pointsman/pointsman/gateway/mysql"
)

// state is what a session has changed on servers, and what holds it to one of them.
type state struct {
	schema  string
	vars    []variable // in the order of their last change
	version int        // counts changes of vars
	set     string     // of vars, made when it is needed

	option        []byte // the last COM_SET_OPTION's argument
	optionVersion int

	autocommitOff bool
	flags         uint16 // lastingFlags of the last response

	// The session depends on these connections: it ends when one of them is lost.
	transaction *backend // has an open transaction, the latest if several have
	pin         *backend // holds state that can't be restored elsewhere
	lock        *backend // holds locks of LOCK TABLES
	pinCause    string   // what pin holds
	locked      bool     // pin holds a SET that can't be followed
	lockedTo    int32    // then, the hostgroup that the SET went to
	next        *backend // the next statement belongs to it, after SET TRANSACTION

	// These are preferred as long as they live.
	last   *backend              // of the last statement
	insert *backend              // of the last statement that generated an id
	delay  insertDelay           // for that one
	sticky map[placeKey]*backend // a rule's multiplex=0 keeps the connection for statements of the place

	insertID uint64 // generated last
	given    given  // the connection of the last statement, while that is another session's
}

type variable struct{ name, value string }

// forget drops a connection that is gone. A transaction or pin on it is lost with it; the caller has told the client.
func (st *state) forget(b *backend) {
	for _, p := range []**backend{&st.transaction, &st.pin, &st.lock, &st.next, &st.last, &st.insert} {
		if *p == b {
			*p = nil
		}
	}
	st.locked = st.locked && st.pin != nil
	maps.DeleteFunc(st.sticky, func(_ placeKey, other *backend) bool { return other == b })
}

// stick keeps the statements of the connection's place on it.
func (st *state) stick(b *backend) {
	if st.sticky == nil || len(st.sticky) >= maxPlaces {
		st.sticky = map[placeKey]*backend{}
	}
	st.sticky[b.at] = b
}

// maxPlaces bounds the places that a session prefers connections for: guidelines come and go.
const maxPlaces = 64

// holds tells whether the session depends on this very connection.
func (s *session) holds(b *backend) bool {
	st := &s.state
	return b.open || b == st.pin || b == st.lock || b == st.next || b == s.prepared.long || b.cursors > 0
}

// setOpen notes whether a transaction is open on a connection.
func (s *session) setOpen(b *backend, open bool) {
	b.open = open
	b.savepoint = b.savepoint && open
	st := &s.state
	switch {
	case open:
		st.transaction = b
	case st.transaction == b:
		st.transaction = nil
		for _, other := range s.backends.open { // only without transaction_persistent
			if other.open {
				st.transaction = other
			}
		}
	}
}

// pinTo holds the session on a connection for good, that is until it is reset.
func (s *session) pinTo(b *backend, cause string) {
	if s.state.pin == b {
		return
	}
	s.state.pin, s.state.pinCause = b, cause
	s.Metrics.pins.WithLabelValues(cause).Inc()
	s.log.Debug("session pinned", "cause", cause, "hostgroup", b.key.hostgroup, "server", b.Addr)
}

// unrestorable are variables whose value is used up, moves on by itself, or is reported wrongly when set to DEFAULT: what
// one server reports of them must not be set on another.
var unrestorable = map[string]bool{
	"gtid_domain_id": true, "gtid_next": true, "gtid_seq_no": true, "identity": true, "insert_id": true, "last_insert_id": true,
	"pseudo_slave_mode": true, "pseudo_thread_id": true, "rand_seed1": true, "rand_seed2": true, "server_id": true, "timestamp": true,
}

// reported are read-only variables, by which a server tells what has happened: nobody has set them, and nobody can.
var reported = map[string]bool{
	"error_count": true, "external_user": true, "in_transaction": true, "last_gtid": true, "proxy_user": true, "warning_count": true,
}

// setVariable notes a changed variable.
func (st *state) setVariable(name, value string) {
	st.vars = slices.DeleteFunc(st.vars, func(o variable) bool { return o.name == name })
	st.vars = append(st.vars, variable{name, value})
	st.version++
	st.set = ""
}

// restore gives the SET that brings a connection up to date, empty when nothing was ever changed.
func (st *state) restore() string {
	if len(st.vars) == 0 || st.set != "" {
		return st.set
	}
	var b strings.Builder
	b.WriteString("SET ")
	for i, v := range st.vars {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("SESSION " + v.name + "=" + quoteValue(v.name, v.value))
	}
	st.set = b.String()
	return st.set
}

// lastingFlags are the status flags that concern a session, not a statement.
const lastingFlags = mysql.StatusAutocommit | mysql.StatusInTrans | mysql.StatusInTransReadonly | mysql.StatusNoBackslashEscapes | mysql.StatusANSIQuotes

// observe takes over what a response said about the server's session.
func (s *session) observe(b *backend, out *mysql.Outcome) {
	st := &s.state
	if out.Err != nil {
		b.uncertain = true
	}
	if t := out.Track; t != nil {
		for _, v := range t.Variables {
			s.observeVariable(b, strings.ToLower(v.Name), v.Value)
		}
		if t.Schema != nil {
			s.setSchema(b, *t.Schema)
		}
	}
	if !out.StatusKnown {
		return
	}
	st.autocommitOff = out.Status&mysql.StatusAutocommit == 0
	st.flags = out.Status & lastingFlags
	switch {
	case out.InTransaction():
		s.setOpen(b, true)
	case !st.autocommitOff, !b.savepoint && !s.autocommitOffHolds():
		s.setOpen(b, false)
	}
}

// autocommitOffHolds tells whether a session with autocommit off counts as in a transaction, by the setting
// autocommit_false_is_transaction.
func (s *session) autocommitOffHolds() bool {
	return s.Snapshots.Current().Settings.AutocommitFalseIsTransaction
}

// observeVariable takes over a variable that a statement on b has set.
func (s *session) observeVariable(b *backend, name, value string) {
	switch {
	case reported[name]:
	case strings.HasPrefix(name, "session_track_"):
		b.tracked = false // the client's own reports: nothing can be relied on from here
	case unrestorable[name]:
		s.pinTo(b, "VARIABLE")
	default:
		s.state.setVariable(name, value)
		b.vars = s.state.version // it is in force here; other connections are behind now
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

// quoteValue writes a reported variable value as SET takes it.
func quoteValue(name, value string) string {
	if value == "" && name == "character_set_results" {
		return "NULL" // reported as an empty text
	}
	if isNumber(value) {
		return value
	}
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(value) + "'"
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
