package route_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pointsman/pointsman/decision/digest"
	"github.com/pointsman/pointsman/gateway/route"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// decider answers like a service whose rules look at the username and the schema.
type decider struct {
	generation uint64
	scope      decisionv1.CacheScope
	hostgroup  int32
	attributes []string // username and schemaname, unless given
	err        error
	asked      int
	last       *decisionv1.RouteStatementRequest

	mu sync.Mutex
}

// change changes what the decider says while questions may be on their way.
func (d *decider) change(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

func (d *decider) Route(ctx context.Context, req *decisionv1.RouteStatementRequest) (*decisionv1.RouteStatementResponse, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	d.last = req
	if d.err != nil {
		return nil, d.err
	}
	if req.GetMinGeneration() > d.generation {
		return nil, status.Error(codes.FailedPrecondition, "not yet")
	}
	attributes := d.attributes
	if attributes == nil {
		attributes = []string{"username", "schemaname"}
	}
	return &decisionv1.RouteStatementResponse{
		Generation: d.generation, DestinationHostgroup: new(d.hostgroup), CacheScope: d.scope,
		Cookie:            fmt.Appendf(nil, "%d %s %s", d.generation, req.GetSession().GetUsername(), req.GetSession().GetSchemaname()),
		SessionAttributes: attributes,
	}, ctx.Err()
}

func newRouter(tb testing.TB, d route.Decider) *route.Router {
	tb.Helper()
	r := route.New(d, route.Options{Budget: 10 * time.Second}, slog.New(slog.DiscardHandler))
	tb.Cleanup(r.Close)
	return r
}

func query(text, digestText, comment string) *route.Statement {
	st := &route.Statement{
		Text: []byte(text), DigestText: []byte(digestText), DigestHash: hashOfDigest(digestText),
		Generation: 1, Command: decisionv1.Command_COMMAND_QUERY,
	}
	if comment != "" {
		st.FirstComment = []byte(comment)
	}
	return st
}

func hashOfDigest(text string) route.Hash {
	return route.HashOfDigest([]byte(text), digest.Hash([]byte(text), 2048))
}

// expect decides and compares hostgroup and source.
func expect(t *testing.T, r *route.Router, s *route.Session, st *route.Statement, hostgroup int32, source route.Source) {
	t.Helper()
	a, from := r.Decide(t.Context(), s, st)
	if a.GetDestinationHostgroup() != hostgroup || from != source {
		t.Errorf("%s: hostgroup %d from %s, want %d from %s", st.Text, a.GetDestinationHostgroup(), from, hostgroup, source)
	}
}

func TestCacheByDigest(t *testing.T) {
	d := &decider{generation: 1, scope: decisionv1.CacheScope_CACHE_SCOPE_DIGEST, hostgroup: 20}
	r := newRouter(t, d)
	s := &route.Session{Username: "app", Schemaname: "shop"}
	expect(t, r, s, query("SELECT 1", "SELECT ?", ""), 20, route.Asked)
	expect(t, r, s, query("SELECT 2", "SELECT ?", ""), 20, route.Cached)
	expect(t, r, s, query("SELECT 2 /* hi */", "SELECT ?", " hi "), 20, route.Cached)
	// What could be an annotation is asked for, and kept for its text alone.
	expect(t, r, s, query("SELECT 2 /* hostgroup=3 */", "SELECT ?", " hostgroup=3 "), 20, route.Asked)
	expect(t, r, s, query("SELECT 2 /* hostgroup=3 */", "SELECT ?", " hostgroup=3 "), 20, route.Cached)
	expect(t, r, s, query("SELECT 3 /* hostgroup=3 */", "SELECT ?", " hostgroup=3 "), 20, route.Asked)
	prepare := query("SELECT 1", "SELECT ?", "")
	prepare.Command = decisionv1.Command_COMMAND_PREPARE
	expect(t, r, s, prepare, 20, route.Asked)
}

func TestCacheByText(t *testing.T) {
	d := &decider{generation: 1, scope: decisionv1.CacheScope_CACHE_SCOPE_TEXT, hostgroup: 20}
	r := newRouter(t, d)
	s := &route.Session{Username: "app"}
	expect(t, r, s, query("SELECT 1", "SELECT ?", ""), 20, route.Asked)
	expect(t, r, s, query("SELECT 2", "SELECT ?", ""), 20, route.Asked)
	expect(t, r, s, query("SELECT 1", "SELECT ?", ""), 20, route.Cached)
}

func TestScopeNoneIsNotKept(t *testing.T) {
	d := &decider{generation: 1, scope: decisionv1.CacheScope_CACHE_SCOPE_NONE, hostgroup: 20}
	r := newRouter(t, d)
	s := &route.Session{Username: "app"}
	for range 3 {
		expect(t, r, s, query("SELECT 1", "SELECT ?", ""), 20, route.Asked)
	}
	if r.Cached() != 0 {
		t.Errorf("%d answers kept", r.Cached())
	}
}

func TestSessionsShareByAttributes(t *testing.T) {
	d := &decider{generation: 1, scope: decisionv1.CacheScope_CACHE_SCOPE_DIGEST, hostgroup: 20}
	r := newRouter(t, d)
	st := query("SELECT 1", "SELECT ?", "")
	expect(t, r, &route.Session{Username: "app", Schemaname: "a", ClientAddr: "10.0.0.1"}, st, 20, route.Asked)
	expect(t, r, &route.Session{Username: "app", Schemaname: "a", ClientAddr: "10.0.0.2"}, st, 20, route.Cached)
	other := &route.Session{Username: "app", Schemaname: "b"}
	expect(t, r, other, st, 20, route.Asked)
	other.Schemaname = "a"
	other.Changed()
	expect(t, r, other, st, 20, route.Cached)
	other.Schemaname = "c"
	other.Changed()
	expect(t, r, other, st, 20, route.Asked)
}

// TestSharedAttributes has pairs of sessions that differ in one attribute: whether they share answers depends on whether the
// service looks at it.
func TestSharedAttributes(t *testing.T) {
	attrs := map[string]string{"program_name": "batch"}
	empty := map[string]string{"program_name": ""}
	router := &decisionv1.Router{RouteName: "rw"}
	for _, tt := range []struct {
		name      string
		one, two  route.Session
		attribute string
		shared    bool
	}{
		{"equal", route.Session{ConnectAttrs: attrs}, route.Session{ConnectAttrs: attrs}, "connect_attrs.program_name", true},
		{"attribute", route.Session{ConnectAttrs: attrs}, route.Session{ConnectAttrs: empty}, "connect_attrs.program_name", false},
		{"other attribute", route.Session{ConnectAttrs: attrs}, route.Session{ConnectAttrs: empty}, "connect_attrs.other", true},
		{"absent is not empty", route.Session{ConnectAttrs: empty}, route.Session{}, "connect_attrs.program_name", false},
		{"random value", route.Session{RandomValue: 0.25}, route.Session{RandomValue: 0.5}, "random_value", false},
		{"equal random value", route.Session{RandomValue: 0.25}, route.Session{RandomValue: 0.25}, "random_value", true},
		{"random value not looked at", route.Session{RandomValue: 0.25}, route.Session{RandomValue: 0.5}, "username", true},
		{"router", route.Session{Router: router, RouterKey: "a"}, route.Session{RouterKey: "b"}, "router", false},
		{"equal router", route.Session{Router: router, RouterKey: "a"}, route.Session{Router: router, RouterKey: "a"}, "router", true},
		{"resolved names", route.Session{}, route.Session{}, "resolved_names", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &decider{generation: 1, scope: decisionv1.CacheScope_CACHE_SCOPE_DIGEST, attributes: []string{"schemaname", tt.attribute}}
			r := newRouter(t, d)
			expect(t, r, &tt.one, query("SELECT 1", "SELECT ?", ""), 0, route.Asked)
			got := d.last.GetSession()
			if got.GetRouter().GetRouteName() != tt.one.Router.GetRouteName() || got.GetRandomValue() != tt.one.RandomValue ||
				got.GetConnectAttrs()["program_name"] != tt.one.ConnectAttrs["program_name"] {
				t.Errorf("question: %v", got)
			}
			want := route.Asked
			if tt.shared {
				want = route.Cached
			}
			expect(t, r, &tt.two, query("SELECT 1", "SELECT ?", ""), 0, want)
		})
	}
}

// TestBadText asks for a schema that is no UTF-8: such a question could not be sent.
func TestBadText(t *testing.T) {
	d := &decider{generation: 1}
	expect(t, newRouter(t, d), &route.Session{Schemaname: "a\xff"}, query("SELECT 1", "SELECT ?", ""), 0, route.Asked)
	if got := d.last.GetSession().GetSchemaname(); got != "a\uFFFD" {
		t.Errorf("schema %q", got)
	}
}

func TestNewGenerationRetiresAnswers(t *testing.T) {
	d := &decider{generation: 1, scope: decisionv1.CacheScope_CACHE_SCOPE_DIGEST, hostgroup: 20}
	r := newRouter(t, d)
	s := &route.Session{Username: "app"}
	st := query("SELECT 1", "SELECT ?", "")
	expect(t, r, s, st, 20, route.Asked)
	d.generation, d.hostgroup = 2, 30
	expect(t, r, s, st, 20, route.Cached) // nobody has told
	r.Observe(2)
	st.Generation = 2
	expect(t, r, s, st, 30, route.Asked)
	if d.last.GetMinGeneration() != 2 {
		t.Errorf("asked for generation %d", d.last.GetMinGeneration())
	}
	r.Observe(1) // old news
	expect(t, r, s, st, 30, route.Cached)
	if r.Newest() != 2 {
		t.Errorf("newest is %d", r.Newest())
	}
}

func TestDigestOfOtherGenerationIsNotTrusted(t *testing.T) {
	d := &decider{generation: 2, scope: decisionv1.CacheScope_CACHE_SCOPE_DIGEST, hostgroup: 20}
	r := newRouter(t, d)
	s := &route.Session{Username: "app"}
	// The statements were digested with generation 1's options, whose digests may be coarser.
	expect(t, r, s, query("SELECT a1", "SELECT a?", ""), 20, route.Asked)
	expect(t, r, s, query("SELECT a2", "SELECT a?", ""), 20, route.Asked)
	expect(t, r, s, query("SELECT a2", "SELECT a?", ""), 20, route.Cached)
}

func TestServerBehindIsAskedWithoutMinimum(t *testing.T) {
	d := &decider{generation: 1, scope: decisionv1.CacheScope_CACHE_SCOPE_DIGEST, hostgroup: 20}
	r := newRouter(t, d)
	r.Observe(5)
	s := &route.Session{Username: "app", DefaultHostgroup: 9}
	expect(t, r, s, query("SELECT 1", "SELECT ?", ""), 20, route.Asked)
	expect(t, r, s, query("SELECT 1", "SELECT ?", ""), 20, route.Asked) // never from the older generation's cache
}

func TestServiceDown(t *testing.T) {
	d := &decider{generation: 1, scope: decisionv1.CacheScope_CACHE_SCOPE_DIGEST, hostgroup: 20}
	r := newRouter(t, d)
	s := &route.Session{Username: "app", DefaultHostgroup: 9}
	known, unknown := query("SELECT 1", "SELECT ?", ""), query("DELETE FROM t", "DELETE FROM t", "")
	expect(t, r, s, known, 20, route.Asked)
	d.change(func() { d.err = errors.New("gone") })
	expect(t, r, s, known, 20, route.Cached)
	expect(t, r, s, unknown, 9, route.Default)
	if r.Up() {
		t.Error("the service counts as up")
	}
	expect(t, r, s, unknown, 9, route.Default)
	if n := r.Unanswered(route.Down); n != 2 {
		t.Errorf("%d statements without an answer counted", n)
	}
	r.Observe(2) // told by the configuration stream just before it broke
	expect(t, r, s, known, 20, route.Stale)
	expect(t, r, &route.Session{Username: "app"}, known, 20, route.Stale) // a new session
	expect(t, r, &route.Session{Username: "other", DefaultHostgroup: 9}, known, 9, route.Default)
	d.change(func() { d.err, d.generation = nil, 2 })
	unknown.Generation = 2
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(10 * time.Second)
	for !r.Up() { // by itself: nobody needs a statement for that
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("the service still counts as down")
		}
	}
	expect(t, r, s, unknown, 20, route.Asked)
	expect(t, r, s, unknown, 20, route.Cached)
}

func TestRefusedQuestionIsNoOutage(t *testing.T) {
	d := &decider{err: status.Error(codes.InvalidArgument, "session.username: unknown user")}
	r := newRouter(t, d)
	expect(t, r, &route.Session{Username: "gone", DefaultHostgroup: 4}, query("SELECT 1", "SELECT ?", ""), 4, route.Default)
	if !r.Up() {
		t.Error("the service counts as down")
	}
}

func TestCacheIsBounded(t *testing.T) {
	d := &decider{generation: 1, scope: decisionv1.CacheScope_CACHE_SCOPE_TEXT, hostgroup: 20}
	r := newRouter(t, d)
	s := &route.Session{Username: "app"}
	for i := range 150_000 {
		text := fmt.Sprintf("SELECT %d", i)
		r.Decide(t.Context(), s, query(text, "SELECT ?", ""))
	}
	if n := r.Cached(); n > 64*2048 || n < 100_000 {
		t.Errorf("%d answers kept", n)
	}
}

// TestKnownHash uses the caller's hashes.
func TestKnownHash(t *testing.T) {
	d := &decider{generation: 1, scope: decisionv1.CacheScope_CACHE_SCOPE_DIGEST, hostgroup: 20}
	r := newRouter(t, d)
	s := &route.Session{Username: "app"}
	st := query("SELECT 1", "SELECT ?", "")
	expect(t, r, s, st, 20, route.Asked)
	expect(t, r, s, st, 20, route.Cached)
	st.DigestHash = hashOfDigest("SELECT ?, ?")
	expect(t, r, s, st, 20, route.Asked)
	expect(t, r, s, st, 20, route.Cached)
	expect(t, r, s, query("SELECT 1, 2", "SELECT ?, ?", ""), 20, route.Cached)

	d.scope = decisionv1.CacheScope_CACHE_SCOPE_TEXT
	st = query("SELECT 3", "SELECT ?+?", "")
	expect(t, r, s, st, 20, route.Asked)
	st.TextHash = route.HashOf(st.Text)
	expect(t, r, s, st, 20, route.Cached)
	st.TextHash = route.HashOf([]byte("SELECT 4"))
	expect(t, r, s, st, 20, route.Asked)
	expect(t, r, s, query("SELECT 4", "SELECT ?+?", ""), 20, route.Cached)
}

func TestHitAllocs(t *testing.T) {
	for _, scope := range []decisionv1.CacheScope{decisionv1.CacheScope_CACHE_SCOPE_DIGEST, decisionv1.CacheScope_CACHE_SCOPE_TEXT} {
		r := newRouter(t, &decider{generation: 1, scope: scope, hostgroup: 20})
		s := &route.Session{Username: "app"}
		text, digestText := []byte("SELECT 1"), []byte("SELECT ?")
		digestHash := hashOfDigest("SELECT ?")
		ctx := t.Context()
		decide := func() route.Source {
			// A caller's statement lives no longer than the call.
			st := route.Statement{
				Text: text, DigestText: digestText, DigestHash: digestHash,
				Generation: 1, Command: decisionv1.Command_COMMAND_QUERY,
			}
			_, source := r.Decide(ctx, s, &st)
			return source
		}
		decide()
		if n := testing.AllocsPerRun(100, func() {
			if source := decide(); source != route.Cached {
				t.Fatalf("answer from %s", source)
			}
		}); n != 0 {
			t.Errorf("%v: %g allocations, want 0", scope, n)
		}
	}
}

func BenchmarkCached(b *testing.B) {
	d := &decider{generation: 1, scope: decisionv1.CacheScope_CACHE_SCOPE_DIGEST, hostgroup: 20}
	r := newRouter(b, d)
	s := &route.Session{Username: "app"}
	st := query("SELECT c FROM sbtest1 WHERE id=7", "SELECT c FROM sbtest1 WHERE id=?", "")
	b.ReportAllocs()
	for b.Loop() {
		r.Decide(b.Context(), s, st)
	}
}
