package api

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"

	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// maxInFlight is how many requests of a stream may be unanswered before the server stops reading it.
const maxInFlight = 1000

// RouteStatements decides the statements of a stream.
func (s *Decision) RouteStatements(stream grpc.BidiStreamingServer[decisionv1.RouteStatementRequest, decisionv1.RouteStatementResponse]) error {
	r := &router{
		Decision: s,
		stream:   stream,
		waiting:  make(map[uint64]struct{}),
		room:     make(chan struct{}, maxInFlight-1), // and the one that was read last
		salt:     rand.Uint64(),                      //nolint:gosec // it spreads turns: nothing is guarded by it
	}
	// The header tells the caller that the stream has arrived here: from then on it is not moved to another server.
	if err := stream.SendHeader(nil); err != nil {
		return err
	}
	// The return of this call ends the stream, and with it the goroutine.
	end := make(chan error, 1)
	go func() { end <- r.run() }()
	select {
	case err := <-end:
		return err
	case <-s.stop:
		r.close()
		return toStatus(errStopping)
	}
}

// router answers one stream. A decision takes microseconds, so one goroutine reads, decides and answers in the order of
// arrival; handing requests over to others would cost more than that. Only requests that wait for a generation and those
// that may take long are overtaken: each has a goroutine.
type router struct {
	*Decision
	stream grpc.BidiStreamingServer[decisionv1.RouteStatementRequest, decisionv1.RouteStatementResponse]

	room    chan struct{} // has an element for each request that waits
	salt    uint64        // has the user's statements on this stream take turns with those on others
	waiters sync.WaitGroup
	mu      sync.Mutex
	waiting map[uint64]struct{} // the ids of the requests that wait

	sending sync.Mutex
	closed  atomic.Bool // nothing may be sent any more
}

// run answers until the caller has closed its side and all is answered (nil), or the stream breaks.
func (r *router) run() (err error) {
	defer r.waiters.Wait() // 5 ms, but for large requests
	defer func() {
		if p := recover(); p != nil {
			logPanic(r.stream.Context(), r.log, p)
			err = toStatus(panicError{})
		}
	}()
	for {
		req, err := r.stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := r.take(req); err != nil {
			return err
		}
	}
}

// take answers a request, or has it wait for its generation.
func (r *router) take(req *decisionv1.RouteStatementRequest) error {
	id := req.GetRequestId()
	switch {
	case id == 0:
		return r.refuse(req, badField("request_id", "it must not be 0"))
	case r.waits(id):
		return r.refuse(req, badField("request_id", "%d is in flight already", id))
	}
	ctx := r.stream.Context()
	w := r.gate.way(req, r.salt)
	_, err := r.reached(req.GetMinGeneration())
	if (err == nil || req.GetMinGeneration() == 0) && w.lane == nil {
		return r.send(r.response(ctx, req, w))
	}
	if err := w.reserve(); err != nil {
		return r.refuse(req, err)
	}
	select {
	case r.room <- struct{}{}:
	case <-ctx.Done():
		w.release()
		return ctx.Err()
	}
	r.mu.Lock()
	r.waiting[id] = struct{}{}
	r.mu.Unlock()
	r.waiters.Go(func() {
		r.answerLater(ctx, req, w)
		w.release()
		<-r.room
	})
	return nil
}

// waits tells whether a request with this id waits.
func (r *router) waits(id uint64) bool {
	if len(r.room) == 0 { // nearly always
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.waiting[id]
	return ok
}

// answerLater answers once the generation is there, or it has taken long enough, and in its turn.
func (r *router) answerLater(ctx context.Context, req *decisionv1.RouteStatementRequest, w way) {
	if _, err := r.reached(req.GetMinGeneration()); err != nil && req.GetMinGeneration() > 0 {
		r.wait(ctx, req.GetMinGeneration())
	}
	resp := r.response(ctx, req, w)
	r.mu.Lock()
	delete(r.waiting, req.GetRequestId())
	r.mu.Unlock()
	_ = r.send(resp) // an error means that the stream is broken, and the next Recv tells that too
}

// response decides with what is in force now.
func (r *router) response(ctx context.Context, req *decisionv1.RouteStatementRequest, w way) *decisionv1.RouteStatementResponse {
	g, err := r.reached(req.GetMinGeneration())
	if err != nil {
		r.metrics.Refused()
		return refusal(req, err)
	}
	resp := &decisionv1.RouteStatementResponse{}
	if err := r.decide(ctx, g, req, resp, w); err != nil {
		return refusal(req, err)
	}
	return resp
}

func (r *router) refuse(req *decisionv1.RouteStatementRequest, err error) error {
	r.metrics.Refused()
	return r.send(refusal(req, err))
}

func (r *router) send(resp *decisionv1.RouteStatementResponse) error {
	r.sending.Lock()
	defer r.sending.Unlock()
	if r.closed.Load() {
		return toStatus(errStopping)
	}
	return r.stream.Send(resp)
}

// close sees to it that no answer is begun any more. It does not wait for one that a caller does not read: the end of
// the stream breaks that off.
func (r *router) close() { r.closed.Store(true) }
