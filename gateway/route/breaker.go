package route

import (
	"log/slog"
	"sync/atomic"
	"time"
)

// pause is how long nobody asks after a question went unanswered, so that a service that hangs costs
// its time budget once in a while and not with every statement.
const pause = 50 * time.Millisecond

// breaker remembers whether the service answers.
type breaker struct {
	down  atomic.Bool
	until atomic.Int64 // ns since start; before it, while down, nobody asks
}

var start = time.Now()

func now() int64 { return int64(time.Since(start)) }

// allows tells whether to ask now. While the service is down one question in each pause is let through.
func (b *breaker) allows() bool {
	if !b.down.Load() {
		return true
	}
	until := b.until.Load()
	return now() >= until && b.until.CompareAndSwap(until, now()+int64(pause))
}

func (b *breaker) fail(log *slog.Logger, err error) {
	b.until.Store(now() + int64(pause))
	if !b.down.Swap(true) {
		log.Error("decision service down: going on with cached answers and default hostgroups", "error", err)
	}
}

func (b *breaker) succeed(log *slog.Logger) {
	if b.down.Swap(false) {
		log.Info("decision service up again")
	}
}
