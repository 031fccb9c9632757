package route

import (
	"sync/atomic"
	"time"
)

// pause is how often a service that is down is asked whether it is there again.
const pause = 50 * time.Millisecond

// breaker remembers whether the service answers. While it does not, no statement waits for it.
type breaker struct {
	down    atomic.Bool
	answers atomic.Uint64 // how often the service has answered anything
}

// fail takes the service for down, and has it probed until it answers.
func (r *Router) fail(user string, err error) {
	if r.breaker.down.Swap(true) {
		return
	}
	r.log.Error("decision service down: going on without it", "fallback", string(r.fallback), "error", err)
	r.spawn(func() { r.awaitReturn(user) })
}

// awaitReturn probes the service until it answers.
func (r *Router) awaitReturn(user string) {
	t := time.NewTicker(pause)
	defer t.Stop()
	for r.breaker.down.Load() {
		select {
		case <-t.C:
			r.probe(user)
		case <-r.ctx.Done():
			return
		}
	}
}

func (r *Router) succeed() {
	r.breaker.answers.Add(1)
	if r.breaker.down.Load() && r.breaker.down.Swap(false) {
		r.log.Info("decision service up again")
	}
}
