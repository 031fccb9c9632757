package session

import (
	"context"
	"sync"
	"time"

	"github.com/pointsman/pointsman/gateway/mysql"
)

// timeLimit kills a session's statements that run too long. One timer serves all of them: it is not stopped when a
// statement ends in time, but finds out when it goes off what is left to the statement that runs then.
type timeLimit struct {
	mu    sync.Mutex
	timer *time.Timer
	armed time.Duration // when the timer goes off, by clock; 0: it does not
	on    *backend      // where the statement runs; nil: none with a limit does
	until time.Duration // its limit, by clock
	fired bool          // it was exceeded
	done  chan struct{} // closed when the KILL was sent; nil: there is none
	kill  func(*backend)
	clock func() time.Duration
}

// timeLimitOf gives the statement's time limit; 0: none.
func timeLimitOf(st *statement) time.Duration {
	if st.answer.GetTimeoutMs() > 0 {
		return time.Duration(st.answer.GetTimeoutMs()) * time.Millisecond
	}
	return st.settings.DefaultQueryTimeout
}

// watchTime starts the time limit, if it has one, of a statement that begins now.
func (s *session) watchTime(ctx context.Context, st *statement, b *backend, now time.Duration) {
	d := timeLimitOf(st)
	if d <= 0 {
		return
	}
	if s.limit.kill == nil {
		s.limit.clock = s.clock
		s.limit.kill = func(b *backend) {
			b.aimed.Store(true)
			if err := b.kill(ctx); err != nil {
				s.log.Warn("statement over its time limit not killed", "server", b.Addr, "error", err)
				_ = b.Conn.Close() // the client must not wait any longer
			}
		}
	}
	s.limit.start(b, now, now+d)
}

func (l *timeLimit) start(b *backend, now, until time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.on, l.until = b, until
	if l.armed == 0 || until < l.armed {
		l.arm(now)
	}
}

// arm lets the timer go off at the limit. The lock is held.
func (l *timeLimit) arm(now time.Duration) {
	l.armed = l.until
	if l.timer == nil {
		l.timer = time.AfterFunc(l.until-now, l.goOff)
	} else {
		l.timer.Reset(l.until - now)
	}
}

// goOff runs when the timer goes off.
func (l *timeLimit) goOff() {
	l.mu.Lock()
	l.armed = 0
	b, now := l.on, l.clock()
	switch {
	case b == nil || l.fired:
		l.mu.Unlock()
		return
	case now < l.until: // it was for an earlier statement
		l.arm(now)
		l.mu.Unlock()
		return
	}
	done := make(chan struct{})
	l.fired, l.done = true, done
	l.mu.Unlock()
	defer close(done)
	l.kill(b)
}

// stop ends the limit and tells whether it was exceeded. A KILL on its way is waited for, so that it can't hit the next
// statement.
func (l *timeLimit) stop() (exceeded bool) {
	l.mu.Lock()
	exceeded, done := l.fired, l.done
	l.on, l.fired, l.done = nil, false, nil
	l.mu.Unlock()
	if done != nil {
		<-done
	}
	return exceeded
}

// end ends the timer with the session.
func (l *timeLimit) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
}

// rename turns the server's "interrupted" into the error that says why.
func (l *timeLimit) rename(e *mysql.Error) *mysql.Error {
	const interrupted = 1317
	if e.Code != interrupted {
		return e
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fired {
		return queryTimeout()
	}
	return e
}

func queryTimeout() *mysql.Error {
	return mysql.NewError(codeQueryTimeout, "70100", "Query execution was interrupted, query_timeout exceeded")
}
