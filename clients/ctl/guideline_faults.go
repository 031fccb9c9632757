package ctl

import (
	"fmt"

	"github.com/pointsman/pointsman/decision/guideline"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// faultKey is where a configuration's problem is.
type faultKey struct {
	path     string
	position int32
}

// guidelineFaults finds the expressions that a configuration's problems are about. A problem of the API has a position in
// the expression but not the expression, so the documents in which there are any are compiled again.
func guidelineFaults(cfg *configv1.Config, in []*configv1.Problem) map[faultKey]*guideline.Problem {
	faults := make(map[faultKey]*guideline.Problem)
	wanted := false
	for _, p := range in {
		wanted = wanted || p.GetCode() == "guideline" && p.Position != nil
	}
	if !wanted {
		return faults
	}
	add := func(path, document string) {
		_, problems := guideline.Compile([]byte(document))
		for i := range problems {
			if p := &problems[i]; p.Start >= 0 {
				faults[faultKey{path + "." + p.Path, int32(p.Start)}] = p
			}
		}
	}
	if document := cfg.GetGuideline(); document != "" {
		add("guideline", document)
	}
	for i, stored := range cfg.GetGuidelines() {
		add(fmt.Sprintf("guidelines[%d].document", i), stored.GetDocument())
	}
	return faults
}
