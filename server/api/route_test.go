package api_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/api"
)

func TestRouteStatement(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	resp, err := f.RouteStatement(t.Context(), ask(7, "SELECT * FROM t WHERE id = 5"))
	if err != nil {
		t.Fatal(err)
	}
	if resp.GetRequestId() != 7 || resp.GetGeneration() != 1 || resp.GetDestinationHostgroup() != 20 ||
		resp.GetReason() != decisionv1.Reason_REASON_RULE || len(resp.GetMatchedRules()) != 1 || resp.GetMatchedRules()[0] != 2 {
		t.Errorf("answer %v", resp)
	}
	if resp.GetDigestText() != "SELECT * FROM t WHERE id = ?" || !strings.HasPrefix(resp.GetDigest(), "0x") || len(resp.GetDigest()) != 18 {
		t.Errorf("digest %q %q", resp.GetDigest(), resp.GetDigestText())
	}
	if len(resp.GetCookie()) == 0 || len(resp.GetSessionAttributes()) == 0 || resp.GetSessionAttributes()[0] != "username" {
		t.Errorf("cookie %x, session attributes %q", resp.GetCookie(), resp.GetSessionAttributes())
	}
	if resp.GetCacheScope() == decisionv1.CacheScope_CACHE_SCOPE_UNSPECIFIED {
		t.Error("no cache scope")
	}
}

func TestRouteStatementBadFields(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	tests := map[string]struct {
		change func(*decisionv1.RouteStatementRequest)
		field  string
	}{
		"no session":   {func(r *decisionv1.RouteStatementRequest) { r.Session = nil }, "session"},
		"no username":  {func(r *decisionv1.RouteStatementRequest) { r.Session.Username = "" }, "session.username"},
		"unknown user": {func(r *decisionv1.RouteStatementRequest) { r.Session.Username = "nobody" }, "session.username"},
		"no statement": {func(r *decisionv1.RouteStatementRequest) { r.Statement = nil }, "statement"},
		"empty":        {func(r *decisionv1.RouteStatementRequest) { r.Statement = &decisionv1.Statement{} }, "statement"},
		"command":      {func(r *decisionv1.RouteStatementRequest) { r.Statement.Command = 9 }, "statement.command"},
		"proxy_port":   {func(r *decisionv1.RouteStatementRequest) { r.Session.ProxyPort = 70000 }, "session.proxy_port"},
		"flag":         {func(r *decisionv1.RouteStatementRequest) { r.Session.NextQueryFlagIn = proto.Int32(-1) }, "session.next_query_flag_in"},
		"transaction":  {func(r *decisionv1.RouteStatementRequest) { r.Session.TransactionHostgroup = proto.Int32(-5) }, "session.transaction_hostgroup"},
		"random_value": {func(r *decisionv1.RouteStatementRequest) { r.Session.RandomValue = proto.Float64(1) }, "session.random_value"},
		"broken digest": {func(r *decisionv1.RouteStatementRequest) {
			r.Statement = &decisionv1.Statement{Digest: "xyz", DigestText: "SELECT ?", Command: decisionv1.Command_COMMAND_EXECUTE}
		}, "statement.digest"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			req := ask(1, "SELECT 1")
			tt.change(req)
			_, err := f.RouteStatement(t.Context(), req)
			wantError(t, err, codes.InvalidArgument, api.ReasonInvalidField, "field", tt.field)
			if !strings.HasPrefix(status.Convert(err).Message(), tt.field+": ") {
				t.Errorf("message %q does not begin with the field", status.Convert(err).Message())
			}
		})
	}
}

// An error may quote what is wrong, but not megabytes of it.
func TestErrorsAreShort(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	req := ask(1, "")
	req.Statement = &decisionv1.Statement{Digest: strings.Repeat("z", 1<<20), DigestText: "SELECT ?", Command: decisionv1.Command_COMMAND_EXECUTE}
	_, err := f.RouteStatement(t.Context(), req)
	wantError(t, err, codes.InvalidArgument, api.ReasonInvalidField, "field", "statement.digest")
	if n := len(status.Convert(err).Message()); n > 2000 {
		t.Errorf("the message has %d bytes", n)
	}
}

func TestNoGeneration(t *testing.T) {
	f := newFixture(t)
	_, err := f.RouteStatement(t.Context(), ask(1, "SELECT 1"))
	wantError(t, err, codes.Unavailable, api.ReasonNoGeneration)
	_, err = f.BatchRouteStatements(t.Context(), &decisionv1.BatchRouteStatementsRequest{Requests: []*decisionv1.RouteStatementRequest{ask(1, "SELECT 1")}})
	wantError(t, err, codes.Unavailable, api.ReasonNoGeneration)
	_, err = f.SelectServer(t.Context(), &decisionv1.SelectServerRequest{Target: &decisionv1.SelectServerRequest_Hostgroup{Hostgroup: 1}})
	wantError(t, err, codes.Unavailable, api.ReasonNoGeneration)
	req := ask(1, "SELECT 1")
	req.MinGeneration = 5
	_, err = f.RouteStatement(t.Context(), req)
	wantError(t, err, codes.Unavailable, api.ReasonNoGeneration)
}

func TestMinGeneration(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	req := ask(1, "SELECT 1")
	req.MinGeneration = 1
	if _, err := f.RouteStatement(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	req.MinGeneration = 2
	_, err := f.RouteStatement(t.Context(), req)
	wantError(t, err, codes.FailedPrecondition, api.ReasonGenerationNotReached, "min_generation", "2", "current_generation", "1")

	// A generation that comes while a request waits is used; the request asks again until it hits that moment.
	done := make(chan error, 1)
	go func() {
		for {
			resp, err := f.RouteStatement(patience(t), req)
			if status.Code(err) == codes.FailedPrecondition {
				continue
			}
			if err == nil && resp.GetGeneration() != 2 {
				t.Errorf("answered by generation %d, want 2", resp.GetGeneration())
			}
			done <- err
			return
		}
	}()
	f.publish(t, split())
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestReproducible(t *testing.T) {
	f := newFixture(t)
	cfg := split()
	cfg.QueryRules = []*configv1.QueryRule{
		{RuleId: 1, MatchDigest: new("."), Attributes: `{"flagOUTs":[{"id":1,"weight":1},{"id":2,"weight":1}]}`},
		{RuleId: 2, FlagIn: 1, DestinationHostgroup: proto.Int64(10), Apply: true},
		{RuleId: 3, FlagIn: 2, DestinationHostgroup: proto.Int64(20), Apply: true},
	}
	f.publish(t, cfg)
	seen := make(map[int32]int)
	for seed := range uint64(64) {
		req := ask(1, "SELECT 1")
		req.Seed, req.NowMs = &seed, proto.Int64(1)
		first, err := f.RouteStatement(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		second, err := f.RouteStatement(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(first, second) {
			t.Fatalf("seed %d: %v and %v", seed, first, second)
		}
		seen[first.GetDestinationHostgroup()]++
	}
	if len(seen) != 2 {
		t.Errorf("64 seeds led to %v, want both hostgroups", seen)
	}
	seen = make(map[int32]int)
	for range 64 {
		resp, err := f.RouteStatement(t.Context(), ask(1, "SELECT 1"))
		if err != nil {
			t.Fatal(err)
		}
		seen[resp.GetDestinationHostgroup()]++
	}
	if len(seen) != 2 {
		t.Errorf("64 draws of the service led to %v, want both hostgroups", seen)
	}
}

func TestBatch(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	late := ask(4, "SELECT 1")
	late.MinGeneration = 9
	batch := &decisionv1.BatchRouteStatementsRequest{Requests: []*decisionv1.RouteStatementRequest{
		ask(3, "SELECT 1"), ask(3, "INSERT INTO t VALUES (1)"), {RequestId: 8}, late,
	}}
	resp, err := f.BatchRouteStatements(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	got := resp.GetResponses()
	if len(got) != 4 {
		t.Fatalf("%d answers, want 4", len(got))
	}
	if got[0].GetDestinationHostgroup() != 20 || got[1].GetDestinationHostgroup() != 10 || got[0].GetRequestId() != 3 {
		t.Errorf("answers %v", got[:2])
	}
	if got[2].GetRequestId() != 8 {
		t.Errorf("third answer has request_id %d", got[2].GetRequestId())
	}
	wantStatus(t, status.FromProto(got[2].GetError()), codes.InvalidArgument, api.ReasonInvalidField, "field", "session")
	wantStatus(t, status.FromProto(got[3].GetError()), codes.FailedPrecondition, api.ReasonGenerationNotReached, "min_generation", "9")

	batch.Requests = make([]*decisionv1.RouteStatementRequest, 1001)
	for i := range batch.GetRequests() {
		batch.Requests[i] = ask(1, "SELECT 1")
	}
	_, err = f.BatchRouteStatements(t.Context(), batch)
	wantError(t, err, codes.InvalidArgument, api.ReasonInvalidField, "field", "requests")
	batch.Requests = batch.GetRequests()[:1000]
	resp, err = f.BatchRouteStatements(t.Context(), batch)
	if err != nil || len(resp.GetResponses()) != 1000 {
		t.Errorf("1000 requests: %d answers, error %v", len(resp.GetResponses()), err)
	}
}

func TestWatchGeneration(t *testing.T) {
	f := newFixture(t)
	stream, err := f.WatchGeneration(patience(t), &decisionv1.WatchGenerationRequest{})
	if err != nil {
		t.Fatal(err)
	}
	next := func() *decisionv1.WatchGenerationResponse {
		t.Helper()
		resp, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	if resp := next(); resp.GetGeneration() != 0 || resp.GetDigest() != "" {
		t.Errorf("before any publication: %v", resp)
	}
	for n := range uint64(3) {
		f.publish(t, split())
		if resp := next(); resp.GetGeneration() != n+1 || len(resp.GetDigest()) != 64 {
			t.Errorf("after publication %d: %v", n+1, resp)
		}
	}
	f.stop()
	_, err = stream.Recv()
	wantError(t, err, codes.Unavailable, api.ReasonServerStopping)
}

func TestStatementTooLong(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	_, err := f.RouteStatement(t.Context(), ask(1, strings.Repeat("x", 64<<20+1)))
	wantError(t, err, codes.InvalidArgument, api.ReasonInvalidField, "field", "statement.text")
}
