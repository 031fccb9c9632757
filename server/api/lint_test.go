package api_test

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/api"
)

func TestLintConfig(t *testing.T) {
	f := newFixture(t)
	current := &configv1.LintConfigRequest{}
	_, err := f.LintConfig(patience(t), current)
	wantError(t, err, codes.NotFound, api.ReasonGenerationNotFound)

	shadowed := split()
	shadowed.QueryRules = append(shadowed.QueryRules, &configv1.QueryRule{
		RuleId: 3, MatchDigest: new("^SELECT a"), DestinationHostgroup: proto.Int64(10),
	})
	f.publish(t, shadowed)
	f.publish(t, split())
	codesOf := func(req *configv1.LintConfigRequest, generation uint64) map[string]bool {
		t.Helper()
		resp, err := f.LintConfig(patience(t), req)
		if err != nil || resp.GetGeneration() != generation || len(resp.GetProblems()) > 0 {
			t.Fatalf("%v, %v", resp, err)
		}
		out := make(map[string]bool)
		for _, finding := range resp.GetFindings() {
			out[finding.GetCode()] = true
		}
		return out
	}
	if got := codesOf(current, 2); got["shadowed_rule"] || !got["locking_read"] {
		t.Errorf("current generation: %v", got)
	}
	old := &configv1.LintConfigRequest{Subject: &configv1.LintConfigRequest_Generation{Generation: 1}}
	if got := codesOf(old, 1); !got["shadowed_rule"] {
		t.Errorf("generation 1: %v", got)
	}
	given := &configv1.LintConfigRequest{Subject: &configv1.LintConfigRequest_Config{Config: shadowed}}
	if got := codesOf(given, 0); !got["shadowed_rule"] {
		t.Errorf("configuration: %v", got)
	}

	given.Subject = &configv1.LintConfigRequest_Config{Config: &configv1.Config{QueryRules: []*configv1.QueryRule{{RuleId: 0}}}}
	resp, err := f.LintConfig(patience(t), given)
	if err != nil || len(resp.GetFindings()) > 0 || len(resp.GetProblems()) != 1 || resp.GetProblems()[0].GetCode() != "out_of_range" {
		t.Errorf("invalid configuration: %v, %v", resp, err)
	}
	old.Subject = &configv1.LintConfigRequest_Generation{Generation: 9}
	_, err = f.LintConfig(patience(t), old)
	wantError(t, err, codes.NotFound, api.ReasonGenerationNotFound)
}
