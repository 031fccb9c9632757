package route

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	client "github.com/pointsman/pointsman/clients/go"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// ask asks the decider and keeps the answer. It fails when there is none in time, or when the question is
// refused (a user that the new generation lacks, say): the caller then goes on with what it has.
func (r *Router) ask(ctx context.Context, s *Session, st *Statement, k *keys) (*decisionv1.RouteStatementResponse, bool) {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	defer r.watch(ctx, giveUp, s.Username, len(st.Text))()
	a, err := r.put(ctx, s, st)
	if err != nil {
		r.unanswered(ctx, s, st, err)
		return nil, false
	}
	r.Observe(a.GetGeneration())
	c := r.classes.learn(a.GetGeneration(), a.GetCookie(), a.GetSessionAttributes(), s)
	s.enter(c)
	s.lastClass = c
	switch a.GetCacheScope() {
	case decisionv1.CacheScope_CACHE_SCOPE_DIGEST:
		if k.byDigest && st.Generation == a.GetGeneration() {
			r.cache.put(k.ofDigest(c.id), a)
			break
		}
		fallthrough // keep it for this text alone
	case decisionv1.CacheScope_CACHE_SCOPE_TEXT:
		r.cache.put(k.ofText(c.id, st), a)
		c.hasText.Store(true)
	case decisionv1.CacheScope_CACHE_SCOPE_NONE, decisionv1.CacheScope_CACHE_SCOPE_UNSPECIFIED:
	}
	return a, true
}

// put puts the question, again if the service asks for that.
func (r *Router) put(ctx context.Context, s *Session, st *Statement) (*decisionv1.RouteStatementResponse, error) {
	least := r.newest.Load()
	for {
		a, err := r.decider.Route(ctx, question(s, st, least))
		if !answered(err) {
			return nil, err
		}
		r.breaker.succeed(r.log)
		switch code := status.Code(err); {
		case code == codes.FailedPrecondition && least > 0:
			// This server has not got the newest generation yet; its older one is better than none.
			least = 0
		case code == codes.ResourceExhausted:
			// It has too much of the kind to do. Who made it so must not get past the rules by that.
			select {
			case <-time.After(r.budget):
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
func (r *Router) unanswered(ctx context.Context, s *Session, st *Statement, err error) {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errSilent):
		r.breaker.fail(r.log, cause)
	case errors.Is(cause, errTooSlow):
		r.tooSlow.Add(1)
		r.log.Warn("question given up", "user", s.Username, "bytes", len(st.Text), "error", cause)
	case cause != nil: // The session ends; that says nothing about the service.
	case answered(err):
		r.log.Warn("question refused", "user", s.Username, "bytes", len(st.Text), "error", status.Convert(err).Message())
	default:
		r.breaker.fail(r.log, err)
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
			Body:    &decisionv1.Statement_RawText{RawText: bytes.Clone(st.Text)}, // the request may outlive this call
			Command: st.Command,
		},
	}
	if s.class != nil {
		req.Cookie = s.class.cookie
	}
	return req
}
