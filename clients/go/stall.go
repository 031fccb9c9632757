package client

import (
	"context"
	"time"

	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

const (
	// headerWait is how long a server that takes a connection may take to serve the stream. A frozen one takes connections.
	headerWait = time.Second

	// stallTick is how often a stream is looked at. After one tick without an answer to any question in flight the
	// server is asked for a sign of life, and after three it is left.
	stallTick = 500 * time.Millisecond
	maxQuiet  = 3
)

// watch calls leave when the server answers nothing any more, long before the keepalive of the connection would notice. A server whose
// questions are only slow answers the empty one at once, with an error.
func (r *router) watch(ctx context.Context, leave func()) {
	t := time.NewTicker(stallTick)
	defer t.Stop()
	seen, quiet := r.answers.Load(), 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		n := r.answers.Load()
		if n != seen || r.inFlight() == 0 {
			seen, quiet = n, 0
			continue
		}
		switch quiet++; quiet {
		case 1:
			r.ping()
		case maxQuiet:
			leave()
			return
		}
	}
}

// ping puts a question that any server refuses. Nobody waits for its answer.
func (r *router) ping() {
	req := &decisionv1.RouteStatementRequest{RequestId: r.lastID.Add(1)}
	if !r.add(req.GetRequestId(), make(chan result, 1)) {
		return
	}
	select {
	case r.queue <- req:
	default: // full: there are questions enough
		r.take(req.GetRequestId())
	}
}

func (r *router) inFlight() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.pending)
}
