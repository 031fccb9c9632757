package translate

import (
	"strings"

	"github.com/pointsman/pointsman/decision"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// ProblemsToProto gives the API's form of problems, in the same order.
func ProblemsToProto(problems decision.Problems) []*configv1.Problem {
	out := make([]*configv1.Problem, len(problems))
	for i := range problems {
		p := &problems[i]
		out[i] = &configv1.Problem{
			RuleId:   p.RuleID,
			Path:     strings.ToValidUTF8(p.Path, "\uFFFD"),
			Code:     p.Code,
			Severity: configv1.Severity_SEVERITY_ERROR,
			Message:  strings.ToValidUTF8(p.Message, "\uFFFD"), // it may quote a part of an expression
		}
		if p.Severity == decision.Warning {
			out[i].Severity = configv1.Severity_SEVERITY_WARNING
		}
		if p.Position >= 0 {
			out[i].Position = new(int32(p.Position))
		}
	}
	return out
}
