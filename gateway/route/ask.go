package route

import (
	"context"
	"errors"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	client "github.com/pointsman/pointsman/clients/go"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// busyPause is how long a service that is too busy is left alone with a question.
const busyPause = 50 * time.Millisecond

// put puts the question, again if the service asks for that.
func (r *Router) put(ctx context.Context, s *Session, st *Statement) (*decisionv1.RouteStatementResponse, error) {
	least := r.newest.Load()
	for {
		a, err := r.decider.Route(ctx, question(s, st, least))
		if !answered(err) {
			return nil, err
		}
		r.succeed()
		switch code := status.Code(err); {
		case code == codes.FailedPrecondition && least > 0:
			// This server has not got the newest generation yet; its older one is better than none.
			least = 0
		case code == codes.ResourceExhausted:
			// It has too much of the kind to do. Later it may have not.
			select {
			case <-time.After(busyPause):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		default:
			return a, err
		}
	}
}

// answered tells whether what came is an answer, be it a refusal, of a service that can decide.
func answered(err error) bool {
	if err == nil {
		return true
	}
	st, ok := status.FromError(err)
	if !ok || errors.Is(err, client.ErrUnavailable) { // which may wrap the status that ended the stream
		return false
	}
	switch st.Code() {
	case codes.Unavailable, codes.Canceled, codes.DeadlineExceeded:
		return false
	default:
		return true
	}
}

// unanswered draws the conclusions from a question that brought no answer to use.
func (r *Router) unanswered(ctx context.Context, s *Session, length int, err error) Cause {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errSilent):
		r.fail(s.Username, cause) //nolint:contextcheck // it outlives the statement, under the router's own
		return Down
	case errors.Is(cause, errTooSlow):
		r.tooSlow.Add(1)
		r.log.Warn("question given up", "user", s.Username, "bytes", length, "error", cause)
		return Overrun
	case cause != nil: // The router ends.
		return Ended
	case answered(err):
		r.log.Warn("question refused", "user", s.Username, "bytes", length, "error", status.Convert(err).Message())
		return Rejected
	default:
		r.fail(s.Username, err) //nolint:contextcheck // it outlives the statement, under the router's own
		return Down
	}
}

func question(s *Session, st *Statement, minGeneration uint64) *decisionv1.RouteStatementRequest {
	req := &decisionv1.RouteStatementRequest{
		MinGeneration: minGeneration,
		Session: &decisionv1.Session{
			Username: s.Username, Schemaname: strings.ToValidUTF8(s.Schemaname, "\uFFFD"), ClientAddr: s.ClientAddr, ClientPort: s.ClientPort,
			ProxyAddr: s.ProxyAddr, ProxyPort: s.ProxyPort, ConnectAttrs: s.ConnectAttrs, NextQueryFlagIn: s.NextQueryFlagIn,
			RandomValue: new(s.RandomValue), Router: s.Router,
		},
		Statement: &decisionv1.Statement{
			Body:    &decisionv1.Statement_RawText{RawText: st.Text},
			Command: st.Command,
		},
	}
	if s.class != nil {
		req.Cookie = s.class.cookie
	}
	return req
}
