package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/snapshot"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// place is where a statement goes when nothing holds the session, by one snapshot. Its servers are those of that very
// snapshot: under another one the place is chosen anew.
type place struct {
	snap      *snapshot.Snapshot
	hostgroup int32
	pools     []string // of the routing guideline, which stand in for the hostgroup
	refusal   string   // why the guideline has no place for the session; empty: it has one
	awaited   uint64   // the generation that has chosen the pools while the snapshot is still of an older one; else 0
}

// placeKey tells places apart.
type placeKey struct {
	hostgroup int32
	pool      string
}

func (p *place) key() placeKey {
	if len(p.pools) > 0 {
		return placeKey{pool: p.pools[0]}
	}
	return placeKey{hostgroup: p.hostgroup}
}

// String names the place in errors.
func (p *place) String() string {
	if len(p.pools) > 0 {
		return fmt.Sprintf("pool %q of the routing guideline", p.pools[0])
	}
	return fmt.Sprintf("hostgroup %d", p.hostgroup)
}

// ready gives the connection for a statement, with the session's state restored on it.
func (s *session) ready(ctx context.Context, st *statement) (*backend, error) {
	for tries := 0; ; tries++ {
		b, err := s.place(ctx, st)
		if err != nil {
			return nil, err
		}
		if s.holds(b) && !s.usable(b) {
			return nil, s.lost(b, errors.New("closed by the server"))
		}
		if err = s.tidy(ctx, st, b); err == nil {
			err = s.sync(ctx, b, !st.kind.use)
		}
		if err == nil {
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

// place finds the connection that a statement runs on: what holds the session, or one of the destination.
func (s *session) place(ctx context.Context, st *statement) (*backend, error) {
	if err := s.settle(ctx, s.state.last); err != nil {
		return nil, err
	}
	if b := s.held(st); b != nil {
		return b, s.mayReach(st, b)
	}
	if b, err := s.lastStatement(ctx, st); b != nil || err != nil {
		return b, err
	}
	var begin statement
	leads := s.leads(ctx, st, &begin)
	if leads.undecided && !s.mustGoOn(st) {
		return nil, s.noDecision()
	}
	at, err := s.destination(ctx, leads)
	if err != nil {
		return nil, err
	}
	if b := s.homeOf(st.execute, at); b != nil {
		return b, nil
	}
	if b := s.state.insert; st.kind.needsInsert && s.alive(b) && b.at == at.key() {
		return b, nil // a write that uses the id goes by rules, but there to the server that knows it
	}
	schema := s.state.schema
	if st.kind.use {
		schema = "" // the one that the session leaves may be gone
	}
	return s.connect(ctx, leads, schema, st.answer.MaxLagMs)
}

// held gives the connection that the session is held on, nil when it is free to go where the answer says.
func (s *session) held(st *statement) *backend {
	state := &s.state
	switch {
	case st.on != nil:
		return st.on
	case state.pin != nil:
		return state.pin
	case state.lock != nil:
		return state.lock
	case s.prepared.long != nil:
		return s.prepared.long
	case state.transaction != nil && (s.persistent() || st.kind.commit):
		return state.transaction
	case state.next != nil:
		return state.next
	case st.kind.needsInsert && st.kind.read && s.alive(state.insert):
		return state.insert
	case st.kind.needsLast && s.alive(state.last):
		return state.last
	case st.execute != nil && st.execute.cut && s.alive(st.execute.home):
		return st.execute.home // no other server can be told of it
	}
	return nil
}

// mayReach refuses a statement that another hostgroup than the locked one is the destination of, where the setting
// lock_on_hostgroup_error demands that, as ProxySQL does. What is not routed, or follows the statement before it, is no matter of
// hostgroups, nor is an open transaction.
func (s *session) mayReach(st *statement, b *backend) error {
	state := &s.state
	if !state.locked || state.pin != b || state.transaction != nil || !st.settings.LockOnHostgroupError || st.on != nil ||
		st.command == decisionv1.Command_COMMAND_UNSPECIFIED || st.kind.needsLast || st.kind.needsInsert || st.at.hostgroup == state.lockedTo {
		return nil
	}
	return mysql.NewError(codeLocked, "Y0000", "connection is locked to hostgroup %d but trying to reach hostgroup %d", state.lockedTo, st.at.hostgroup)
}

// alive tells whether there is a connection that can be used, and drops it if not.
func (s *session) alive(b *backend) bool {
	if b == nil || s.usable(b) {
		return b != nil
	}
	if !s.holds(b) {
		s.backends.drop(b)
		return false
	}
	return true // its loss will be told
}

// leads gives the statement whose answer says where a statement goes: itself, or the BEGIN of what it starts.
func (s *session) leads(ctx context.Context, st, begin *statement) *statement {
	if !s.startsUnit(st) {
		return st
	}
	*begin = statement{text: []byte("BEGIN"), digest: []byte("BEGIN"), settings: st.settings, generation: st.generation}
	s.decide(ctx, begin, decisionv1.Command_COMMAND_QUERY)
	if begin.answer.DestinationHostgroup == nil && begin.at.refusal == "" {
		return st
	}
	return begin
}

// destination is where a statement goes by the snapshot in force when nothing holds the session: it is chosen anew when that
// is not the one it was chosen by. The error is the routing guideline's refusal. One that the decision service gave stands: it
// was in force when the answer was obeyed.
func (s *session) destination(ctx context.Context, st *statement) (*place, error) {
	if snap := s.Snapshots.Current(); st.at.snap != snap {
		s.choose(ctx, st, snap)
	}
	if st.at.refusal != "" {
		return nil, mysql.NewError(codeRuleError, "42000", "%s", st.at.refusal)
	}
	return &st.at, nil
}

// startsUnit tells whether a read ties the session to its server, so that writes will follow it there: it goes where
// BEGIN would. That is so with autocommit off, where a read begins a transaction, and for SELECTs that take a lock or set
// a user variable. An annotation still wins, and so does a rule with multiplex for user variables.
func (s *session) startsUnit(st *statement) bool {
	if st.answer.GetReason() == decisionv1.Reason_REASON_ANNOTATION {
		return false
	}
	if st.kind.ties {
		return !st.kind.setsVariable || s.mayLock(st)
	}
	return st.kind.read && s.state.autocommitOff && s.persistent() && s.autocommitOffHolds()
}

// persistent tells whether transactions hold the session, by the user's transaction_persistent.
func (s *session) persistent() bool {
	u := s.Snapshots.Current().User(s.login.User)
	return u == nil || u.TransactionPersistent == nil || u.GetTransactionPersistent()
}

// settle learns the status flags of a connection after an error, which carries none.
func (s *session) settle(ctx context.Context, b *backend) error {
	if b == nil || !b.uncertain {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, ownTimeout)
	defer cancel()
	out, err := b.Ping(limited)
	if err == nil {
		b.uncertain = false
		s.observe(b, &out)
		return nil
	}
	if s.holds(b) {
		return s.lost(b, err)
	}
	_ = b.Conn.Close() // broken: no goodbye
	s.backends.drop(b)
	return nil
}

// endOthers runs COMMIT or ROLLBACK on all connections with an open transaction but the one that the client's own goes to:
// without transaction_persistent there may be several.
func (s *session) endOthers(ctx context.Context, st *statement) error {
	for _, b := range s.backends.open {
		if !b.open || b == s.state.transaction {
			continue
		}
		out, err := b.Exec(ctx, string(st.text))
		switch {
		case err == nil:
			s.observe(b, &out)
			s.setOpen(b, out.InTransaction())
		case isServerError(err):
			b.uncertain = true
			return err
		default:
			return s.lost(b, err)
		}
	}
	return nil
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
			if err := b.exec(ctx, set); err != nil {
				return fmt.Errorf("restore session variables (%s) on %s: %w", set, b.Addr, err)
			}
		}
		b.vars = s.state.version
	}
	if b.option == s.state.optionVersion {
		return nil
	}
	err := b.Conn.Within(ctx, func() error {
		_, err := b.Conn.Exec(mysql.ComSetOption, s.state.option)
		return err
	})
	if err == nil {
		b.option = s.state.optionVersion
	}
	return err
}
