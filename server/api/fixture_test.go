package api_test

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/decision/guideline"
	"github.com/pointsman/pointsman/decision/live"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/api"
	"github.com/pointsman/pointsman/server/feed"
	"github.com/pointsman/pointsman/server/internal/memstore"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/metrics"
	"github.com/pointsman/pointsman/server/observed"
	"github.com/pointsman/pointsman/server/resolve"
	"github.com/pointsman/pointsman/server/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a whole server over a store in memory, and clients of it.
type fixture struct {
	decisionv1.DecisionServiceClient
	configv1.ConfigServiceClient

	store     *memstore.Store
	live      *live.Holder[loaded.Generation]
	observed  *observed.Holder
	names     map[string]string // what host names resolve to
	decisions *api.Decision
	configs   *api.Config
	stop      func()
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	return newFixtureOf(tb, &memstore.Store{})
}

// newFixtureOf starts a server over a store that others may use as well.
func newFixtureOf(tb testing.TB, st *memstore.Store) *fixture {
	tb.Helper()
	stopping := make(chan struct{})
	f := &fixture{
		store: st, live: &live.Holder[loaded.Generation]{}, observed: &observed.Holder{}, names: make(map[string]string),
		stop: sync.OnceFunc(func() { close(stopping) }),
	}
	m, log := metrics.New("test"), slog.New(slog.DiscardHandler)
	states := state.NewHolder(m, log)

	server := grpc.NewServer(api.ServerOptions()...)
	f.decisions = api.NewDecision(f.live, f.observed, states, m, log, stopping)
	decisionv1.RegisterDecisionServiceServer(server, f.decisions)
	f.configs = api.NewConfig(f.store, f.live, f.observed, states, m, log, stopping)
	configv1.RegisterConfigServiceServer(server, f.configs)
	listener := bufconn.Listen(1 << 20)
	conn, err := grpc.NewClient("passthrough:///bufconn",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(72<<20)))
	if err != nil {
		tb.Fatal(err)
	}
	f.DecisionServiceClient, f.ConfigServiceClient = decisionv1.NewDecisionServiceClient(conn), configv1.NewConfigServiceClient(conn)

	lastGood := filepath.Join(tb.TempDir(), "lastgood")
	ctx, cancel := context.WithCancel(tb.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = server.Serve(listener) })
	names := resolve.New(resolve.Options{Live: f.live, Observed: f.observed, Lookup: f.lookup, Interval: time.Hour, Logger: log})
	wg.Go(func() {
		feed.New(feed.Options{
			Store: f.store, Live: f.live, State: states, Prepare: names.Prepare, Path: lastGood, Metrics: m, Logger: log,
		}).Run(ctx)
	})
	tb.Cleanup(func() {
		cancel()
		_ = conn.Close()
		server.Stop()
		wg.Wait()
	})
	return f
}

// newDecision makes the service alone.
func newDecision(holder *live.Holder[loaded.Generation]) *api.Decision {
	m, log := metrics.New("test"), slog.New(slog.DiscardHandler)
	return api.NewDecision(holder, &observed.Holder{}, state.NewHolder(m, log), m, log, nil)
}

// lookup knows the fixture's names.
func (f *fixture) lookup(_ context.Context, host guideline.Host) ([]netip.Addr, error) {
	address, err := netip.ParseAddr(f.names[host.Name])
	return []netip.Addr{address}, err
}

// publish publishes cfg and returns the new generation's number, which this server then runs.
func (f *fixture) publish(tb testing.TB, cfg *configv1.Config) uint64 {
	tb.Helper()
	resp, err := f.PublishConfig(tb.Context(), &configv1.PublishConfigRequest{Config: cfg})
	if err != nil {
		tb.Fatal(err)
	}
	return resp.GetGeneration()
}

// split sends SELECT of user app to hostgroup 20 and all else to 10.
func split() *configv1.Config {
	return &configv1.Config{
		Servers: []*configv1.Server{
			{HostgroupId: 10, Hostname: "writer"},
			{HostgroupId: 20, Hostname: "reader"},
		},
		Users: []*configv1.User{{Username: "app", Password: new("secret"), DefaultHostgroup: 10}},
		QueryRules: []*configv1.QueryRule{
			{RuleId: 1, MatchDigest: new("^SELECT .* FOR UPDATE"), DestinationHostgroup: proto.Int64(10), Apply: true},
			{RuleId: 2, MatchDigest: new("^SELECT"), DestinationHostgroup: proto.Int64(20), Apply: true},
		},
	}
}

// ask is a request for one statement of user app.
func ask(id uint64, sql string) *decisionv1.RouteStatementRequest {
	return &decisionv1.RouteStatementRequest{
		RequestId: id,
		Session:   &decisionv1.Session{Username: "app"},
		Statement: &decisionv1.Statement{Body: &decisionv1.Statement_Text{Text: sql}},
	}
}

// wantError checks the code, the reason and some metadata, given as key, value.
func wantError(t *testing.T, err error, code codes.Code, reason string, metadata ...string) {
	t.Helper()
	wantStatus(t, status.Convert(err), code, reason, metadata...)
}

func wantStatus(t *testing.T, st *status.Status, code codes.Code, reason string, metadata ...string) {
	t.Helper()
	if st.Code() != code {
		t.Fatalf("error %v, want code %s", st, code)
	}
	info, ok := detail[*errdetails.ErrorInfo](st)
	if !ok || info.GetReason() != reason || info.GetDomain() != api.Domain {
		t.Fatalf("error %v: info %v, want reason %s", st, info, reason)
	}
	for i := 0; i < len(metadata); i += 2 {
		if got := info.GetMetadata()[metadata[i]]; got != metadata[i+1] {
			t.Errorf("error %v: metadata %s is %q, want %q", st, metadata[i], got, metadata[i+1])
		}
	}
}

func detail[M any](st *status.Status) (m M, ok bool) {
	for _, d := range st.Details() {
		if m, ok = d.(M); ok {
			return m, true
		}
	}
	return m, false
}

// patience is a deadline for what should come at once.
func patience(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}
