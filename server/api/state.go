package api

import (
	"context"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/state"
)

var kindsToProto = [...]configv1.ConfigState{
	state.Empty:   configv1.ConfigState_CONFIG_STATE_EMPTY,
	state.Current: configv1.ConfigState_CONFIG_STATE_CURRENT,
	state.Stale:   configv1.ConfigState_CONFIG_STATE_STALE,
	state.Invalid: configv1.ConfigState_CONFIG_STATE_INVALID,
}

// GetConfigState tells what this server knows; the store is not asked.
func (s *Config) GetConfigState(context.Context, *configv1.GetConfigStateRequest) (*configv1.GetConfigStateResponse, error) {
	now := s.state.Load()
	return &configv1.GetConfigStateResponse{
		State:             kindsToProto[now.Kind],
		RunningGeneration: now.Running,
		NewestGeneration:  now.Newest,
		Rejection:         rejectionToProto(now.Rejection),
		RunningProblem:    valid(now.Problem),
	}, nil
}
