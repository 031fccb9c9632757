package route_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	client "github.com/pointsman/pointsman/clients/go"
	"github.com/pointsman/pointsman/gateway/route"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

const (
	budget    = 250 * time.Millisecond
	patience  = 20 * budget
	right     = 20 // the hostgroup of answers
	fallback  = 9  // the default hostgroup
	probeText = "DO 0"
)

// service answers texts after a while; -1: never. Those it does not name it answers at once.
type service struct {
	after  map[string]time.Duration
	frozen atomic.Bool // answers nothing
	asked  atomic.Int64
	probes atomic.Int64
}

func (d *service) Route(ctx context.Context, req *decisionv1.RouteStatementRequest) (*decisionv1.RouteStatementResponse, error) {
	text := string(req.GetStatement().GetRawText())
	d.asked.Add(1)
	if text == probeText {
		d.probes.Add(1)
	}
	after, slow := d.after[text]
	if d.frozen.Load() || after < 0 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if slow {
		select {
		case <-time.After(after):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return &decisionv1.RouteStatementResponse{
		Generation: 1, DestinationHostgroup: new(int32(right)), CacheScope: decisionv1.CacheScope_CACHE_SCOPE_NONE,
	}, nil
}

// result is what came of a question, and when.
type result struct {
	hostgroup int32
	source    route.Source
	took      time.Duration
}

// ask asks in the background.
func ask(ctx context.Context, r *route.Router, text string) <-chan result {
	done := make(chan result, 1)
	go func() { done <- askNow(ctx, r, text) }()
	return done
}

func askNow(ctx context.Context, r *route.Router, text string) result {
	start := time.Now()
	s := &route.Session{Username: "app", DefaultHostgroup: fallback}
	a, source := r.Decide(ctx, s, query(text, text, ""))
	return result{a.GetDestinationHostgroup(), source, time.Since(start)}
}

func want(t *testing.T, what string, got, want result) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

// pass lets a bubble's fake time pass.
func pass(d time.Duration) { <-time.After(d) }

// newWatched makes a router for a synctest bubble.
func newWatched(t *testing.T, d route.Decider) (*route.Router, *bytes.Buffer) {
	t.Helper()
	t.Cleanup(func() { pass(time.Minute) }) // The last probe ends.
	var log bytes.Buffer
	return route.New(d, budget, slog.New(slog.NewTextHandler(&log, nil))), &log
}

func TestSlowQuestionAmongOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &service{after: map[string]time.Duration{"slow": 2 * time.Second}}
		r, _ := newWatched(t, d)
		slow := ask(t.Context(), r, "slow")
		for range 19 {
			pass(100 * time.Millisecond)
			want(t, "another", askNow(t.Context(), r, "DELETE"), result{right, route.Asked, 0})
		}
		want(t, "slow", <-slow, result{right, route.Asked, 2 * time.Second})
		if !r.Up() || r.TooSlow() != 0 || d.probes.Load() != 0 {
			t.Errorf("up %v, too slow %d, %d probes", r.Up(), r.TooSlow(), d.probes.Load())
		}
	})
}

// Alone, a slow question is told from a service that hangs by probes.
func TestLoneSlowQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &service{after: map[string]time.Duration{"slow": 3 * time.Second, probeText: budget/2 - 1}}
		r, log := newWatched(t, d)
		want(t, "slow", askNow(t.Context(), r, "slow"), result{right, route.Asked, 3 * time.Second})
		if !r.Up() || d.probes.Load() == 0 || log.Len() > 0 {
			t.Errorf("up %v, %d probes, log %s", r.Up(), d.probes.Load(), log)
		}
	})
}

func TestManySlowQuestionsShareProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &service{after: map[string]time.Duration{"slow": time.Second, probeText: budget / 4}}
		r, _ := newWatched(t, d)
		var all []<-chan result
		for range 100 {
			all = append(all, ask(t.Context(), r, "slow"))
		}
		for _, slow := range all {
			want(t, "slow", <-slow, result{right, route.Asked, time.Second})
		}
		if n := d.probes.Load(); n == 0 || n > 4 {
			t.Errorf("%d probes in four budgets", n)
		}
	})
}

func TestTooSlowQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The length puts the limit between two looks, soon after a probe.
		text := strings.Repeat("x", 10<<10)
		d := &service{after: map[string]time.Duration{text: -1, probeText: 100 * time.Millisecond}}
		r, log := newWatched(t, d)
		want(t, "too slow", askNow(t.Context(), r, text), result{fallback, route.Default, patience + 2*time.Millisecond})
		if !r.Up() || r.TooSlow() != 1 || !strings.Contains(log.String(), "question given up") {
			t.Errorf("up %v, too slow %d, log %s", r.Up(), r.TooSlow(), log)
		}
		want(t, "another", askNow(t.Context(), r, "DELETE"), result{right, route.Asked, 0})
	})
}

func TestHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := new(service)
		r, log := newWatched(t, d)
		want(t, "before", askNow(t.Context(), r, "DELETE"), result{right, route.Asked, 0})
		d.frozen.Store(true)
		first := ask(t.Context(), r, "first")
		pass(100 * time.Millisecond)
		second := ask(t.Context(), r, "second")
		want(t, "first", <-first, result{fallback, route.Default, budget})
		if r.Up() {
			t.Error("the service counts as up")
		}
		asked := d.asked.Load()
		want(t, "third", askNow(t.Context(), r, "third"), result{fallback, route.Default, 0})
		if d.asked.Load() != asked {
			t.Error("asked while the service is down")
		}
		want(t, "second", <-second, result{fallback, route.Default, budget})
		if n := strings.Count(log.String(), "decision service down"); n != 1 || r.TooSlow() != 0 {
			t.Errorf("too slow %d, log %s", r.TooSlow(), log)
		}
		d.frozen.Store(false)
		pass(budget)
		want(t, "after", askNow(t.Context(), r, "DELETE"), result{right, route.Asked, 0})
		if !r.Up() || !strings.Contains(log.String(), "up again") {
			t.Errorf("up %v, log %s", r.Up(), log)
		}
	})
}

// A hang in the middle of a slow question is noticed too.
func TestHangWhileSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &service{after: map[string]time.Duration{"slow": -1}}
		r, _ := newWatched(t, d)
		slow := ask(t.Context(), r, "slow")
		pass(time.Second)
		d.frozen.Store(true)
		got := <-slow
		if got.source != route.Default || got.took > time.Second+2*budget || r.Up() {
			t.Errorf("%+v, up %v", got, r.Up())
		}
	})
}

// A probe that is answered ends an outage although the question that it was sent for is slow.
func TestProbeEndsOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &service{after: map[string]time.Duration{"slow": time.Second}}
		r, _ := newWatched(t, d)
		d.frozen.Store(true)
		askNow(t.Context(), r, "DELETE")
		d.frozen.Store(false)
		pass(budget)
		slow := ask(t.Context(), r, "slow")
		pass(budget)
		if !r.Up() {
			t.Error("the service counts as down")
		}
		want(t, "slow", <-slow, result{right, route.Asked, time.Second})
	})
}

// The probe of a session that ends must go on for the others.
func TestProbeOutlivesItsQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &service{after: map[string]time.Duration{"slow": time.Second, probeText: 100 * time.Millisecond}}
		r, _ := newWatched(t, d)
		ctx, end := context.WithCancel(t.Context())
		ends := ask(ctx, r, "slow")
		pass(10 * time.Millisecond)
		stays := ask(t.Context(), r, "slow")
		pass(140 * time.Millisecond)
		end()
		want(t, "ended", <-ends, result{fallback, route.Default, 150 * time.Millisecond})
		want(t, "stays", <-stays, result{right, route.Asked, time.Second})
		if !r.Up() || r.TooSlow() != 0 {
			t.Errorf("up %v, too slow %d", r.Up(), r.TooSlow())
		}
	})
}

// Nothing is answered while a large statement travels.
func TestLargeQuestionHoldsUpOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		large := strings.Repeat("x", 16<<20) // four seconds at most
		d := &service{after: map[string]time.Duration{large: 4 * time.Second, "small": 4 * time.Second, probeText: -1}}
		r, _ := newWatched(t, d)
		first, second := ask(t.Context(), r, large), make(chan result, 1)
		synctest.Wait()
		go func() { second <- askNow(t.Context(), r, "small") }()
		want(t, "large", <-first, result{right, route.Asked, 4 * time.Second})
		want(t, "small", <-second, result{right, route.Asked, 4 * time.Second})
		// Once it is there, the others have their usual budget.
		d.frozen.Store(true)
		want(t, "hang", askNow(t.Context(), r, "DELETE"), result{fallback, route.Default, budget})
	})
}

// answers gives errors, one after the other, then an answer. Probes get an answer.
type answers struct{ errs []error }

func (d *answers) Route(_ context.Context, req *decisionv1.RouteStatementRequest) (*decisionv1.RouteStatementResponse, error) {
	if string(req.GetStatement().GetRawText()) == probeText || len(d.errs) == 0 {
		return &decisionv1.RouteStatementResponse{DestinationHostgroup: new(int32(right))}, nil
	}
	err := d.errs[0]
	d.errs = d.errs[1:]
	return nil, err
}

func TestErrors(t *testing.T) {
	refusal := status.Error(codes.InvalidArgument, "statement: bad")
	busy := status.Error(codes.ResourceExhausted, "too many large statements")
	for _, tt := range []struct {
		name string
		errs []error
		want result
		up   bool
	}{
		{"refused", []error{refusal}, result{fallback, route.Default, 0}, true},
		{"a bug met", []error{status.Error(codes.Internal, "internal error")}, result{fallback, route.Default, 0}, true},
		{"no generation", []error{status.Error(codes.Unavailable, "no generation")}, result{fallback, route.Default, 0}, false},
		{"no stream", []error{client.ErrUnavailable}, result{fallback, route.Default, 0}, false},
		{"stream broken", []error{fmt.Errorf("%w: %w", client.ErrUnavailable, refusal)}, result{fallback, route.Default, 0}, false},
		{"any other", []error{errors.New("gone")}, result{fallback, route.Default, 0}, false},
		{"busy", []error{busy, busy}, result{right, route.Asked, 2 * budget}, true},
		{"busy, then refused", []error{busy, refusal}, result{fallback, route.Default, budget}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, log := newWatched(t, &answers{tt.errs})
				want(t, "answer", askNow(t.Context(), r, "DELETE"), tt.want)
				if r.Up() != tt.up {
					t.Errorf("up %v, want %v; log %s", r.Up(), tt.up, log)
				}
			})
		})
	}
}
