package api

import (
	"context"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/lint"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/translate"
)

// LintConfig gives the findings of a configuration, of a stored generation, or of the current one. One is linted
// at a time, and between the steps a caller who has gone ends it.
func (s *Config) LintConfig(ctx context.Context, req *configv1.LintConfigRequest) (*configv1.LintConfigResponse, error) {
	leave, err := occupy(ctx, s.linting)
	if err != nil {
		return nil, toStatus(err)
	}
	defer leave()
	cfg, generation, err := s.lintSubject(ctx, req)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, toStatus(err)
	}
	resp := &configv1.LintConfigResponse{Generation: generation}
	core := translate.ConfigFromProto(cfg)
	g, problems := decision.Compile(max(generation, 1), core)
	if problems.HasErrors() {
		resp.Problems = translate.ProblemsToProto(problems)
		return resp, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, toStatus(err)
	}
	resp.Findings = translate.FindingsToProto(lint.Check(core, g))
	return resp, nil
}

// lintSubject gives what is to be looked at and its generation; 0 for a configuration of the request.
func (s *Config) lintSubject(ctx context.Context, req *configv1.LintConfigRequest) (*configv1.Config, uint64, error) {
	var generation uint64
	switch subject := req.GetSubject().(type) {
	case *configv1.LintConfigRequest_Config:
		return subject.Config, 0, checkConfig(subject.Config)
	case *configv1.LintConfigRequest_Generation:
		generation = subject.Generation
	default:
		head, err := s.store.Head(ctx)
		if err != nil {
			return nil, 0, err
		}
		generation = head.Generation
	}
	stored, manifest, err := s.store.Fetch(ctx, generation)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, 0, err
	}
	cfg, err := translate.Unmarshal(manifest.Format, stored)
	return cfg, generation, err
}
