package translate

import (
	"github.com/pointsman/pointsman/decision"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// DefaultMaxLatencyMS is the setting default_max_latency_ms where there is no configuration.
const DefaultMaxLatencyMS = 1000

// SelectFromProto gives the core's form of a request for a server; its seed is 0 when req has none. For candidates the
// list is not nil, for a hostgroup or a guideline's pool it is. Which pool, and for which router, is the caller's to look at.
// The error is a *FieldError.
func SelectFromProto(req *decisionv1.SelectServerRequest) (decision.SelectRequest, []decision.Candidate, error) {
	out := decision.SelectRequest{
		Seed:        req.GetSeed(),
		Exclude:     req.GetExclude(),
		Connections: req.GetConnections(),
		MaxLagMS:    req.MaxLagMs,
		Explain:     req.GetExplain(),
	}
	switch target := req.GetTarget().(type) {
	case *decisionv1.SelectServerRequest_Hostgroup:
		if target.Hostgroup < 0 {
			return out, nil, fieldError("hostgroup", "%d is negative", target.Hostgroup)
		}
		out.Hostgroup = target.Hostgroup
		return out, nil, nil
	case *decisionv1.SelectServerRequest_GuidelinePool:
		if target.GuidelinePool == "" {
			return out, nil, fieldError("guideline_pool", "it is empty: give one of the pools that a decision's guideline names")
		}
		return out, nil, checkRouter("router", req.GetRouter())
	case *decisionv1.SelectServerRequest_Candidates:
		list := make([]decision.Candidate, len(target.Candidates.GetCandidates()))
		for i, c := range target.Candidates.GetCandidates() {
			list[i] = decision.Candidate{
				Index:                 c.Index,
				Weight:                c.Weight,
				Status:                c.GetStatus(),
				CurrentConnections:    c.GetCurrentConnections(),
				MaxConnections:        c.MaxConnections,
				CurrentReplicationLag: c.CurrentReplicationLag,
				MaxReplicationLag:     c.GetMaxReplicationLag(),
				CurrentLatencyUS:      c.GetCurrentLatencyUs(),
				MaxLatencyUS:          c.GetMaxLatencyUs(),
			}
		}
		return out, list, nil
	}
	return out, nil, fieldError("target", "it is required: give hostgroup, guideline_pool or candidates")
}

// SelectToProto gives the API's form of a draw. The field generation is the caller's to fill in.
func SelectToProto(r *decision.SelectResult) *decisionv1.SelectServerResponse {
	resp := &decisionv1.SelectServerResponse{
		Index:    int32(r.Index),
		Eligible: uint32(r.Eligible),
	}
	if r.Server != nil {
		s := serverToProto(r.Server)
		resp.Server = &decisionv1.Server{
			HostgroupId: s.GetHostgroupId(),
			Hostname:    s.GetHostname(),
			Port:        s.GetPort(),
			Status:      s.GetStatus(),
			Weight:      s.GetWeight(),
		}
	}
	for _, rejected := range r.Rejections {
		resp.Rejections = append(resp.Rejections, &decisionv1.Rejection{Server: rejected.Server, Reason: rejected.Reason})
	}
	return resp
}
