package route

import (
	"log/slog"
	"sync/atomic"
	"time"
)

// pause is how long nobody asks after the service was found down, so that a service that hangs costs
// its time budget once in a while and not with every statement.
const pause = 50 * time.Millisecond

// breaker remembers whether the service answers.
type breaker struct {
	start   time.Time
	down    atomic.Bool
	until   atomic.Int64  // ns since start; before it, while down, nobody asks
	answers atomic.Uint64 // how often the service has answered anything
}

func (b *breaker) now() int64 { return int64(time.Since(b.start)) }

// allows tells whether to ask now. While the service is down one question in each pause is let through.
func (b *breaker) allows() bool {
	if !b.down.Load() {
		return true
	}
	until, now := b.until.Load(), b.now()
	return now >= until && b.until.CompareAndSwap(until, now+int64(pause))
}

func (b *breaker) fail(log *slog.Logger, err error) {
	b.until.Store(b.now() + int64(pause))
	if !b.down.Swap(true) {
		log.Error("decision service down: going on with cached answers and default hostgroups", "error", err)
	}
}

func (b *breaker) succeed(log *slog.Logger) {
	b.answers.Add(1)
	if b.down.Load() && b.down.Swap(false) {
		log.Info("decision service up again")
	}
}
