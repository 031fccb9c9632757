package translate

import (
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/guideline"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// RouterFromProto gives the core's form of a router; nil when there is none.
func RouterFromProto(p *decisionv1.Router) *guideline.Router {
	if p == nil {
		return nil
	}
	return &guideline.Router{
		Name:         p.GetName(),
		Hostname:     p.GetHostname(),
		LocalCluster: p.GetLocalCluster(),
		Tags:         p.GetTags(),
		RouteName:    p.GetRouteName(),
		BindAddress:  p.GetBindAddress(),
		PortRW:       float64(p.GetPortRw()),
		PortRO:       float64(p.GetPortRo()),
		PortRWSplit:  float64(p.GetPortRwSplit()),
	}
}

func bindingFromProto(p *configv1.GuidelineBinding) *decision.GuidelineBinding {
	if p == nil {
		return nil
	}
	return &decision.GuidelineBinding{
		WriterHostgroup: p.WriterHostgroup, ReaderHostgroup: p.ReaderHostgroup, Listeners: p.GetListeners(), DefaultMode: p.DefaultMode,
	}
}

// BindingToProto gives the API's form of a guideline's binding; nil when there is none.
func BindingToProto(v *decision.GuidelineBinding) *configv1.GuidelineBinding {
	if v == nil {
		return nil
	}
	return &configv1.GuidelineBinding{
		WriterHostgroup: v.WriterHostgroup, ReaderHostgroup: v.ReaderHostgroup, Listeners: v.Listeners, DefaultMode: v.DefaultMode,
	}
}

func storedGuidelineFromProto(p *configv1.Guideline) decision.StoredGuideline {
	return decision.StoredGuideline{Name: p.GetName(), Document: p.GetDocument(), Comment: p.GetComment()}
}

func storedGuidelineToProto(v *decision.StoredGuideline) *configv1.Guideline {
	return &configv1.Guideline{Name: v.Name, Document: v.Document, Comment: v.Comment}
}

// tagsToProto gives the values of JSON texts. One that is no JSON is left out: a compiled configuration has none.
func tagsToProto(tags map[string]string) *structpb.Struct {
	if len(tags) == 0 {
		return nil
	}
	out := &structpb.Struct{Fields: make(map[string]*structpb.Value, len(tags))}
	for key, text := range tags {
		value := &structpb.Value{}
		if protojson.Unmarshal([]byte(text), value) == nil {
			out.Fields[key] = value
		}
	}
	return out
}

// GuidelinePartToProto gives what gateways need of the guideline in force; an empty part when there is none.
func GuidelinePartToProto(d *decision.Guide) *configv1.GuidelinePart {
	if d == nil {
		return &configv1.GuidelinePart{}
	}
	return &configv1.GuidelinePart{Document: d.Document(), Binding: BindingToProto(d.Binding())}
}
