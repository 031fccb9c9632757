package translate

import (
	"fmt"

	"github.com/pointsman/pointsman/decision"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// ExplanationToProto gives the API's form of an explanation. The answer's request_id and session_attributes are the
// caller's to fill in.
func ExplanationToProto(x *decision.Explanation) *decisionv1.ExplainStatementResponse {
	resp := &decisionv1.ExplainStatementResponse{
		Answer:            &decisionv1.RouteStatementResponse{},
		Summary:           shown(x.Summary()),
		Session:           sessionToProto(&x.Session),
		NotLoadedRules:    x.NotLoaded,
		FastRoute:         &decisionv1.ExplainedFastRoute{Skipped: x.FastRoute.Skipped},
		Comment:           commentToProto(&x.Comment),
		Destinations:      destinationsToProto(x.Destinations),
		CacheScopeReasons: x.ScopeReasons,
	}
	AnswerToProto(&x.Answer, resp.GetAnswer())
	if !x.Session.FastForward {
		resp.Walk = walkToProto(&x.Walk)
	}
	for i := range x.FastRoute.Keys {
		k := &x.FastRoute.Keys[i]
		key := &decisionv1.FastRouteKey{Username: shown(k.Username), Schemaname: shown(k.Schemaname), FlagIn: k.FlagIn, Found: k.Found}
		if k.Found {
			key.DestinationHostgroup = &k.Hostgroup
		}
		resp.FastRoute.Keys = append(resp.GetFastRoute().GetKeys(), key)
	}
	if x.Mirror != nil {
		resp.Mirror = &decisionv1.ExplainedMirror{Destinations: destinationsToProto(x.Mirror.Destinations)}
		if x.Mirror.Walked {
			resp.Mirror.Walk = walkToProto(&x.Mirror.Walk)
		}
	}
	if x.Guideline != nil {
		resp.Guideline = guidelineToProto(x.Guideline)
	}
	return resp
}

// shown is text for what can't be cut to be exact.
func shown(s string) string {
	s, _ = text([]byte(s))
	return s
}

func sessionToProto(s *decision.ExplainedSession) *decisionv1.ExplainedSession {
	source := decisionv1.SchemaSource_SCHEMA_SOURCE_SESSION
	switch s.SchemaFrom {
	case decision.SchemaOfSession:
	case decision.SchemaOfUser:
		source = decisionv1.SchemaSource_SCHEMA_SOURCE_USER
	case decision.SchemaOfSetting:
		source = decisionv1.SchemaSource_SCHEMA_SOURCE_SETTING
	}
	return &decisionv1.ExplainedSession{
		Username: shown(s.Username), Schemaname: shown(s.Schemaname), SchemaSource: source,
		ClientAddr: shown(s.ClientAddr), ProxyAddr: shown(s.ProxyAddr), ProxyPort: s.ProxyPort,
		FlagIn: s.FlagIn, DefaultHostgroup: s.DefaultHostgroup, FastForward: s.FastForward,
	}
}

func walkToProto(w *decision.ExplainedWalk) *decisionv1.ExplainedWalk {
	out := &decisionv1.ExplainedWalk{
		DroppedMisses: uint32(w.DroppedMisses), DroppedMatches: uint32(w.DroppedMatches), FinalFlag: w.FinalFlag,
		UnreachedRules: w.Unreached, UnreachedCount: uint32(w.UnreachedCount),
	}
	for i := range w.Steps {
		out.Steps = append(out.Steps, stepToProto(&w.Steps[i]))
	}
	return out
}

func stepToProto(s *decision.RuleStep) *decisionv1.RuleStep {
	out := &decisionv1.RuleStep{
		RuleId: s.RuleID, LastRuleId: s.LastRuleID, Rules: uint32(s.Rules), Comment: shown(s.Comment), Flag: s.Flag, Matched: s.Failed == "",
		FailedColumn: s.Failed, Wanted: shown(s.Wanted), Got: shown(s.Got), Why: s.Why,
		FlagDrawn: s.Drawn, Restarted: s.Restarted, Stopped: s.Stopped,
	}
	for _, c := range s.Conditions {
		out.Conditions = append(out.Conditions, &decisionv1.RuleCondition{Column: c.Column, Wanted: shown(c.Wanted)})
	}
	for i := range s.Set {
		out.Set = append(out.Set, settingToProto(&s.Set[i]))
	}
	if s.FlagOut != decision.None {
		out.FlagOut = &s.FlagOut
	}
	if r := s.Rewrite; r != nil {
		out.Rewrite = &decisionv1.ExplainedRewrite{
			ReplacePattern: shown(r.Replacement), Before: shown(r.Before), After: shown(r.After), Why: r.Why,
		}
	}
	return out
}

func settingToProto(s *decision.Setting) *decisionv1.ExplainedSetting {
	return &decisionv1.ExplainedSetting{Name: s.Name, Value: shown(s.Value), OverriddenBy: s.OverriddenBy}
}

func commentToProto(c *decision.ExplainedComment) *decisionv1.ExplainedComment {
	out := &decisionv1.ExplainedComment{Skipped: c.Skipped}
	if c.HasComment {
		out.Text = new(shown(c.Text))
	}
	for i := range c.Annotations {
		a := &c.Annotations[i]
		piece := &decisionv1.ExplainedAnnotation{Key: shown(a.Key), Value: shown(a.Value), Why: a.Why}
		if a.Set != nil {
			piece.Set = settingToProto(a.Set)
		}
		out.Annotations = append(out.Annotations, piece)
	}
	return out
}

func destinationsToProto(list []decision.DestinationStep) []*decisionv1.DestinationStep {
	out := make([]*decisionv1.DestinationStep, len(list))
	for i := range list {
		d := &list[i]
		out[i] = &decisionv1.DestinationStep{By: ReasonToProto(d.By), RuleId: d.RuleID}
		if d.Hostgroup != decision.None {
			out[i].Hostgroup = &d.Hostgroup
		}
	}
	return out
}

func guidelineToProto(x *decision.ExplainedGuideline) *decisionv1.ExplainedGuideline {
	out := &decisionv1.ExplainedGuideline{
		Name: shown(x.Name), Skipped: x.Skipped, ListenerMode: x.ListenerMode.String(), ListenerModeSource: shown(x.ModeSource),
	}
	if x.KeptRefusal && x.Skipped == "" {
		out.Skipped = "the session's cookie keeps that no route matches it"
	}
	if x.Kept != "" && x.Skipped == "" {
		out.Skipped = fmt.Sprintf("the session's cookie keeps its route %q", x.Kept)
	}
	for i := range x.Routes {
		r := &x.Routes[i]
		route := &decisionv1.ExplainedGuidelineRoute{
			Name: r.Name, Match: shown(r.Match), Enabled: r.Enabled, Looked: r.Looked, Matched: r.Matched, Error: shown(r.Error),
			Deciding: shown(r.Deciding), DecidingValue: shown(r.DecidingValue),
		}
		for _, v := range r.Variables {
			route.Variables = append(route.Variables, &decisionv1.ExplainedVariable{Name: v.Name, Value: shown(v.Value)})
		}
		out.Routes = append(out.Routes, route)
	}
	return out
}
