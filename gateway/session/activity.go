package session

import (
	"errors"
	"strconv"
	"time"

	"github.com/pointsman/pointsman/gateway/mysql"
)

// stage is what a session is at.
type stage uint8

const (
	stageLogin      stage = iota
	stageIdle             // waits for a command
	stageDeciding         // has read a command, and has not sent it
	stageConnecting       // waits for a connection to a server
	stageRunning          // waits for a server
)

// activity is what others may see and aim at while the session works. session.mu guards it.
type activity struct {
	stage       stage
	since       time.Duration // the stage's begin, by the gateway's clock
	user        string
	schema      string
	held        string        // what ties the session to its server; empty: nothing
	transaction time.Duration // when the open one was begun; 0: there is none
	on          *backend      // of the last statement
	running     bool          // a statement on it: what KILL QUERY aims at
	command     byte
	digest      string // text of the last statement's, without literals
	sum         uint64 // and its hash
	statements  uint64
	sentBefore  uint64 // bytes that the client had been sent when the statement began

	draining    bool          // end at the next moment without a transaction
	free        bool          // no transaction is open
	expired     bool          // was idle for too long
	spare       bool          // idle, with connections that it may well do without
	called      bool          // woken to give them back, or to look at its socket again
	looked      bool          // its idle client's socket was looked at
	waitTimeout time.Duration // as the client has set it; 0: the setting counts
}

// await says that the session waits for a command; false: it shall end.
func (s *session) await() bool {
	state := &s.state
	s.mu.Lock()
	defer s.mu.Unlock()
	s.act.stage, s.act.since = stageIdle, s.doneAt
	s.act.schema, s.act.held = state.schema, s.heldBy()
	if s.act.free = state.transaction == nil; s.act.free {
		s.act.transaction = 0
	} else if s.act.transaction == 0 {
		s.act.transaction = s.beganAt
	}
	s.act.spare = s.act.free && s.mayYield()
	s.act.looked = false
	if s.waitVersion != state.version {
		s.waitVersion, s.act.waitTimeout = state.version, state.waitTimeout()
	}
	return !s.act.draining || !s.act.free
}

// waitTimeout is what the client has set as wait_timeout; 0: nothing. As in MySQL, interactive_timeout is of no account any
// more once a client is logged in.
func (st *state) waitTimeout() time.Duration {
	for _, v := range st.vars {
		if v.name == "wait_timeout" {
			seconds, _ := strconv.ParseUint(v.value, 10, 31) // what servers report is a number
			return time.Duration(seconds) * time.Second
		}
	}
	return 0
}

// heldBy names what holds the session, as metrics do.
func (s *session) heldBy() string {
	state := &s.state
	switch {
	case state.pin != nil:
		return state.pinCause
	case state.lock != nil:
		return LockTables.String()
	case s.prepared.long != nil:
		return "LONG_DATA"
	case state.next != nil:
		return "SET_TRANSACTION"
	}
	return ""
}

// wake says why a session that waited goes on without a command.
type wake uint8

const (
	wakeNot wake = iota
	wakeDrain
	wakeExpired
	wakeCalled // to give connections back
)

// busy ends the waiting. When the session was woken, that is taken back: a command may have come first.
func (s *session) busy(cmd *mysql.Command) (woken wake) {
	now := s.clock()
	s.beganAt, s.doneAt, s.decidingAt, s.spent = now, now, now, 0
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.act.expired:
		woken = wakeExpired
	case s.act.draining && s.act.free:
		woken = wakeDrain
	case s.act.called:
		woken = wakeCalled
	}
	if woken != wakeNot {
		_ = s.client.NetConn().SetReadDeadline(time.Time{}) // a closed connection shows at its next use
	}
	s.act.expired, s.act.called, s.act.spare = false, false, false
	s.act.stage, s.act.since = stageDeciding, now
	if cmd != nil {
		s.act.command, s.act.digest, s.act.sum = cmd.Code, "", 0
	}
	return woken
}

// connecting says that the session waits for a connection to a server.
func (s *session) connecting() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.act.stage != stageConnecting {
		s.act.stage, s.act.since = stageConnecting, s.clock()
	}
}

// setRunning says that a statement goes to a server now.
func (s *session) setRunning(b *backend, st *statement, now time.Duration) {
	sent := s.client.Sent()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.act.stage, s.act.since = stageRunning, now
	s.act.on, s.act.running = b, true
	s.act.digest, s.act.sum = st.kind.text, st.sum
	s.act.statements++
	s.act.sentBefore = sent
}

// setDone says that the response has ended.
func (s *session) setDone() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.act.stage, s.act.running = stageDeciding, false
}

// known says as whom the client has logged in.
func (s *session) known(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.act.user, s.remote = user, s.client.NetConn().RemoteAddr()
}

// observeTimes counts the gateway's part of the time that a command has taken.
func (s *session) observeTimes() {
	if s.spent > 0 {
		s.Metrics.added.Observe((s.doneAt - s.beganAt - s.spent).Seconds())
	}
}

// current gives the session's user and the connection that it waits for, if any.
func (s *session) current() (user string, running *backend) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.act.running {
		running = s.act.on
	}
	return s.act.user, running
}

// left forgets a connection that the session has no more.
func (s *session) left(b *backend) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.act.on == b {
		s.act.on, s.act.running = nil, false
	}
}

// drain asks the session to end as soon as it holds no transaction.
func (s *session) drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.act.draining = true
	if s.act.stage == stageIdle && s.act.free {
		s.wake()
	}
}

// wake lets the waiting read fail. mu is held.
func (s *session) wake() {
	_ = s.client.NetConn().SetReadDeadline(time.Unix(1, 0)) // a closed connection needs no waking
}

// expire ends the session of a client that was idle for too long.
func (s *session) expire() error {
	const idleTimeout = 4031
	err := s.client.WriteFarewell(mysql.NewError(idleTimeout, "HY000",
		"The client was disconnected by the server because of inactivity. See wait_timeout and interactive_timeout for configuring this behavior."))
	return errors.Join(err, errIdle)
}

// overdue tells whether the client's socket should be looked at: the session has waited for a server for a while, or has become
// idle. It wakes the session when that was idle for longer than its limit, else than the setting's; 0: none.
func (s *session) overdue(now, limit time.Duration) (look bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.act.stage {
	case stageConnecting, stageRunning:
		return now-s.act.since > watchInterval
	case stageIdle:
		look = !s.act.looked && now-s.act.since > watchInterval
		s.act.looked = s.act.looked || look
		if s.act.waitTimeout > 0 {
			limit = s.act.waitTimeout
		}
		if limit > 0 && now-s.act.since > limit && !s.act.expired {
			s.act.expired = true
			s.wake()
		}
	case stageLogin, stageDeciding:
	}
	return look
}

// seen draws the conclusion from a look at the client's socket. An idle session is told of what comes while it waits, but not
// of an end of the stream that came together with the command before: it has to read again.
func (s *session) seen(peer mysql.PeerState) {
	s.mu.Lock()
	idle := s.act.stage == stageIdle
	if idle && peer != mysql.PeerQuiet && !s.act.called {
		s.act.called = true
		s.wake()
	}
	s.mu.Unlock()
	if !idle && peer == mysql.PeerGone {
		s.log.Info("client gone: its statement is killed")
		s.cancel(errAbandoned)
	}
}
