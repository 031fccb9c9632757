package api_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/pointsman/pointsman/decision"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/api"
	"github.com/pointsman/pointsman/store"
)

const document = `{"version": "1.1", "name": "g",
 "destinations": [
  {"name": "primaries", "match": "$.server.memberRole = PRIMARY"},
  {"name": "others", "match": "$.server.memberRole = SECONDARY"},
  {"name": "near", "match": "$.server.tags.zone = $.router.tags.zone"}],
 "routes": [
  {"name": "by_name", "match": "$.session.sourceIP = RESOLVE_V4(batch)", "destinations": [
   {"classes": ["others"], "strategy": "round-robin", "priority": 0}]},
  {"name": "near", "match": "$.router.routeName = 'near'", "destinations": [
   {"classes": ["near"], "strategy": "first-available", "priority": 0}]},
  {"name": "canary", "match": "$.session.randomValue < 0.5", "destinations": [
   {"classes": ["others"], "strategy": "round-robin", "priority": 0}, {"classes": ["primaries"], "strategy": "round-robin", "priority": 1}]},
  {"name": "rest", "match": "TRUE", "destinations": [
   {"classes": ["primaries"], "strategy": "round-robin", "priority": 0}]}]}`

func binding() *configv1.GuidelineBinding {
	return &configv1.GuidelineBinding{WriterHostgroup: new(int32(10)), ReaderHostgroup: new(int32(20))}
}

// guided has a guideline, a writer, and two readers.
func guided() *configv1.Config {
	cfg := split()
	cfg.Servers = append(cfg.Servers, &configv1.Server{HostgroupId: 20, Hostname: "reader2"})
	cfg.Guideline, cfg.GuidelineBinding = document, binding()
	return cfg
}

func newGuided(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	f.names["batch"] = "10.0.0.9"
	f.publish(t, guided())
	return f
}

// route gives the answer for a session without a random number.
func (f *fixture) route(t *testing.T, req *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse {
	t.Helper()
	resp, err := f.RouteStatement(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func TestRouteByGuideline(t *testing.T) {
	f := newGuided(t)

	// Names are resolved before the generation is in force.
	req := ask(1, "SELECT 1")
	req.Session.ClientAddr = "10.0.0.9"
	got := f.route(t, req)
	want := &decisionv1.GuidelineChoice{
		Guideline: "g", Route: "by_name", Mode: decisionv1.GuidelineMode_GUIDELINE_MODE_READ, Pools: []string{"read:by_name", "write:by_name"},
	}
	if !proto.Equal(got.GetGuideline(), want) || got.GetReason() != decisionv1.Reason_REASON_GUIDELINE || got.GetDestinationHostgroup() != 20 {
		t.Errorf("answer %v", got)
	}
	if explained, err := f.ExplainStatement(t.Context(), req); err != nil || !proto.Equal(explained.GetAnswer().GetGuideline(), want) {
		t.Errorf("explained %v, error %v", explained, err)
	}

	// Without a random number one is drawn, and the cookie keeps the route.
	routes := make(map[string]int)
	for range 100 {
		req := ask(1, "SELECT 1")
		first := f.route(t, req)
		route := first.GetGuideline().GetRoute()
		routes[route]++
		for range 5 {
			req.Cookie = first.GetCookie()
			if again := f.route(t, req); again.GetGuideline().GetRoute() != route {
				t.Fatalf("route %q by the cookie of route %q", again.GetGuideline().GetRoute(), route)
			}
		}
	}
	if names := slices.Sorted(maps.Keys(routes)); len(names) != 2 || names[0] != "canary" || names[1] != "rest" {
		t.Errorf("routes %v", routes)
	}

	// A given number counts more than a cookie.
	for value, route := range map[float64]string{0.1: "canary", 0.7: "rest"} {
		req := ask(1, "SELECT 1")
		req.Session.RandomValue = &value
		first := f.route(t, req)
		req.Session.RandomValue = new(0.8 - value)
		req.Cookie = first.GetCookie()
		if again := f.route(t, req); first.GetGuideline().GetRoute() != route || again.GetGuideline().GetRoute() == route {
			t.Errorf("random value %v: %v, then %v", value, first.GetGuideline(), again.GetGuideline())
		}
	}

	// A session that no route matched stays refused, and one that was not keeps its route.
	cfg := guided()
	cfg.Guideline = strings.Replace(document, `"match": "TRUE"`, `"match": "$.session.user = 'nobody'"`, 1)
	f.publish(t, cfg)
	refused := 0
	for range 60 {
		req := ask(1, "SELECT 1")
		first := f.route(t, req)
		req.Cookie = first.GetCookie()
		explained, err := f.ExplainStatement(t.Context(), req)
		again := f.route(t, req)
		if err != nil || !proto.Equal(again.GetGuideline(), first.GetGuideline()) || again.GetErrorMsg() != first.GetErrorMsg() ||
			!proto.Equal(explained.GetAnswer().GetGuideline(), first.GetGuideline()) {
			t.Fatalf("first %v, then %v, explained %v, error %v", first, again, explained, err)
		}
		if first.GetGuideline().GetRoute() == "" {
			refused++
			if got := explained.GetGuideline().GetSkipped(); got != "the session's cookie keeps that no route matches it" {
				t.Fatalf("explained by %q", got)
			}
		}
	}
	if refused == 0 || refused == 60 {
		t.Errorf("%d of 60 sessions are refused", refused)
	}

	// A cookie of another generation names no route of this one.
	req = ask(1, "SELECT 1")
	req.Session.RandomValue = new(0.1)
	old := f.route(t, req).GetCookie()
	cfg = guided()
	cfg.Guideline = strings.Replace(document, "$.session.randomValue < 0.5", "$.session.randomValue < 0", 1)
	f.publish(t, cfg)
	req.Session.RandomValue, req.Cookie = nil, old
	if got := f.route(t, req); got.GetGuideline().GetRoute() != "rest" {
		t.Errorf("with an old cookie: %v", got)
	}
}

// What is in force is told from memory.
func TestGuidelineWithoutTheStore(t *testing.T) {
	f := newGuided(t)
	f.refuse(t, broken("nothing"), "ann")
	f.store.Fail(store.ErrUnavailable)
	got, err := f.GetGuideline(t.Context(), &configv1.GetGuidelineRequest{})
	if err != nil || got.GetGeneration() != 1 || got.GetName() != "g" || len(got.GetRoutes()) != 4 || len(got.GetServers()) != 3 {
		t.Errorf("guideline %v, error %v", got, err)
	}
	f.wantState(t, stale, 1, "ann")
	_, err = f.GetConfig(t.Context(), &configv1.GetConfigRequest{})
	wantError(t, err, codes.Unavailable, api.ReasonStoreUnavailable)
}

func TestSelectFromPool(t *testing.T) {
	f := newGuided(t)
	draw := func(req *decisionv1.SelectServerRequest) string {
		t.Helper()
		got, err := f.SelectServer(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if got.GetGeneration() != f.live.Generation() {
			t.Errorf("generation %d", got.GetGeneration())
		}
		return got.GetServer().GetHostname()
	}
	pool := func(name string) *decisionv1.SelectServerRequest {
		return &decisionv1.SelectServerRequest{Target: &decisionv1.SelectServerRequest_GuidelinePool{GuidelinePool: name}}
	}

	// Round-robin without a seed takes turns, pool by pool.
	counts := make(map[string]int)
	for range 10 {
		counts["read:canary "+draw(pool("read:canary"))]++
		counts["all:canary "+draw(pool("all:canary"))]++
	}
	for _, name := range []string{"read:canary reader", "read:canary reader2", "all:canary reader", "all:canary reader2"} {
		if counts[name] != 5 {
			t.Errorf("draws %v, want 5 of %s", counts, name)
		}
	}
	seeded := pool("read:canary")
	seeded.Seed = new(uint64(1))
	first := draw(seeded)
	for range 5 {
		if got := draw(seeded); got != first {
			t.Errorf("the same seed draws %s and %s", first, got)
		}
	}
	excluding := pool("read:canary")
	excluding.Exclude = []string{"reader:3306"}
	if got := draw(excluding); got != "reader2" {
		t.Errorf("without reader: %s", got)
	}

	// What is observed counts at once: the next tier, and another role.
	f.observed.SetServers(map[string]decision.ServerState{"reader:3306": {Unavailable: "gone"}, "reader2:3306": {Unavailable: "gone"}})
	if got := draw(pool("all:canary")); got != "writer" {
		t.Errorf("without readers: %s", got)
	}
	f.observed.SetServers(map[string]decision.ServerState{"reader:3306": {MemberRole: "PRIMARY"}, "writer:3306": {MemberRole: "SECONDARY"}})
	if got := draw(pool("write:rest")); got != "reader" {
		t.Errorf("after a failover: %s", got)
	}

	// Pools that depend on the gateway.
	cfg := guided()
	cfg.Servers[0].Tags = tags(t, map[string]any{"zone": "a"})
	cfg.Servers[1].Tags = tags(t, map[string]any{"zone": "b"})
	f.publish(t, cfg)
	for range 2 { // the second time from what is kept
		for zone, want := range map[string]string{"a": "writer", "b": "reader", "c": ""} {
			req := pool("all:near")
			req.Router = &decisionv1.Router{Tags: map[string]string{"zone": `"` + zone + `"`}}
			if got := draw(req); got != want {
				t.Errorf("zone %s: %s, want %s", zone, got, want)
			}
		}
	}
	for i := range 600 { // more gateways than are kept
		req := pool("all:near")
		req.Router = &decisionv1.Router{Name: strconv.Itoa(i), Tags: map[string]string{"zone": `"a"`}}
		if got := draw(req); got != "writer" {
			t.Errorf("gateway %d: %s", i, got)
		}
	}

	_, err := f.SelectServer(t.Context(), pool("read:nothing"))
	wantError(t, err, codes.NotFound, api.ReasonPoolNotFound, "guideline_pool", "read:nothing")
	f.publish(t, split())
	_, err = f.SelectServer(t.Context(), pool("read:canary"))
	wantError(t, err, codes.FailedPrecondition, api.ReasonNoGuideline)
}

func TestGetGuideline(t *testing.T) {
	f := newFixture(t)
	get := func() *configv1.GetGuidelineResponse {
		t.Helper()
		got, err := f.GetGuideline(t.Context(), &configv1.GetGuidelineRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := get(); !proto.Equal(got, &configv1.GetGuidelineResponse{}) {
		t.Errorf("before any publication: %v", got)
	}
	f.publish(t, split())
	if got := get(); !proto.Equal(got, &configv1.GetGuidelineResponse{Generation: 1}) {
		t.Errorf("without a guideline: %v", got)
	}
	f.publish(t, guided())
	got := get()
	if got.GetGeneration() != 2 || got.GetName() != "g" || got.GetVersion() != "1.1" || got.GetBinding().GetDefaultMode() != "rw_split" ||
		len(got.GetClasses()) != 3 || len(got.GetRoutes()) != 4 || len(got.GetServers()) != 3 {
		t.Errorf("got %v", got)
	}
	if tier := got.GetRoutes()[2].GetTiers()[0]; tier.GetAvailable() != 2 || len(tier.GetServers()) != 2 {
		t.Errorf("tier %v", tier)
	}
	if !slices.ContainsFunc(got.GetNotes(), func(n string) bool { return strings.Contains(n, "batch") }) {
		t.Errorf("no note of the name that can't be resolved: %q", got.GetNotes())
	}
	f.observed.SetServers(map[string]decision.ServerState{"reader:3306": {MemberRole: "PRIMARY", Unavailable: "gone"}})
	got = get()
	if s := got.GetServers()[1]; s.GetMemberRole() != "PRIMARY" || s.GetRoleSource() != "monitor" || !strings.Contains(s.GetUnavailable(), "gone") {
		t.Errorf("server %v", s)
	}
}

func TestGetConfigGivesGuidelines(t *testing.T) {
	f := newFixture(t)
	cfg := guided()
	cfg.Guideline, cfg.ActiveGuideline = "", "one"
	cfg.Guidelines = []*configv1.Guideline{{Name: "one", Document: document, Comment: "c"}, {Name: "two", Document: document}}
	cfg.GuidelineBinding.Listeners = map[string]string{"6446": "rw"}
	cfg.Servers[0].Tags = tags(t, map[string]any{"zone": "a", "deep": map[string]any{"n": 1.5}})
	f.publish(t, cfg)
	got, err := f.GetConfig(t.Context(), &configv1.GetConfigRequest{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Users[0].Password = nil
	if !proto.Equal(got.GetConfig(), cfg) {
		t.Errorf("got %v, want %v", got.GetConfig(), cfg)
	}
	f.publish(t, got.GetConfig())
	if list, err := f.ListGenerations(t.Context(), &configv1.ListGenerationsRequest{}); err != nil || list.GetGenerations()[0].GetDigest() != list.GetGenerations()[1].GetDigest() {
		t.Errorf("published again: %v, error %v", list, err)
	}
}

func TestWatchGuideline(t *testing.T) {
	f := newFixture(t)
	f.names["batch"] = "10.0.0.9"
	f.publish(t, split())
	stream, err := f.WatchGatewayConfig(patience(t), &configv1.WatchGatewayConfigRequest{Instance: "test"})
	if err != nil {
		t.Fatal(err)
	}
	next := func(generation uint64, guideline, runtime, others bool) *configv1.WatchGatewayConfigResponse {
		t.Helper()
		resp, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if resp.GetGeneration() != generation || (resp.GetGuideline() != nil) != guideline || (resp.GetRuntime() != nil) != runtime ||
			(resp.GetServers() != nil) != others || (resp.GetUsers() != nil) != others {
			t.Errorf("got %v, want generation %d, guideline %t, runtime %t, others %t", resp, generation, guideline, runtime, others)
		}
		return resp
	}
	if first := next(1, true, true, true); first.GetGuideline().GetDocument() != "" || len(first.GetRuntime().GetNames()) != 0 {
		t.Errorf("without a guideline: %v", first)
	}

	// The observation of a name may come as a message of its own, but never after the guideline that needs it.
	cfg := split()
	cfg.Guideline, cfg.GuidelineBinding = document, binding()
	f.publish(t, cfg)
	resp, err := stream.Recv()
	if err == nil && resp.GetGeneration() == 1 {
		resp, err = stream.Recv()
	}
	if err != nil {
		t.Fatal(err)
	}
	if resp.GetGuideline().GetDocument() != document || resp.GetGuideline().GetBinding().GetWriterHostgroup() != 10 || resp.GetServers() != nil {
		t.Errorf("got %v", resp)
	}
	want := &configv1.RuntimeState{Names: []*configv1.ResolvedName{{Name: "batch", Address: "10.0.0.9"}}}
	if !proto.Equal(resp.GetRuntime(), want) {
		t.Errorf("runtime %v, want %v", resp.GetRuntime(), want)
	}

	f.observed.SetServers(map[string]decision.ServerState{"writer:3306": {MemberRole: "PRIMARY"}})
	want.Servers = []*configv1.ServerState{{Server: "writer:3306", MemberRole: "PRIMARY"}}
	if got := next(2, false, true, false); !proto.Equal(got.GetRuntime(), want) {
		t.Errorf("runtime %v, want %v", got.GetRuntime(), want)
	}
	cfg.QueryRules = nil
	f.publish(t, cfg)
	next(3, false, false, false)
	cfg.GuidelineBinding.DefaultMode = new("rw")
	f.publish(t, cfg)
	next(4, true, true, false)
}

func tags(t *testing.T, values map[string]any) *structpb.Struct {
	t.Helper()
	s, err := structpb.NewStruct(values)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
