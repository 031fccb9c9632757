package translate_test

import (
	"errors"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/decision"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/translate"
)

func TestSelectFromProto(t *testing.T) {
	req := &decisionv1.SelectServerRequest{
		Target: &decisionv1.SelectServerRequest_Hostgroup{Hostgroup: 3}, Seed: proto.Uint64(9), Exclude: []string{"a:1"},
		Connections: map[string]uint32{"b:1": 4}, MaxLagMs: proto.Uint32(5), Explain: true,
	}
	got, list, err := translate.SelectFromProto(req)
	want := decision.SelectRequest{
		Hostgroup: 3, Seed: 9, Exclude: []string{"a:1"}, Connections: map[string]uint32{"b:1": 4}, MaxLagMS: proto.Uint32(5), Explain: true,
	}
	if err != nil || list != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("hostgroup: %+v, candidates %v, error %v, want %+v", got, list, err, want)
	}

	req.Target = &decisionv1.SelectServerRequest_Candidates{Candidates: &decisionv1.CandidateList{Candidates: []*decisionv1.Candidate{
		{},
		{
			Index: proto.Int32(7), Weight: proto.Int64(-1), Status: "SHUNNED", CurrentConnections: 1, MaxConnections: proto.Uint32(0),
			CurrentReplicationLag: proto.Uint32(2), MaxReplicationLag: 3, CurrentLatencyUs: 4, MaxLatencyUs: 5,
		},
	}}}
	_, list, err = translate.SelectFromProto(req)
	candidates := []decision.Candidate{{}, {
		Index: proto.Int32(7), Weight: proto.Int64(-1), Status: "SHUNNED", CurrentConnections: 1, MaxConnections: proto.Uint32(0),
		CurrentReplicationLag: proto.Uint32(2), MaxReplicationLag: 3, CurrentLatencyUS: 4, MaxLatencyUS: 5,
	}}
	if err != nil || !reflect.DeepEqual(list, candidates) {
		t.Errorf("candidates: %+v, error %v, want %+v", list, err, candidates)
	}

	req.Target = &decisionv1.SelectServerRequest_Candidates{}
	if _, list, err = translate.SelectFromProto(req); err != nil || list == nil {
		t.Errorf("no candidates: %v, error %v, want a list without any", list, err)
	}

	req.Target = &decisionv1.SelectServerRequest_GuidelinePool{GuidelinePool: "all:r"}
	want.Hostgroup = 0
	if got, list, err = translate.SelectFromProto(req); err != nil || list != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("pool: %+v, candidates %v, error %v, want %+v", got, list, err, want)
	}
}

func TestSelectFromProtoErrors(t *testing.T) {
	for want, req := range map[string]*decisionv1.SelectServerRequest{
		"target":    {},
		"hostgroup": {Target: &decisionv1.SelectServerRequest_Hostgroup{Hostgroup: -1}},

		"guideline_pool": {Target: &decisionv1.SelectServerRequest_GuidelinePool{}},
		"router.port_ro": {
			Target: &decisionv1.SelectServerRequest_GuidelinePool{GuidelinePool: "all:r"}, Router: &decisionv1.Router{PortRo: 65536},
		},
	} {
		_, _, err := translate.SelectFromProto(req)
		var field *translate.FieldError
		if !errors.As(err, &field) || field.Field != want {
			t.Errorf("error %v, want one of field %s", err, want)
		}
	}
}

func TestSelectToProto(t *testing.T) {
	got := translate.SelectToProto(&decision.SelectResult{
		Index: 1, Eligible: 2, Rejections: []decision.Rejection{{Server: "a:1", Reason: "status SHUNNED"}},
		Server: &decision.Server{HostgroupID: 3, Hostname: "b", Port: proto.Uint32(3307), Status: new("ONLINE"), Weight: proto.Int64(5)},
	})
	want := &decisionv1.SelectServerResponse{
		Index: 1, Eligible: 2, Rejections: []*decisionv1.Rejection{{Server: "a:1", Reason: "status SHUNNED"}},
		Server: &decisionv1.Server{HostgroupId: 3, Hostname: "b", Port: 3307, Status: "ONLINE", Weight: 5},
	}
	if !proto.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := translate.SelectToProto(&decision.SelectResult{Index: -1}); got.GetIndex() != -1 || got.GetServer() != nil {
		t.Errorf("none: %v", got)
	}
}
