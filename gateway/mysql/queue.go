package mysql

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// errQueueFull says that a login did not get its turn.
var errQueueFull = errors.New("too many logins at once")

// lastWord is what is left of a login's time to tell a client that its turn did not come.
const lastWord = time.Second

// queue lets so many clients at once through the costly part of a login, which begins with their answer to the greeting:
// clients that stay silent hold up nobody. The zero value has no limit.
type queue struct {
	places  chan struct{}
	waiting atomic.Int64
	refused atomic.Uint64
}

// enter waits for a place, until just before ctx's deadline. leave gives it back.
func (q *queue) enter(ctx context.Context) (leave func(), err error) {
	if q.places == nil {
		return func() {}, nil
	}
	leave = func() { <-q.places }
	select {
	case q.places <- struct{}{}:
		return leave, nil
	default:
	}
	q.waiting.Add(1)
	defer q.waiting.Add(-1)
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-lastWord))
		defer cancel()
	}
	select {
	case q.places <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		q.refused.Add(1)
		return nil, errQueueFull
	}
}

// LimitHandshakes limits how many clients are verified at once; others wait for their turn within their handshake's context.
// To be called before the first Handshake.
func (a *Authenticator) LimitHandshakes(n int) { a.queue.places = make(chan struct{}, n) }

// Handshakes gives how many clients are being verified, how many wait for their turn, and how many were refused in all
// because it did not come.
func (a *Authenticator) Handshakes() (running, waiting int, refused uint64) {
	return len(a.queue.places), int(a.queue.waiting.Load()), a.queue.refused.Load()
}
