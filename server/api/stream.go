package api

import (
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc"

	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

const (
	// maxInFlight is how many requests of a stream may be unanswered before the server stops reading it.
	maxInFlight = 1000
	// readAhead is how many of them may be read but not yet looked at.
	readAhead = 16
)

// RouteStatements decides the statements of a stream.
func (s *Decision) RouteStatements(stream grpc.BidiStreamingServer[decisionv1.RouteStatementRequest, decisionv1.RouteStatementResponse]) error {
	r := &router{
		Decision: s,
		stream:   stream,
		waiting:  make(map[uint64]struct{}),
		ready:    make(chan *decisionv1.RouteStatementRequest, maxInFlight),
	}
	// The header tells the caller that the stream has arrived here: from then on it is not moved to another server.
	if err := stream.SendHeader(nil); err != nil {
		return err
	}
	defer r.waiters.Wait() // they take 5 ms at most
	return toStreamStatus(r.run())
}

// toStreamStatus leaves errors alone that the stream itself made.
func toStreamStatus(err error) error {
	if errors.Is(err, errStopping) {
		return toStatus(err)
	}
	return err
}

// router answers one stream. A decision takes microseconds, so one goroutine makes them all, in the order of arrival;
// only requests that wait for a generation are overtaken.
type router struct {
	*Decision
	stream grpc.BidiStreamingServer[decisionv1.RouteStatementRequest, decisionv1.RouteStatementResponse]
	// waiting holds the ids of the requests that wait for their generation.
	waiting map[uint64]struct{}
	// ready takes them when they need not wait any longer. It has room for all.
	ready   chan *decisionv1.RouteStatementRequest
	waiters sync.WaitGroup
}

func (r *router) run() error {
	received, end := receive(r.stream)
	for {
		in := received
		if len(r.waiting)+readAhead >= maxInFlight {
			in = nil
		}
		var err error
		select {
		case req, open := <-in:
			switch {
			case open:
				err = r.take(req)
			case len(r.waiting) == 0:
				return <-end
			default:
				received = nil // the caller has no more questions and waits for answers
			}
		case req := <-r.ready:
			delete(r.waiting, req.GetRequestId())
			err = r.answer(req)
		case <-r.stop:
			return errStopping
		}
		if err != nil {
			return err
		}
		if received == nil && len(r.waiting) == 0 {
			return <-end
		}
	}
}

// receive reads the stream in a goroutine that ends with the stream. The channel end gets the reason before the
// channel of requests is closed: nil when the caller closed its side.
func receive(stream grpc.BidiStreamingServer[decisionv1.RouteStatementRequest, decisionv1.RouteStatementResponse]) (<-chan *decisionv1.RouteStatementRequest, <-chan error) {
	received := make(chan *decisionv1.RouteStatementRequest, readAhead)
	end := make(chan error, 1)
	go func() {
		defer close(received)
		for {
			req, err := stream.Recv()
			if err != nil {
				if errors.Is(err, io.EOF) {
					err = nil
				}
				end <- err
				return
			}
			select {
			case received <- req:
			case <-stream.Context().Done():
				end <- stream.Context().Err()
				return
			}
		}
	}()
	return received, end
}

// take answers a request, or has it wait for its generation.
func (r *router) take(req *decisionv1.RouteStatementRequest) error {
	id := req.GetRequestId()
	_, inFlight := r.waiting[id]
	switch {
	case id == 0:
		return r.refuse(req, badField("request_id", "it must not be 0"))
	case inFlight:
		return r.refuse(req, badField("request_id", "%d is in flight already", id))
	}
	if _, err := r.reached(req.GetMinGeneration()); err == nil || req.GetMinGeneration() == 0 {
		return r.answer(req)
	}
	r.waiting[id] = struct{}{}
	r.waiters.Go(func() {
		r.wait(r.stream.Context(), req.GetMinGeneration())
		r.ready <- req
	})
	return nil
}

// answer decides with what is in force now.
func (r *router) answer(req *decisionv1.RouteStatementRequest) error {
	g, err := r.reached(req.GetMinGeneration())
	if err != nil {
		return r.refuse(req, err)
	}
	resp := &decisionv1.RouteStatementResponse{}
	if err := r.decide(r.stream.Context(), g, req, resp); err != nil {
		return r.stream.Send(refusal(req, err))
	}
	return r.stream.Send(resp)
}

func (r *router) refuse(req *decisionv1.RouteStatementRequest, err error) error {
	r.metrics.Refused()
	return r.stream.Send(refusal(req, err))
}
