package translate

import (
	"slices"
	"strings"

	"github.com/pointsman/pointsman/decision/lint"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// FindingsToProto gives the API's form of findings, in the same order.
func FindingsToProto(findings []lint.Finding) []*configv1.Finding {
	out := make([]*configv1.Finding, len(findings))
	for i := range findings {
		f := &findings[i]
		out[i] = &configv1.Finding{
			Code:       f.Code,
			Severity:   configv1.Severity_SEVERITY_WARNING,
			RuleId:     f.RuleID,
			Path:       f.Path,
			Message:    strings.ToValidUTF8(f.Message, "\uFFFD"), // it may quote a part of an expression
			Remedy:     strings.ToValidUTF8(f.Remedy, "\uFFFD"),
			OtherRules: slices.Clone(f.OtherRules),
		}
		if f.Severity == lint.Hint {
			out[i].Severity = configv1.Severity_SEVERITY_HINT
		}
	}
	return out
}
