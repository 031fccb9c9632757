package api_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/api"
	"github.com/pointsman/pointsman/server/translate"
)

func TestSelectOfHostgroup(t *testing.T) {
	f := newFixture(t)
	cfg := split()
	cfg.Servers = append(cfg.Servers,
		&configv1.Server{HostgroupId: 20, Hostname: "reader2", Port: proto.Uint32(3307)},
		&configv1.Server{HostgroupId: 20, Hostname: "gone", Status: new("OFFLINE_SOFT")})
	f.publish(t, cfg)
	req := &decisionv1.SelectServerRequest{Target: &decisionv1.SelectServerRequest_Hostgroup{Hostgroup: 20}, Explain: true}
	seen := make(map[string]int)
	for range 200 {
		resp, err := f.SelectServer(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if resp.GetGeneration() != 1 || resp.GetEligible() != 2 || len(resp.GetRejections()) != 1 || resp.GetRejections()[0].GetServer() != "gone:3306" {
			t.Fatalf("answer %v", resp)
		}
		seen[resp.GetServer().GetHostname()]++
	}
	if len(seen) != 2 || seen["reader"] == 0 || seen["reader2"] == 0 {
		t.Errorf("200 draws gave %v", seen)
	}

	req.Seed = proto.Uint64(5)
	first, err := f.SelectServer(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	second, err := f.SelectServer(t.Context(), req)
	if err != nil || !proto.Equal(first, second) {
		t.Errorf("one seed gave %v and %v, error %v", first, second, err)
	}
	req.Exclude = []string{"reader:3306"}
	req.Connections = map[string]uint32{"reader2:3307": 1000}
	if resp, err := f.SelectServer(t.Context(), req); err != nil || resp.GetIndex() != -1 || resp.GetServer() != nil || len(resp.GetRejections()) != 3 {
		t.Errorf("all turned down: %v, error %v", resp, err)
	}
	req = &decisionv1.SelectServerRequest{Target: &decisionv1.SelectServerRequest_Hostgroup{Hostgroup: 77}}
	if resp, err := f.SelectServer(t.Context(), req); err != nil || resp.GetIndex() != -1 {
		t.Errorf("unknown hostgroup: %v, error %v", resp, err)
	}
}

func candidates(list ...*decisionv1.Candidate) *decisionv1.SelectServerRequest {
	return &decisionv1.SelectServerRequest{
		Target: &decisionv1.SelectServerRequest_Candidates{Candidates: &decisionv1.CandidateList{Candidates: list}},
	}
}

func TestSelectOfCandidatesNeedsNoGeneration(t *testing.T) {
	f := newFixture(t)
	tests := map[string]struct {
		req  *decisionv1.SelectServerRequest
		want int32
	}{
		"empty":       {candidates(), -1},
		"one":         {candidates(&decisionv1.Candidate{}), 0},
		"its index":   {candidates(&decisionv1.Candidate{Index: proto.Int32(42)}), 42},
		"weight 0":    {candidates(&decisionv1.Candidate{Weight: proto.Int64(0)}), -1},
		"slow":        {candidates(&decisionv1.Candidate{CurrentLatencyUs: 1_000_000}, &decisionv1.Candidate{CurrentLatencyUs: 999_999}), 1},
		"status":      {candidates(&decisionv1.Candidate{Status: "SHUNNED"}, &decisionv1.Candidate{Status: "ONLINE"}), 1},
		"connections": {candidates(&decisionv1.Candidate{CurrentConnections: 1000}, &decisionv1.Candidate{CurrentConnections: 999}), 1},
	}
	for name, tt := range tests {
		resp, err := f.SelectServer(t.Context(), tt.req)
		if err != nil || resp.GetIndex() != tt.want || resp.GetGeneration() != 0 {
			t.Errorf("%s: %v, error %v, want index %d", name, resp, err, tt.want)
		}
	}

	// With a generation its setting counts.
	cfg := split()
	cfg.Settings = &configv1.Settings{DefaultMaxLatencyMs: proto.Uint32(2000)}
	f.publish(t, cfg)
	resp, err := f.SelectServer(t.Context(), candidates(&decisionv1.Candidate{CurrentLatencyUs: 1_500_000}))
	if err != nil || resp.GetIndex() != 0 || resp.GetGeneration() != 1 {
		t.Errorf("below the setting: %v, error %v", resp, err)
	}
}

func TestSelectBadFields(t *testing.T) {
	f := newFixture(t)
	for field, req := range map[string]*decisionv1.SelectServerRequest{
		"target":                          {},
		"hostgroup":                       {Target: &decisionv1.SelectServerRequest_Hostgroup{Hostgroup: -1}},
		"candidates.candidates[1].weight": candidates(&decisionv1.Candidate{}, &decisionv1.Candidate{Weight: proto.Int64(-1)}),
		"candidates.candidates[0].status": candidates(&decisionv1.Candidate{Status: "SLEEPY"}),
	} {
		_, err := f.SelectServer(t.Context(), req)
		wantError(t, err, codes.InvalidArgument, api.ReasonInvalidField, "field", field)
	}
}

// Who asks a server without a generation learns whether to publish at all, or something valid.
func TestNoGenerationSaysWhy(t *testing.T) {
	f := newFixture(t)
	_, err := f.RouteStatement(t.Context(), ask(1, "SELECT 1"))
	wantError(t, err, codes.Unavailable, api.ReasonNoGeneration)
	if strings.Contains(err.Error(), "rejected") {
		t.Errorf("error %v before any publication", err)
	}
	f.store.Put([]byte{0xff, 0xff}, translate.Format)
	ctx := patience(t)
	for !strings.Contains(err.Error(), "was rejected") {
		if ctx.Err() != nil {
			t.Fatalf("error %v does not say that the generation was rejected", err)
		}
		_, err = f.RouteStatement(t.Context(), ask(1, "SELECT 1"))
		wantError(t, err, codes.Unavailable, api.ReasonNoGeneration)
	}
}
