package api

import (
	"context"
	"math/rand/v2"

	"github.com/pointsman/pointsman/decision"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/translate"
)

// SelectServer draws a server of a hostgroup or of a pool of the guideline in force, or one of the servers that the caller
// describes. The latter needs no generation, but takes default_max_latency_ms from the one in force, which the answer names.
func (s *Decision) SelectServer(_ context.Context, req *decisionv1.SelectServerRequest) (*decisionv1.SelectServerResponse, error) {
	ask, candidates, err := translate.SelectFromProto(req)
	if err != nil {
		return nil, toStatus(err)
	}
	if req.Seed == nil {
		ask.Seed = rand.Uint64() //nolint:gosec // a draw between servers, no secret
	}
	g := s.live.Current()
	if candidates != nil {
		maxLatencyMS := uint32(translate.DefaultMaxLatencyMS)
		if g != nil {
			maxLatencyMS = *g.Core.Settings().DefaultMaxLatencyMS
		}
		drawn, err := decision.SelectCandidates(candidates, &ask, maxLatencyMS)
		if err != nil {
			return nil, toStatus(err)
		}
		resp := translate.SelectToProto(&drawn)
		if g != nil {
			resp.Generation = g.Number
		}
		return resp, nil
	}
	if g == nil {
		return nil, toStatus(s.noGeneration())
	}
	var drawn decision.SelectResult
	if _, ok := req.GetTarget().(*decisionv1.SelectServerRequest_GuidelinePool); ok {
		if drawn, err = s.pools.draw(g, s.observed.Current(), req, &ask); err != nil {
			return nil, toStatus(err)
		}
	} else {
		drawn = g.Core.Select(&ask)
	}
	resp := translate.SelectToProto(&drawn)
	resp.Generation = g.Number
	return resp, nil
}
