package route_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
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
	budget    = 5 * time.Millisecond
	silence   = 250 * time.Millisecond // until the service is down
	patience  = 20 * silence           // with one question
	right     = 20                     // the hostgroup of answers
	fallback  = 9                      // the default hostgroup
	probeText = "DO 0"
)

// service answers texts after a while; -1: never. Those it does not name it answers at once.
type service struct {
	after  map[string]time.Duration
	scope  decisionv1.CacheScope
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
	scope := d.scope
	if scope == decisionv1.CacheScope_CACHE_SCOPE_UNSPECIFIED {
		scope = decisionv1.CacheScope_CACHE_SCOPE_TEXT
	}
	return &decisionv1.RouteStatementResponse{
		Generation: 1, DestinationHostgroup: new(int32(right)), CacheScope: scope, Cookie: []byte("c"), SessionAttributes: []string{"username"},
	}, nil
}

// result is what came of a question, and when.
type result struct {
	hostgroup int32
	source    route.Source
	took      time.Duration
}

// ask asks in the background, for a session of its own.
func ask(ctx context.Context, r *route.Router, text string) <-chan result {
	done := make(chan result, 1)
	go func() { done <- askNow(ctx, r, text) }()
	return done
}

func askNow(ctx context.Context, r *route.Router, text string) result {
	return askFor(ctx, r, &route.Session{Username: "app", DefaultHostgroup: fallback}, text)
}

func askFor(ctx context.Context, r *route.Router, s *route.Session, text string) result {
	start := time.Now()
	a, source := r.Decide(ctx, s, query(text, text, ""))
	return result{a.GetDestinationHostgroup(), source, time.Since(start)}
}

func want(t *testing.T, what string, got, want result) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

// late is what comes of a question that takes longer than the budget.
var late = result{fallback, route.Default, budget}

// pass lets a bubble's fake time pass, and all that happens then.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// newWatched makes a router for a synctest bubble.
func newWatched(t *testing.T, d route.Decider) (*route.Router, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	r := route.New(d, route.Options{Budget: budget}, slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(r.Close)
	return r, &log
}

// A statement waits no longer than the budget, and its answer serves the next one.
func TestLateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &service{after: map[string]time.Duration{"slow": 2 * time.Second}}
		r, _ := newWatched(t, d)
		want(t, "slow", askNow(t.Context(), r, "slow"), late)
		for range 19 {
			pass(100 * time.Millisecond)
			if got := askNow(t.Context(), r, "DELETE"); got.hostgroup != right || got.took != 0 {
				t.Errorf("another: %+v", got)
			}
		}
		want(t, "slow, still asked about", askNow(t.Context(), r, "slow"), late)
		pass(100 * time.Millisecond)
		want(t, "slow, later", askNow(t.Context(), r, "slow"), result{right, route.Cached, 0})
		if !r.Up() || r.TooSlow() != 0 || r.Unanswered(route.Overrun) != 2 || r.Unanswered(route.Down) != 0 {
			t.Errorf("up %v, too slow %d, %d overruns", r.Up(), r.TooSlow(), r.Unanswered(route.Overrun))
		}
	})
}

// Alone, a slow question is told from a service that hangs by probes.
func TestLoneSlowQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &service{after: map[string]time.Duration{"slow": 3 * time.Second, probeText: silence/2 - 1}}
		r, log := newWatched(t, d)
		want(t, "slow", askNow(t.Context(), r, "slow"), late)
		pass(3 * time.Second)
		want(t, "slow, later", askNow(t.Context(), r, "slow"), result{right, route.Cached, 0})
		if !r.Up() || d.probes.Load() == 0 || log.Len() > 0 {
			t.Errorf("up %v, %d probes, log %s", r.Up(), d.probes.Load(), log)
		}
	})
}

// One question serves all sessions that wait for its answer.
func TestOneQuestionForAll(t *testing.T) {
	for _, tt := range []struct {
		scope  decisionv1.CacheScope
		texts  []string
		digest string
		asked  int64
	}{
		{decisionv1.CacheScope_CACHE_SCOPE_DIGEST, []string{"a", "b"}, "?", 1},
		{decisionv1.CacheScope_CACHE_SCOPE_TEXT, []string{"a", "a"}, "?", 1},
		{decisionv1.CacheScope_CACHE_SCOPE_TEXT, []string{"a", "b", "b"}, "?", 2},
		{decisionv1.CacheScope_CACHE_SCOPE_NONE, []string{"a", "a", "a"}, "?", 3}, // each draws anew
	} {
		t.Run(tt.scope.String()+strings.Join(tt.texts, ""), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &service{scope: tt.scope, after: map[string]time.Duration{"a": time.Millisecond, "b": time.Millisecond}}
				r, _ := newWatched(t, d)
				r.Observe(1)
				done := make(chan result)
				for _, text := range tt.texts {
					for range 10 {
						go func() {
							a, source := r.Decide(t.Context(), &route.Session{Username: "app", DefaultHostgroup: fallback}, query(text, tt.digest, ""))
							done <- result{hostgroup: a.GetDestinationHostgroup(), source: source}
						}()
					}
					synctest.Wait()
				}
				for range 10 * len(tt.texts) {
					want(t, "answer", <-done, result{hostgroup: right, source: route.Asked})
				}
				asked := tt.asked
				if tt.scope == decisionv1.CacheScope_CACHE_SCOPE_NONE {
					asked *= 10
				}
				if n := d.asked.Load(); n != asked {
					t.Errorf("asked %d times, want %d", n, asked)
				}
			})
		})
	}
}

// Sessions of other classes don't take an answer that is not for them.
func TestOneQuestionForOneClass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &byAddress{}
		r, _ := newWatched(t, d)
		done := make(chan bool)
		for i := range 20 {
			go func() {
				s := &route.Session{Username: "app", ClientAddr: strconv.Itoa(i % 2), DefaultHostgroup: fallback}
				a, source := r.Decide(t.Context(), s, query("SELECT 1", "SELECT ?", ""))
				done <- a.GetDestinationHostgroup() == int32(i%2) && source == route.Asked
			}()
		}
		for range 20 {
			if !<-done {
				t.Error("wrong answer")
			}
		}
		if n := d.asked.Load(); n > 11 {
			t.Errorf("asked %d times", n)
		}
	})
}

// byAddress routes by the client's address.
type byAddress struct{ asked atomic.Int64 }

func (d *byAddress) Route(_ context.Context, req *decisionv1.RouteStatementRequest) (*decisionv1.RouteStatementResponse, error) {
	d.asked.Add(1)
	<-time.After(time.Millisecond)
	addr := req.GetSession().GetClientAddr()
	return &decisionv1.RouteStatementResponse{
		Generation: 1, DestinationHostgroup: new(int32(addr[0] - '0')), CacheScope: decisionv1.CacheScope_CACHE_SCOPE_DIGEST,
		Cookie: []byte(addr), SessionAttributes: []string{"client_addr"},
	}, nil
}

// What one session leaves behind must not fill all places for questions.
func TestQuestionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &service{after: map[string]time.Duration{probeText: 0}}
		for i := range 2000 {
			if d.after[strconv.Itoa(i)] = 4 * time.Second; i >= 1000 {
				d.after[strconv.Itoa(i)] = -1
			}
		}
		r, _ := newWatched(t, d)
		hostile := &route.Session{Username: "app", DefaultHostgroup: fallback}
		for i := range 100 {
			askFor(t.Context(), r, hostile, strconv.Itoa(i))
		}
		if n, full := d.asked.Load()-d.probes.Load(), r.Unanswered(route.Full); n != 8 || full != 92 {
			t.Errorf("%d questions of one session, %d left out", n, full)
		}
		want(t, "another session", askNow(t.Context(), r, "DELETE"), result{right, route.Asked, 0})
		var all []<-chan result
		for i := range 1000 {
			all = append(all, ask(t.Context(), r, strconv.Itoa(1000+i)))
		}
		for _, one := range all {
			<-one
		}
		want(t, "one too many", askNow(t.Context(), r, "more"), result{fallback, route.Default, 0})
		pass(patience)
		want(t, "afterwards", askNow(t.Context(), r, "more"), result{right, route.Asked, 0})
	})
}

func TestTooSlowQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The length puts the limit between two looks, soon after a probe.
		text := strings.Repeat("x", 10<<10)
		d := &service{after: map[string]time.Duration{text: -1, probeText: 100 * time.Millisecond}}
		r, log := newWatched(t, d)
		want(t, "too slow", askNow(t.Context(), r, text), result{fallback, route.Default, budget + 2*time.Millisecond})
		pass(patience)
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
		want(t, "first", askNow(t.Context(), r, "first"), late)
		pass(100 * time.Millisecond)
		want(t, "second", askNow(t.Context(), r, "second"), late)
		if !r.Up() {
			t.Error("a single late answer made the service count as down")
		}
		pass(silence - 100*time.Millisecond)
		if r.Up() {
			t.Error("the service counts as up")
		}
		asked := d.asked.Load()
		want(t, "third", askNow(t.Context(), r, "third"), result{fallback, route.Default, 0})
		if d.asked.Load() != asked {
			t.Error("asked while the service is down")
		}
		want(t, "known", askNow(t.Context(), r, "DELETE"), result{right, route.Cached, 0})
		pass(time.Second)
		if n := strings.Count(log.String(), "decision service down"); n != 1 || r.TooSlow() != 0 {
			t.Errorf("too slow %d, log %s", r.TooSlow(), log)
		}
		d.frozen.Store(false)
		pass(2 * silence) // no statement is needed
		if !r.Up() || !strings.Contains(log.String(), "up again") {
			t.Errorf("up %v, log %s", r.Up(), log)
		}
		want(t, "after", askNow(t.Context(), r, "fourth"), result{right, route.Asked, 0})
	})
}

// A hang in the middle of a slow question is noticed too.
func TestHangWhileSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &service{after: map[string]time.Duration{"slow": -1}}
		r, _ := newWatched(t, d)
		want(t, "slow", askNow(t.Context(), r, "slow"), late)
		pass(time.Second)
		d.frozen.Store(true)
		pass(2 * silence)
		if r.Up() {
			t.Error("the service counts as up")
		}
	})
}

// Nothing is answered while a large statement travels.
func TestLargeQuestionHoldsUpOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		large := strings.Repeat("x", 16<<20) // four seconds at most
		d := &service{after: map[string]time.Duration{large: 4 * time.Second, "small": 4 * time.Second, probeText: -1}}
		r, _ := newWatched(t, d)
		first := ask(t.Context(), r, large)
		synctest.Wait()
		want(t, "small", askNow(t.Context(), r, "small"), late)
		want(t, "large", <-first, result{right, route.Asked, 4 * time.Second})
		if !r.Up() {
			t.Error("the service counts as down")
		}
		// Once it is there, the others have their usual time.
		pass(time.Second)
		d.frozen.Store(true)
		askNow(t.Context(), r, "DELETE")
		pass(silence)
		if r.Up() {
			t.Error("the service counts as up")
		}
	})
}

// A session that ends waits no longer, and its question goes on.
func TestSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &service{after: map[string]time.Duration{"slow": 4 * time.Millisecond}}
		r, _ := newWatched(t, d)
		ctx, end := context.WithCancel(t.Context())
		ends := ask(ctx, r, "slow")
		pass(time.Millisecond)
		stays := ask(t.Context(), r, "slow")
		pass(time.Millisecond)
		end()
		want(t, "ended", <-ends, result{fallback, route.Default, 2 * time.Millisecond})
		want(t, "stays", <-stays, result{right, route.Asked, 3 * time.Millisecond})
	})
}

func TestFallbacks(t *testing.T) {
	for _, tt := range []struct {
		fallback       route.Fallback
		known, unknown result
	}{
		{route.FallbackStale, result{right, route.Stale, budget}, result{fallback, route.Default, budget}},
		{"", result{right, route.Stale, budget}, result{fallback, route.Default, budget}},
		{route.FallbackDefault, result{fallback, route.Default, budget}, result{fallback, route.Default, budget}},
		{route.FallbackError, result{fallback, route.Refused, budget}, result{fallback, route.Refused, budget}},
	} {
		t.Run(string(tt.fallback), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := new(service)
				r := route.New(d, route.Options{Budget: budget, Fallback: tt.fallback}, slog.New(slog.DiscardHandler))
				t.Cleanup(r.Close)
				s := &route.Session{Username: "app", DefaultHostgroup: fallback}
				want(t, "before", askFor(t.Context(), r, s, "known"), result{right, route.Asked, 0})
				d.frozen.Store(true)
				want(t, "cached", askFor(t.Context(), r, s, "known"), result{right, route.Cached, 0})
				r.Observe(2)
				want(t, "known", askFor(t.Context(), r, s, "known"), tt.known)
				want(t, "unknown", askFor(t.Context(), r, s, "unknown"), tt.unknown)
				// What was known of another user's sessions is not known of this one.
				want(t, "other", askFor(t.Context(), r, &route.Session{Username: "other", DefaultHostgroup: fallback}, "known"), tt.unknown)
				s.Username = "other"
				s.Changed()
				want(t, "changed", askFor(t.Context(), r, s, "known"), tt.unknown)
			})
		})
	}
	if _, err := route.ParseFallback("never"); err == nil {
		t.Error("an unknown fallback is taken")
	}
}

// answers gives errors, one after the other, then an answer. Probes get an answer.
type answers struct{ errs []error }

func (d *answers) Route(_ context.Context, req *decisionv1.RouteStatementRequest) (*decisionv1.RouteStatementResponse, error) {
	if string(req.GetStatement().GetRawText()) == probeText || len(d.errs) == 0 {
		return &decisionv1.RouteStatementResponse{
			DestinationHostgroup: new(int32(right)), CacheScope: decisionv1.CacheScope_CACHE_SCOPE_TEXT, SessionAttributes: []string{"username"},
		}, nil
	}
	err := d.errs[0]
	d.errs = d.errs[1:]
	return nil, err
}

func TestErrors(t *testing.T) {
	refusal := status.Error(codes.InvalidArgument, "statement: bad")
	busy := status.Error(codes.ResourceExhausted, "too many large statements")
	at := func(d time.Duration) result { return result{fallback, route.Default, d} }
	for _, tt := range []struct {
		name  string
		errs  []error
		want  result
		cause route.Cause
		up    bool
	}{
		{"refused", []error{refusal}, at(0), route.Rejected, true},
		{"a bug met", []error{status.Error(codes.Internal, "internal error")}, at(0), route.Rejected, true},
		{"no generation", []error{status.Error(codes.Unavailable, "no generation")}, at(0), route.Down, false},
		{"no stream", []error{client.ErrUnavailable}, at(0), route.Down, false},
		{"stream broken", []error{fmt.Errorf("%w: %w", client.ErrUnavailable, refusal)}, at(0), route.Down, false},
		{"any other", []error{errors.New("gone")}, at(0), route.Down, false},
		{"busy", []error{busy, busy}, at(budget), route.Overrun, true},
		{"busy, then refused", []error{busy, refusal}, at(budget), route.Overrun, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &answers{tt.errs}
				r, log := newWatched(t, d)
				want(t, "answer", askNow(t.Context(), r, "DELETE"), tt.want)
				synctest.Wait()
				if r.Up() != tt.up || r.Unanswered(tt.cause) != 1 {
					t.Errorf("up %v, want %v; %d with cause %s; log %s", r.Up(), tt.up, r.Unanswered(tt.cause), tt.cause, log)
				}
				pass(time.Second)
				if len(d.errs) > 0 || !r.Up() {
					t.Errorf("later: %v to come, up %v", d.errs, r.Up())
				}
			})
		})
	}
}
