package mirror

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/pool"
)

const (
	// maxQueueBytes bounds the texts that wait.
	maxQueueBytes = 64 << 20

	// idleTime is how long a worker keeps its connections while there is nothing to do.
	idleTime = 5 * time.Second

	// logInterval is how often failures are logged.
	logInterval = 10 * time.Second
)

// Copy is one statement to run.
type Copy struct {
	// Text is the statement. The mirror owns it.
	Text []byte
	// Target says where and as whom. Its DB is the schema in which the copy runs.
	Target pool.Target
	// Timeout limits the copy with its login; it is above 0.
	Timeout time.Duration
}

// Limits bound what Send takes.
type Limits struct {
	Running int // copies at once
	Waiting int // copies that wait; further ones are dropped
}

// Mirror runs copies. Their order is not kept.
type Mirror struct {
	log    *slog.Logger
	ctx    context.Context
	end    context.CancelFunc
	logged atomic.Int64 // when, in ns since 1970

	mu      sync.Mutex
	queue   []Copy // the first is next
	bytes   int    // of the queue's texts
	workers int
	busy    int           // of the workers
	wake    chan struct{} // a word for one of the others
	closed  bool
	all     sync.WaitGroup

	sent, dropped, failed atomic.Uint64
}

// New makes a mirror. Close ends it.
func New(log *slog.Logger) *Mirror {
	ctx, end := context.WithCancel(context.Background())
	return &Mirror{log: log, ctx: ctx, end: end, wake: make(chan struct{}, 1)}
}

// Send takes a copy, or drops it when the limits say so. It does not wait.
func (m *Mirror) Send(c Copy, l Limits) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || m.bytes+len(c.Text) > maxQueueBytes || len(m.queue) >= l.Waiting+max(0, l.Running-m.busy) {
		m.dropped.Add(1)
		return
	}
	m.queue = append(m.queue, c)
	m.bytes += len(c.Text)
	if len(m.queue) > m.workers-m.busy && m.workers < l.Running {
		m.workers++
		m.all.Go(m.work)
		return
	}
	m.rouse()
}

// rouse wakes a worker. Whoever is woken takes a copy, and wakes the next if there is another.
func (m *Mirror) rouse() {
	select {
	case m.wake <- struct{}{}:
	default: // somebody is about to wake
	}
}

// Close gives up what waits and what runs, and waits for the end.
func (m *Mirror) Close() {
	m.mu.Lock()
	m.closed = true
	m.dropped.Add(uint64(len(m.queue)))
	m.queue, m.bytes = nil, 0
	m.mu.Unlock()
	m.end()
	m.all.Wait()
}

// Sent counts the copies that a server has answered without an error.
func (m *Mirror) Sent() uint64 { return m.sent.Load() }

// Dropped counts the copies that there was no room for.
func (m *Mirror) Dropped() uint64 { return m.dropped.Load() }

// Failed counts the copies that no server could take, or that one has answered with an error.
func (m *Mirror) Failed() uint64 { return m.failed.Load() }

// Fail counts a copy that could not even be sent on its way.
func (m *Mirror) Fail(err error) {
	m.failed.Add(1)
	now := time.Now().UnixNano()
	last := m.logged.Load()
	if now-last >= int64(logInterval) && m.logged.CompareAndSwap(last, now) {
		m.log.Warn("mirrored statement failed", "error", err, "failed", m.failed.Load())
	}
}

// Waiting is the number of copies that wait.
func (m *Mirror) Waiting() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.queue)
}

// work runs copies over connections of its own, and ends when there was nothing to do for a while.
func (m *Mirror) work() {
	var conns connections
	defer conns.close()
	t := time.NewTimer(idleTime)
	defer t.Stop()
	for {
		for c, ok := m.next(); ok; c, ok = m.next() {
			m.run(&conns, &c)
			m.done()
		}
		t.Reset(idleTime)
		select {
		case <-m.wake:
		case <-t.C:
			if m.leave() {
				return
			}
		case <-m.ctx.Done(): // and nothing waits any more
			return
		}
	}
}

// next takes a copy if one waits: the worker is busy until done.
func (m *Mirror) next() (c Copy, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) == 0 {
		m.queue = nil
		return Copy{}, false
	}
	m.busy++
	c = m.queue[0]
	m.queue[0] = Copy{}
	m.queue = m.queue[1:]
	m.bytes -= len(c.Text)
	if len(m.queue) > 0 {
		m.rouse()
	}
	return c, true
}

func (m *Mirror) done() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy--
}

// leave ends a worker unless something waits.
func (m *Mirror) leave() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) > 0 {
		return false
	}
	m.workers--
	return true
}

// run runs one copy.
func (m *Mirror) run(conns *connections, c *Copy) {
	ctx, cancel := context.WithTimeout(m.ctx, c.Timeout)
	defer cancel()
	err := conns.exec(ctx, c)
	if err == nil {
		m.sent.Add(1)
		return
	}
	if told, ok := errors.AsType[*mysql.Error](err); ok {
		err = &mysql.Error{Code: told.Code, State: told.State, Message: "answered by the server"} // its text may hold literals
	}
	m.Fail(err)
}
