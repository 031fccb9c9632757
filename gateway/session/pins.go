package session

import (
	"github.com/pointsman/pointsman/gateway/mysql"
)

// heldFlags are the state that only its own connection has, so that a statement that sets it holds the session there.
const heldFlags = PreparedStatement | LockTables | TemporaryTable | GetLock | SQLLogBin0

// untrackedSet is the cause of holding a session whose SET could not be followed.
const untrackedSet = "UNTRACKED_SET"

// pins holds the session on b when the statement, with the flags that it set, left something there that can't be restored
// elsewhere.
func (s *session) pins(st *statement, b *backend, out *mysql.Outcome, set Flags) {
	state := &s.state
	if set&LockTables != 0 || st.kind.pin == LockTables.String() {
		s.Metrics.pins.WithLabelValues(LockTables.String()).Inc()
		state.lock = b
	}
	if f := set & heldFlags &^ LockTables; f != 0 {
		s.pinTo(b, f.String())
	} else if st.kind.pin != "" && st.kind.pin != LockTables.String() {
		s.pinTo(b, st.kind.pin)
	}
	if !s.mayLock(st) || st.kind.setStatement {
		return
	}
	switch t := out.Track; {
	case st.kind.setsVariable:
		s.pinTo(b, UserVariable.String())
	case t != nil && t.StateChanged && (len(t.Variables) == 0 && t.Schema == nil || st.kind.call):
		s.pinTo(b, "STATE_CHANGED")
	case !b.tracked && (st.kind.set || st.kind.call):
		s.pinTo(b, untrackedSet)
	default:
		return
	}
	if st.kind.set && !state.locked {
		state.locked, state.lockedTo = true, st.at.hostgroup
		if b.at.pool == "" {
			state.lockedTo = b.key.hostgroup
		}
	}
}

// mayLock tells whether a SET that can't be followed holds the session: the setting set_query_lock_on_hostgroup is on
// and no rule gave multiplex.
func (s *session) mayLock(st *statement) bool {
	return st.answer.Multiplex == nil && st.settings.LockOnHostgroup
}
