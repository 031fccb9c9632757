package api

import (
	"context"
	"errors"

	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// maxBatch is how many requests a batch may hold.
const maxBatch = 1000

// RouteStatement decides one statement.
func (s *Decision) RouteStatement(ctx context.Context, req *decisionv1.RouteStatementRequest) (*decisionv1.RouteStatementResponse, error) {
	w := s.gate.way(req, 0)
	if err := w.reserve(); err != nil {
		s.metrics.Refused()
		return nil, toStatus(err)
	}
	defer w.release()
	g, err := s.await(ctx, req.GetMinGeneration())
	if err != nil {
		s.metrics.Refused()
		return nil, toStatus(err)
	}
	resp := &decisionv1.RouteStatementResponse{}
	if err := s.decide(ctx, g, req, resp, w); err != nil {
		return nil, toStatus(err)
	}
	return resp, nil
}

// BatchRouteStatements decides many statements from one generation.
func (s *Decision) BatchRouteStatements(ctx context.Context, batch *decisionv1.BatchRouteStatementsRequest) (*decisionv1.BatchRouteStatementsResponse, error) {
	requests := batch.GetRequests()
	if len(requests) > maxBatch {
		return nil, toStatus(badField("requests", "%d are too many, the limit is %d", len(requests), maxBatch))
	}
	var highest uint64
	var bytes int
	for _, req := range requests {
		highest = max(highest, req.GetMinGeneration())
		bytes += textLength(req)
	}
	if bytes > hugeText { // the batch is held as a whole until its last statement is decided
		w := way{lane: s.gate.huge, bytes: int64(bytes), user: s.gate.slow.slot(requests[0].GetSession().GetUsername())}
		if err := w.reserve(); err != nil {
			s.metrics.Refused()
			return nil, toStatus(err)
		}
		defer w.release()
	}
	g, err := s.await(ctx, highest)
	if _, ok := errors.AsType[*notReachedError](err); ok { // others of the requests may be satisfied with less
		g, err = s.reached(0)
	}
	if err != nil {
		s.metrics.Refused()
		return nil, toStatus(err)
	}
	out := &decisionv1.BatchRouteStatementsResponse{Responses: make([]*decisionv1.RouteStatementResponse, len(requests))}
	for i, req := range requests {
		if err := ctx.Err(); err != nil { // nobody waits for the others
			return nil, toStatus(err)
		}
		resp := &decisionv1.RouteStatementResponse{}
		var err error
		if req.GetMinGeneration() <= g.Number {
			err = s.decide(ctx, g, req, resp, s.gate.way(req, 0))
		} else {
			s.metrics.Refused()
			err = &notReachedError{min: req.GetMinGeneration(), current: g.Number}
		}
		if err != nil {
			resp = refusal(req, err)
		}
		out.Responses[i] = resp
	}
	return out, nil
}

// refusal is the answer that carries an error.
func refusal(req *decisionv1.RouteStatementRequest, err error) *decisionv1.RouteStatementResponse {
	return &decisionv1.RouteStatementResponse{RequestId: req.GetRequestId(), Error: statusProto(err)}
}
