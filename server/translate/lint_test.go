package translate_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/decision/lint"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/translate"
)

func TestFindingsToProto(t *testing.T) {
	got := translate.FindingsToProto([]lint.Finding{
		{Code: "a", Severity: lint.Warning, RuleID: 7, Path: "query_rules[0]", Message: "m \xff", Remedy: "r \xff", OtherRules: []int64{1, 2}},
		{Code: "b", Severity: lint.Hint},
	})
	want := []*configv1.Finding{
		{Code: "a", Severity: configv1.Severity_SEVERITY_WARNING, RuleId: 7, Path: "query_rules[0]", Message: "m \uFFFD", Remedy: "r \uFFFD", OtherRules: []int64{1, 2}},
		{Code: "b", Severity: configv1.Severity_SEVERITY_HINT},
	}
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i := range want {
		if !proto.Equal(got[i], want[i]) {
			t.Errorf("got %v, want %v", got[i], want[i])
		}
	}
}
