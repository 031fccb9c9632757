package session

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/pointsman/pointsman/gateway/mysql"
)

// timeLimit kills a statement that runs too long.
type timeLimit struct {
	timer *time.Timer
	done  chan struct{} // closed when the KILL was sent
	fired atomic.Bool
}

// timeLimitOf gives the statement's time limit; 0: none.
func timeLimitOf(st *statement) time.Duration {
	if st.answer.GetTimeoutMs() > 0 {
		return time.Duration(st.answer.GetTimeoutMs()) * time.Millisecond
	}
	return st.settings.DefaultQueryTimeout
}

// watchTime starts the statement's time limit; nil when there is none.
func (s *session) watchTime(ctx context.Context, st *statement, b *backend) *timeLimit {
	d := timeLimitOf(st)
	if d <= 0 {
		return nil
	}
	l := &timeLimit{done: make(chan struct{})}
	l.timer = time.AfterFunc(d, func() {
		defer close(l.done)
		l.fired.Store(true)
		b.aimed.Store(true)
		if err := b.kill(ctx); err != nil {
			s.log.Warn("statement over its time limit not killed", "server", b.Addr, "error", err)
			_ = b.Conn.Close() // the client must not wait any longer
		}
	})
	return l
}

// stop ends the limit and tells whether it was exceeded. A KILL on its way is waited for, so that it can't hit the next
// statement.
func (l *timeLimit) stop() (exceeded bool) {
	if l == nil || l.timer.Stop() {
		return false
	}
	<-l.done
	return true
}

// rename turns the server's "interrupted" into the error that says why.
func (l *timeLimit) rename(e *mysql.Error) *mysql.Error {
	const interrupted = 1317
	if l != nil && e.Code == interrupted && l.fired.Load() {
		return queryTimeout()
	}
	return e
}

func queryTimeout() *mysql.Error {
	return mysql.NewError(codeQueryTimeout, "70100", "Query execution was interrupted, query_timeout exceeded")
}
