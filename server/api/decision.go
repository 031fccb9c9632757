package api

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/live"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/metrics"
	"github.com/pointsman/pointsman/server/observed"
	"github.com/pointsman/pointsman/server/state"
	"github.com/pointsman/pointsman/server/translate"
)

const (
	// minGenerationWait bounds how long a request waits for its min_generation.
	minGenerationWait = 5 * time.Millisecond

	// keepBuffer is the largest statement buffer that is kept for the next request.
	keepBuffer = 1 << 20
)

// Decision answers the DecisionService.
type Decision struct {
	decisionv1.UnimplementedDecisionServiceServer

	live     *live.Holder[loaded.Generation]
	observed *observed.Holder
	state    *state.Holder
	metrics  *metrics.Metrics
	log      *slog.Logger
	stop     <-chan struct{}
	rooms    sync.Pool
	pools    pools

	explaining chan struct{} // full while a statement is explained
	gate       *gate
}

// NewDecision makes the service. Its streams end when stop is closed.
func NewDecision(holder *live.Holder[loaded.Generation], seen *observed.Holder, states *state.Holder, m *metrics.Metrics, log *slog.Logger, stop <-chan struct{}) *Decision {
	return &Decision{
		live: holder, observed: seen, state: states, metrics: m, log: log, stop: stop,
		rooms:      sync.Pool{New: func() any { return new(room) }},
		explaining: make(chan struct{}, 1),
		gate:       newGate(),
	}
}

// room is what one decision needs; it is used again and again.
type room struct {
	question decision.Question
	answer   decision.Answer
}

// reached gives the generation in force if it is at least that number.
func (s *Decision) reached(least uint64) (*loaded.Generation, error) {
	g := s.live.Current()
	switch {
	case g == nil:
		return nil, s.noGeneration()
	case g.Number < least:
		return nil, &notReachedError{min: least, current: g.Number}
	default:
		return g, nil
	}
}

// await is reached after waiting for a short while if need be.
func (s *Decision) await(ctx context.Context, least uint64) (*loaded.Generation, error) {
	if g, err := s.reached(least); err == nil || least == 0 {
		return g, err
	}
	s.wait(ctx, least)
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, ctx.Err()
	}
	return s.reached(least)
}

// wait returns when the generation is reached, or it has taken long enough.
func (s *Decision) wait(ctx context.Context, least uint64) {
	ctx, cancel := context.WithTimeout(ctx, minGenerationWait)
	defer cancel()
	_, _ = s.live.AtLeast(ctx, least) // the caller looks again
}

// decide answers one request from g, when its way allows it and as long as ctx does.
func (s *Decision) decide(ctx context.Context, g *loaded.Generation, req *decisionv1.RouteStatementRequest, resp *decisionv1.RouteStatementResponse, w way) (err error) {
	defer func() {
		// One statement that hits a bug must not end a stream that many sessions share.
		if p := recover(); p != nil {
			logPanic(ctx, s.log, p)
			err = panicError{}
		}
		if err != nil {
			s.metrics.Refused()
		}
	}()
	if err := w.enter(ctx); err != nil {
		return err
	}
	defer w.leave()
	r := s.rooms.Get().(*room)
	if err := translate.QuestionFromProto(req, &r.question); err != nil {
		s.rooms.Put(r)
		return err
	}
	start := time.Now()
	s.complete(g, req, &r.question, start)
	if err := g.Core.Route(&r.question, &r.answer); err != nil {
		s.rooms.Put(r)
		return err
	}
	took := time.Since(start)
	s.metrics.Decision(r.answer.Reason, took)
	if r.answer.TooComplex {
		s.metrics.TooComplex()
	}
	if took >= slowTime {
		s.gate.slow.saw(s.gate.slow.slot(r.question.Session.Username), textLength(req), took)
	}
	translate.AnswerToProto(&r.answer, resp)
	resp.RequestId = req.GetRequestId()
	resp.SessionAttributes = g.Core.SessionAttributes()
	if cap(r.question.Statement.Text) <= keepBuffer {
		s.rooms.Put(r)
	}
	return nil
}

// complete fills in what a caller leaves to the service: the draws, the time, the names that a guideline resolves, and for
// a session without a random number either the route that it has by its cookie or a new number.
func (s *Decision) complete(g *loaded.Generation, req *decisionv1.RouteStatementRequest, q *decision.Question, now time.Time) {
	if req.Seed == nil {
		q.Seed = rand.Uint64() //nolint:gosec // a draw between flags, no secret
	}
	if req.NowMs == nil {
		q.NowMS = now.UnixMilli()
	}
	q.Names = s.observed.Current().Names
	if req.GetSession().RandomValue == nil && g.Core.Recall(q, req.GetCookie()) {
		q.Session.RandomValue = rand.Float64() //nolint:gosec // a draw between routes, no secret
	}
}

// noGeneration says why no generation is in force.
func (s *Decision) noGeneration() error {
	if s.state.Load().Kind == state.Invalid {
		return errRejected
	}
	return errNoGeneration
}
