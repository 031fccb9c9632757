package translate_test

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/guideline"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/translate"
)

func TestRuntimeToProto(t *testing.T) {
	hosts := []guideline.Host{{Name: "b"}, {Name: "a", V6: true}, {Name: "a"}}
	rt := &decision.Runtime{
		Servers: map[string]decision.ServerState{"b:2": {MemberRole: "PRIMARY"}, "a:1": {Unavailable: "connect: \xff"}},
		Names:   guideline.Names{hosts[1]: "::1", hosts[0]: "10.0.0.1"},
	}
	want := &configv1.RuntimeState{
		Servers: []*configv1.ServerState{{Server: "a:1", Unavailable: "connect: \uFFFD"}, {Server: "b:2", MemberRole: "PRIMARY"}},
		Names:   []*configv1.ResolvedName{{Name: "a"}, {Name: "a", Ipv6: true, Address: "::1"}, {Name: "b", Address: "10.0.0.1"}},
	}
	if got := translate.RuntimeToProto(rt, hosts); !proto.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	want = &configv1.RuntimeState{Names: []*configv1.ResolvedName{{Name: "b"}}}
	if got := translate.RuntimeToProto(nil, hosts[:1]); !proto.Equal(got, want) {
		t.Errorf("nothing known: got %v, want %v", got, want)
	}
}

const oneRoute = `{"version": "1.1", "name": "g", "destinations": [{"name": "c", "match": "$.server.port > 0"}],
	"routes": [{"name": "r", "match": "$.session.user = 'a'", "destinations": [{"classes": ["c"], "strategy": "first-available", "priority": 3}]}]}`

func oneGuide(t *testing.T) *decision.Guide {
	t.Helper()
	guide, problems := decision.NewGuide(oneRoute, &decision.GuidelineBinding{WriterHostgroup: proto.Int32(1), ReaderHostgroup: proto.Int32(2)})
	if guide == nil {
		t.Fatal(problems)
	}
	return guide
}

// TestReportToProto wants every field of the message to be filled but the generation.
func TestReportToProto(t *testing.T) {
	report := &decision.Report{
		Classes: []decision.ReportedClass{{Name: "c", Match: "m", Servers: []string{"a:1"}}},
		Routes: []decision.ReportedRoute{{
			Name: "r", Match: "m", Enabled: true,
			Tiers: []decision.ReportedTier{{Priority: 3, Strategy: "round-robin", Classes: []string{"c"}, Servers: []string{"a:1"}, Available: 1}},
		}},
		Servers: []decision.ReportedServer{{
			Address: "a:1", Label: "l", MemberRole: "PRIMARY", RoleSource: "monitor", Classes: []string{"c"}, Hostgroups: []int32{1}, Weight: 5, Unavailable: "u",
		}},
		Notes: []string{"n\xff"},
	}
	resp := translate.ReportToProto(oneGuide(t), report)
	filled := map[protoreflect.FullName]bool{}
	markFilled(resp.ProtoReflect(), filled)
	fieldsOf(resp.ProtoReflect().Descriptor(), map[protoreflect.FullName]bool{}, func(f protoreflect.FieldDescriptor) {
		switch name := f.FullName(); name {
		case "pointsman.config.v1.GetGuidelineResponse.generation", "pointsman.config.v1.GuidelineBinding.listeners",
			"pointsman.config.v1.GuidelineBinding.ListenersEntry.key", "pointsman.config.v1.GuidelineBinding.ListenersEntry.value":
		default:
			if !filled[name] {
				t.Errorf("%s is not filled", name)
			}
		}
	})
	if resp.GetNotes()[0] != "n\uFFFD" {
		t.Errorf("notes %q", resp.GetNotes())
	}
}

func TestGuidelinePartToProto(t *testing.T) {
	want := &configv1.GuidelinePart{
		Document: oneRoute,
		Binding: &configv1.GuidelineBinding{
			WriterHostgroup: proto.Int32(1), ReaderHostgroup: proto.Int32(2), DefaultMode: new("rw_split"),
		},
	}
	if got := translate.GuidelinePartToProto(oneGuide(t)); !proto.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := translate.GuidelinePartToProto(nil); !proto.Equal(got, &configv1.GuidelinePart{}) {
		t.Errorf("no guideline: %v", got)
	}
}
