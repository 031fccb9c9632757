package decision

import (
	"fmt"
	"strconv"

	"github.com/pointsman/pointsman/decision/guideline"
	"github.com/pointsman/pointsman/decision/rules"
)

// ExplainedGuideline is the look at the routing guideline.
type ExplainedGuideline struct {
	Name         string
	Skipped      string           // why it has no say; empty: it has
	Routes       []ExplainedRoute // in order; of many, those behind 1,000 only if they match or fail
	ListenerMode ListenerMode
	ModeSource   string // where the mode comes from, for people
	Kept         string // the route that the session's cookie keeps; empty: none
	KeptRefusal  bool   // the session's cookie keeps that no route matched
	failed       bool   // a rule that can't be evaluated refuses the session
}

// ExplainedRoute is one route's match.
type ExplainedRoute struct {
	Name, Match   string
	Enabled       bool
	Looked        bool // it is enabled and no earlier one matched
	Matched       bool
	Error         string // why it can't be evaluated; empty: it can
	Variables     []ExplainedVariable
	Deciding      string // the smallest part of the expression that decided
	DecidingValue string
}

// ExplainedVariable is a variable, such as $.session.user, and its value as the expression language writes it.
type ExplainedVariable struct {
	Name, Value string
}

// maxExplainedRoutes is how many routes are told in any case. Those behind are told when they match or fail.
const maxExplainedRoutes = 1000

// guideline tells what the guideline in force makes of the session, and lets it have the last word where it stands in for the
// destination.
func (e *explainer) guideline() {
	d := e.g.guide
	if d == nil {
		return
	}
	x := &ExplainedGuideline{Name: rules.Excerpt([]byte(d.guideline.Name()), 0)}
	e.x.Guideline = x
	listener := e.q.Session.listener()
	mode, source := d.mode(listener)
	x.ListenerMode, x.ModeSource = mode, source.describe(listener)
	var room guidedSession
	e.g.guidedFacts(e.q, &room)
	of := e.g.ask(e.q, &room)
	switch kept := e.q.Session.KeptRoute; {
	case d.has(kept):
		x.Kept = d.guideline.Routes()[kept].Name
	case kept == Refused:
		x.KeptRefusal = true
	default:
		for i, t := range d.guideline.Explain(&room.facts) {
			if i < maxExplainedRoutes || t.Matched || t.Trace.Err != nil {
				x.Routes = append(x.Routes, explainRoute(&t))
			}
		}
	}
	x.failed = of.route == None
	e.guided(d, &of)
}

// guided is Generation.guided.
func (e *explainer) guided(d *Guide, of *chosen) {
	x := e.x.Guideline
	last := e.x.lastDestination()
	switch {
	case last.By == ReasonAnswered:
		x.Skipped = "a message answers the statement"
	case !d.Bound(last.Hostgroup):
		x.Skipped = fmt.Sprintf("hostgroup %d is neither the writer hostgroup %d nor the reader hostgroup %d of the binding", last.Hostgroup, d.writer, d.reader)
	case last.By == ReasonLocked || last.By == ReasonTransaction:
		x.Skipped = "the session is held in its hostgroup; the route counts when it is free"
	case of.route < 0:
		e.destination(ReasonGuideline, 0, None)
		e.effects.Set |= ErrorMsg
		e.settings.overridden(columnDestination, "the routing guideline")
	default:
		e.destination(ReasonGuideline, 0, last.Hostgroup)
	}
}

func explainRoute(t *guideline.RouteTrace) ExplainedRoute {
	out := ExplainedRoute{
		Name: t.Route.Name, Match: rules.Excerpt([]byte(t.Route.Match), 0), Enabled: t.Route.Enabled, Looked: t.Looked, Matched: t.Matched,
	}
	if !t.Looked {
		return out
	}
	if t.Trace.Err != nil {
		out.Error = t.Trace.Err.Error()
	}
	for _, v := range t.Trace.Seen {
		out.Variables = append(out.Variables, ExplainedVariable{"$." + v.Name, valueText(v.Value)})
	}
	out.Deciding, out.DecidingValue = rules.Excerpt([]byte(t.Trace.Deciding), 0), valueText(t.Trace.DecidingValue)
	return out
}

// valueText gives a value as the expression language writes it.
func valueText(v guideline.Value) string {
	switch v.Type {
	case guideline.Number:
		return strconv.FormatFloat(v.Number, 'g', -1, 64)
	case guideline.String:
		return "'" + rules.Excerpt([]byte(v.Text), 0) + "'"
	case guideline.Boolean:
		if v.Bool {
			return "TRUE"
		}
		return "FALSE"
	case guideline.RoleType:
		return v.Text
	case guideline.Null:
	}
	return "NULL"
}
