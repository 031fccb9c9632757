package ctl

import (
	"fmt"
	"strings"

	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// guideline prints the look at the routing guideline: each route's expression, the values that it saw, and the part that
// decided.
func (p *printer) guideline(g *decisionv1.ExplainedGuideline) {
	p.line("guideline", "%s, listener mode %s (%s)", value(g.GetName()), g.GetListenerMode(), oneLine(g.GetListenerModeSource()))
	if g.GetSkipped() != "" {
		p.line("", "has no say: %s", oneLine(g.GetSkipped()))
	}
	var behind []string // the first match
	for _, r := range g.GetRoutes() {
		if r.GetEnabled() && !r.GetLooked() {
			behind = append(behind, r.GetName())
			continue
		}
		p.guidelineRoute(r)
	}
	if n := len(behind); n > 0 {
		const most = 8
		text := strings.Join(behind[:min(n, most)], ", ")
		if n > most {
			text += fmt.Sprintf(" and %d more", n-most)
		}
		fmt.Fprintf(&p.out, "               not looked at: %s\n", oneLine(text))
	}
}

func (p *printer) guidelineRoute(r *decisionv1.ExplainedGuidelineRoute) {
	verdict := "no "
	switch {
	case !r.GetEnabled():
		verdict = "off"
	case r.GetError() != "":
		verdict = "ERR"
	case r.GetMatched():
		verdict = "YES"
	}
	fmt.Fprintf(&p.out, "          %s  route %s: %s\n", verdict, value(r.GetName()), value(r.GetMatch()))
	const indent = "               "
	if len(r.GetVariables()) > 0 {
		seen := make([]string, len(r.GetVariables()))
		for i, v := range r.GetVariables() {
			seen[i] = v.GetName() + " is " + value(v.GetValue())
		}
		fmt.Fprintf(&p.out, indent+"saw %s\n", strings.Join(seen, ", "))
	}
	switch {
	case r.GetError() != "":
		fmt.Fprintf(&p.out, indent+"can't be evaluated: %s\n", oneLine(r.GetError()))
	case r.GetDeciding() != "" && r.GetDeciding() != r.GetMatch():
		fmt.Fprintf(&p.out, indent+"decided by %s, which is %s\n", value(r.GetDeciding()), value(r.GetDecidingValue()))
	}
}
