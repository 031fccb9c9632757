package translate_test

import (
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/server/translate"
)

// TestExplanationToProto fills everything in and wants every field of the message to be filled.
func TestExplanationToProto(t *testing.T) {
	setting := decision.Setting{Name: "timeout", Value: "5", OverriddenBy: "rule 7"}
	walk := decision.ExplainedWalk{
		Steps: []decision.RuleStep{{
			RuleID: 1, LastRuleID: 2, Rules: 2, Comment: "c\xff", Flag: 1, Failed: "username", Wanted: "a", Got: "b", Why: "w", FlagOut: decision.None,
		}, {
			RuleID: 3, LastRuleID: 3, Rules: 1, Comment: "c", Flag: 1, Conditions: []decision.Condition{{Column: "username", Wanted: "a"}},
			Set: []decision.Setting{setting}, FlagOut: 4, Drawn: true, Restarted: true, Stopped: true,
			Rewrite: &decision.ExplainedRewrite{Replacement: "r", Before: "b", After: "a", Why: "w"},
		}},
		DroppedMisses: 1, DroppedMatches: 2, FinalFlag: 3, Unreached: []uint32{5}, UnreachedCount: 1,
	}
	destinations := []decision.DestinationStep{{By: decision.ReasonRule, RuleID: 3, Hostgroup: 10}}
	x := &decision.Explanation{
		Session: decision.ExplainedSession{
			Username: "u", Schemaname: "s", SchemaFrom: decision.SchemaOfSetting, ClientAddr: "c", ProxyAddr: "p", ProxyPort: 1, FlagIn: 2,
			DefaultHostgroup: 3,
		},
		Walk:      walk,
		NotLoaded: []uint32{9},
		FastRoute: decision.ExplainedFastRoute{
			Skipped: "s", Keys: []decision.FastRouteKey{{Username: "u", Schemaname: "s", FlagIn: 1, Found: true, Hostgroup: 2}},
		},
		Comment: decision.ExplainedComment{
			HasComment: true, Text: "t", Skipped: "s",
			Annotations: []decision.ExplainedAnnotation{{Key: "k", Value: "v", Set: &setting, Why: "w"}},
		},
		Destinations: destinations,
		Mirror:       &decision.ExplainedMirror{Walked: true, Walk: walk, Destinations: destinations},
		Guideline: &decision.ExplainedGuideline{
			Name: "g", Skipped: "s", ListenerMode: decision.ListenerRW, ModeSource: "m",
			Routes: []decision.ExplainedRoute{{
				Name: "r", Match: "TRUE\xff", Enabled: true, Looked: true, Matched: true, Error: "e", Deciding: "d", DecidingValue: "TRUE",
				Variables: []decision.ExplainedVariable{{Name: "$.session.user", Value: "'a'"}},
			}},
		},
		ScopeReasons: []string{"r"},
	}
	resp := translate.ExplanationToProto(x)
	filled := map[protoreflect.FullName]bool{}
	markFilled(resp.ProtoReflect(), filled)
	fieldsOf(resp.ProtoReflect().Descriptor(), map[protoreflect.FullName]bool{}, func(f protoreflect.FieldDescriptor) {
		if name := f.FullName(); !filled[name] && name != "pointsman.decision.v1.ExplainedSession.fast_forward" {
			t.Errorf("%s is not filled", name)
		}
	})
	if got := resp.GetWalk().GetSteps()[0].GetComment(); got != "c\uFFFD" {
		t.Errorf("comment %q", got)
	}

	if got := resp.GetGuideline(); got.GetListenerMode() != "rw" || got.GetRoutes()[0].GetMatch() != "TRUE\uFFFD" {
		t.Errorf("guideline %v", got)
	}

	x.Guideline.Skipped, x.Guideline.Kept = "", "kept"
	if got := translate.ExplanationToProto(x).GetGuideline().GetSkipped(); got != `the session's cookie keeps its route "kept"` {
		t.Errorf("skipped: %q", got)
	}
	x.Guideline = nil
	x.Session.FastForward, x.Mirror.Walked, x.FastRoute.Keys[0].Found = true, false, false
	x.Destinations[0].Hostgroup, x.Comment.HasComment = decision.None, false
	resp = translate.ExplanationToProto(x)
	if !resp.GetSession().GetFastForward() || resp.GetWalk() != nil || resp.GetGuideline() != nil || resp.GetMirror().GetWalk() != nil || resp.GetDestinations()[0].Hostgroup != nil ||
		resp.GetComment().Text != nil || resp.GetFastRoute().GetKeys()[0].DestinationHostgroup != nil {
		t.Errorf("what there is not is not absent: %v", resp)
	}
}

// explained tells whether a message is one of explanations alone.
func explained(m protoreflect.MessageDescriptor) bool {
	return m.FullName() != "pointsman.decision.v1.RouteStatementResponse"
}

// markFilled names the fields that are filled in a message and those in it.
func markFilled(m protoreflect.Message, to map[protoreflect.FullName]bool) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		to[f.FullName()] = true
		switch {
		case f.Message() == nil || !explained(f.Message()):
		case f.IsList():
			for i := range v.List().Len() {
				markFilled(v.List().Get(i).Message(), to)
			}
		default:
			markFilled(v.Message(), to)
		}
		return true
	})
}

// fieldsOf calls each for the fields of a message and of those in it.
func fieldsOf(m protoreflect.MessageDescriptor, seen map[protoreflect.FullName]bool, each func(protoreflect.FieldDescriptor)) {
	if seen[m.FullName()] {
		return
	}
	seen[m.FullName()] = true
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		each(f)
		if f.Message() != nil && explained(f.Message()) {
			fieldsOf(f.Message(), seen, each)
		}
	}
}
