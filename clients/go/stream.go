package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/status"

	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

var connectBackoff = backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second}

// queueLength is how many questions may wait for the sending goroutine. The server takes 1,000 in flight.
const queueLength = 1000

// router matches answers of the stream to questions.
type router struct {
	queue     chan *decisionv1.RouteStatementRequest
	lastID    atomic.Uint64
	connected atomic.Bool
	answers   atomic.Uint64 // of whatever kind
	firstOpen chan struct{} // closed once a stream was open
	opened    sync.Once

	mu      sync.Mutex
	pending map[uint64]chan result // nil while there is no stream
}

type result struct {
	resp *decisionv1.RouteStatementResponse
	err  error
}

func (r *router) init() {
	r.queue = make(chan *decisionv1.RouteStatementRequest, queueLength)
	r.firstOpen = make(chan struct{})
}

// Connected tells whether the decision stream is open.
func (c *Client) Connected() bool { return c.stream.connected.Load() }

// WaitConnected waits until the decision stream has been open once. ErrUnavailable: it is not within the timeout.
func (c *Client) WaitConnected(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	select {
	case <-c.stream.firstOpen:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: no stream within %s", ErrUnavailable, timeout)
	}
}

// Run keeps the decision stream open until ctx ends, and then returns nil. Route works only meanwhile.
func (c *Client) Run(ctx context.Context) error {
	for delay := time.Duration(0); sleep(ctx, delay); delay = nextDelay(delay) {
		if c.runStream(ctx) {
			delay = 0
		}
	}
	return nil
}

// runStream opens one stream, serves it until it breaks, and tells whether it was open.
func (c *Client) runStream(parent context.Context) bool {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	s, err := c.Decision().RouteStatements(ctx, grpc.WaitForReady(true))
	if err != nil {
		return false
	}
	// The server's header proves that it serves this stream. Before it, gRPC may move the stream silently
	// to another connection and wait there without end.
	late := time.AfterFunc(headerWait, cancel)
	_, err = s.Header()
	if !late.Stop() || err != nil {
		return false
	}
	r := &c.stream
	r.open()
	c.log.Info("decision stream open")
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		r.send(ctx, s)
		cancel() // a failed send ends the receiver too
	}()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if c.several {
			r.watch(ctx, cancel)
		}
	}()
	err = r.receive(s)
	if ctx.Err() != nil && parent.Err() == nil {
		err = fmt.Errorf("the server has stopped answering or taking questions: %w", err)
	}
	cancel()
	<-sent
	<-watched
	r.close(fmt.Errorf("%w: %w", ErrUnavailable, err))
	if parent.Err() == nil {
		c.log.Warn("decision stream lost", "error", err)
	}
	return true
}

func (r *router) open() {
	r.mu.Lock()
	r.pending = map[uint64]chan result{}
	r.mu.Unlock()
	r.connected.Store(true)
	r.opened.Do(func() { close(r.firstOpen) })
}

// close fails all questions in flight and drops those that wait to be sent.
func (r *router) close(err error) {
	r.connected.Store(false)
	r.mu.Lock()
	pending := r.pending
	r.pending = nil
	r.mu.Unlock()
	for _, ch := range pending {
		ch <- result{err: err}
	}
	for {
		select {
		case <-r.queue:
		default:
			return
		}
	}
}

func (r *router) send(ctx context.Context, s grpc.BidiStreamingClient[decisionv1.RouteStatementRequest, decisionv1.RouteStatementResponse]) {
	for {
		var req *decisionv1.RouteStatementRequest
		select {
		case req = <-r.queue: // as in Route, without looking at ctx
		default:
			select {
			case req = <-r.queue:
			case <-ctx.Done():
				return
			}
		}
		if r.waiting(req.GetRequestId()) && s.Send(req) != nil {
			return
		}
	}
}

// waiting tells whether somebody still waits for the answer.
func (r *router) waiting(id uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.pending[id]
	return ok
}

func (r *router) receive(s grpc.BidiStreamingClient[decisionv1.RouteStatementRequest, decisionv1.RouteStatementResponse]) error {
	for {
		resp, err := s.Recv()
		if err != nil {
			return err
		}
		r.answers.Add(1)
		if ch := r.take(resp.GetRequestId()); ch != nil {
			ch <- result{resp: resp}
		} // else nobody waits any more
	}
}

// take removes a question in flight; nil when there is no such one.
func (r *router) take(id uint64) chan result {
	r.mu.Lock()
	defer r.mu.Unlock()
	ch := r.pending[id]
	delete(r.pending, id)
	return ch
}

// add registers a question; false when there is no stream.
func (r *router) add(id uint64, ch chan result) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending == nil {
		return false
	}
	r.pending[id] = ch
	return true
}

// resultChannels are reused once their one result was taken.
var resultChannels = sync.Pool{New: func() any { return make(chan result, 1) }}

// Route asks one question over the stream and waits for its answer or the end of ctx. It sets the request's
// request_id, and the request must not be changed afterwards: it may still be on its way when ctx has ended.
// ErrUnavailable: there is no stream, or it broke. Errors of the request itself come as gRPC status errors.
func (c *Client) Route(ctx context.Context, req *decisionv1.RouteStatementRequest) (*decisionv1.RouteStatementResponse, error) {
	r := &c.stream
	ch := resultChannels.Get().(chan result)
	req.RequestId = r.lastID.Add(1)
	if !r.add(req.GetRequestId(), ch) {
		resultChannels.Put(ch)
		return nil, ErrUnavailable
	}
	select {
	case r.queue <- req: // without looking at ctx: two cases cost far more than one
	default:
		select {
		case r.queue <- req:
		case <-ctx.Done():
			return r.giveUp(req.GetRequestId(), ch, ctx.Err())
		}
	}
	select {
	case res := <-ch:
		resultChannels.Put(ch)
		return answer(res)
	case <-ctx.Done():
		return r.giveUp(req.GetRequestId(), ch, ctx.Err())
	}
}

// giveUp withdraws a question. If its answer is already on the way to the channel, the answer counts.
func (r *router) giveUp(id uint64, ch chan result, err error) (*decisionv1.RouteStatementResponse, error) {
	if r.take(id) != nil {
		resultChannels.Put(ch)
		return nil, err
	}
	res := <-ch
	resultChannels.Put(ch)
	return answer(res)
}

func answer(res result) (*decisionv1.RouteStatementResponse, error) {
	switch {
	case res.err != nil:
		return nil, res.err
	case res.resp.GetError() != nil:
		return nil, status.ErrorProto(res.resp.GetError())
	}
	return res.resp, nil
}

// IsUnavailable tells whether err means that the service can't be reached now, rather than that the question is bad.
func IsUnavailable(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}
