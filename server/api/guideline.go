package api

import (
	"context"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/translate"
)

// GetGuideline tells how the guideline in force sees the servers now. One is looked at at a time.
func (s *Config) GetGuideline(ctx context.Context, req *configv1.GetGuidelineRequest) (*configv1.GetGuidelineResponse, error) {
	leave, err := occupy(ctx, s.reporting)
	if err != nil {
		return nil, toStatus(err)
	}
	defer leave()
	g := s.live.Current()
	if g == nil {
		return &configv1.GetGuidelineResponse{}, nil
	}
	guide := g.Core.Guide()
	if guide == nil {
		return &configv1.GetGuidelineResponse{Generation: g.Number}, nil
	}
	report := guide.NewPools(translate.RouterFromProto(req.GetRouter()), g.Core.Hostgroups(), g.Core.Servers(), s.observed.Current()).Report()
	resp := translate.ReportToProto(guide, &report)
	resp.Generation = g.Number
	return resp, nil
}
