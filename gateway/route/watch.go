package route

import (
	"context"
	"errors"
	"time"

	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// Why a question is given up.
var (
	errSilent  = errors.New("nothing was answered for too long, not even a probe")
	errTooSlow = errors.New("no answer although others got theirs")
)

const (
	// minSilence is how long the service may answer nothing, or the budget if that is longer. Then it is down. On a busy
	// machine a single answer is late sooner than that, and often.
	minSilence = 250 * time.Millisecond

	// patience is how many times that long a question is kept while the service answers others.
	patience = 20

	// bytesPerMS is how fast questions travel at least: large statements are no sign of a slow service.
	bytesPerMS = 4 << 10
)

func travel(bytes int64) time.Duration { return time.Duration(bytes/bytesPerMS) * time.Millisecond }

// allowance is how long the service may answer nothing. What all who wait have sent is ahead of later questions.
func (r *Router) allowance() time.Duration { return r.silence + travel(r.waiting.Load()) }

// watch looks after a question until the returned function is called, and gives it up with errSilent or errTooSlow. A slow
// question must not count as a dead service, or one session's statements would send all others past the rules.
func (r *Router) watch(ctx context.Context, giveUp context.CancelCauseFunc, user string, length int) (stop func()) {
	r.waiting.Add(int64(length))
	w := &watched{
		Router: r, giveUp: giveUp, user: user, seen: r.breaker.answers.Load(),
		limit: time.Now().Add(patience*r.silence + travel(int64(length))),
	}
	t := time.AfterFunc(r.allowance()/2, func() { w.run(ctx) }) // Most questions are answered long before.
	return func() {
		t.Stop()
		r.waiting.Add(-int64(length))
	}
}

// watched is a question that is waited for.
type watched struct {
	*Router
	giveUp context.CancelCauseFunc
	user   string
	limit  time.Time
	seen   uint64 // answers to anybody, when last looked
}

// run looks each half allowance whether anything was answered: the first time that nothing was, a probe is sent, the second
// time the service is down.
func (w *watched) run(ctx context.Context) {
	silent := false
	for ctx.Err() == nil {
		answers := w.breaker.answers.Load()
		switch quiet := answers == w.seen; {
		case !time.Now().Before(w.limit): // first, as the last look may come too soon after a probe
			w.giveUp(errTooSlow)
			return
		case quiet && silent:
			w.giveUp(errSilent)
			return
		case quiet:
			silent = true
			w.probe(w.user) //nolint:contextcheck // it outlives the statement, under the router's own
		default:
			silent, w.seen = false, answers
		}
		select {
		case <-time.After(min(w.allowance()/2, time.Until(w.limit))):
		case <-ctx.Done():
		}
	}
}

// probe asks for the cheapest of statements, to tell a service that hangs from a slow question. One at a time is
// enough for all who wait, so it does not end with the question that it is sent for.
func (r *Router) probe(user string) {
	if !r.probing.CompareAndSwap(false, true) {
		return
	}
	if !r.spawn(func() { r.sendProbe(user) }) {
		r.probing.Store(false)
	}
}

func (r *Router) sendProbe(user string) {
	defer r.probing.Store(false)
	ctx, cancel := context.WithTimeout(r.ctx, r.allowance())
	defer cancel()
	_, err := r.decider.Route(ctx, &decisionv1.RouteStatementRequest{
		Session: &decisionv1.Session{Username: user},
		Statement: &decisionv1.Statement{
			Body: &decisionv1.Statement_RawText{RawText: []byte("DO 0")}, Command: decisionv1.Command_COMMAND_QUERY,
		},
	})
	if answered(err) {
		r.succeed()
	}
}
