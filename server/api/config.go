package api

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/live"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/metrics"
	"github.com/pointsman/pointsman/server/observed"
	"github.com/pointsman/pointsman/server/state"
	"github.com/pointsman/pointsman/server/translate"
	"github.com/pointsman/pointsman/store"
)

// validateWait bounds how long a validation waits for the store, without which it can do.
const validateWait = 2 * time.Second

// Store is what the ConfigService needs of package store.
type Store interface {
	Head(ctx context.Context) (store.Head, error)
	Fetch(ctx context.Context, generation uint64) ([]byte, store.Manifest, error)
	List(ctx context.Context, limit int) ([]store.Manifest, error)
	Reject(ctx context.Context, head store.Head, r store.Rejection) error
	Publish(ctx context.Context, content store.Content, meta store.Meta, expected *uint64) (store.Manifest, error)
	Rollback(ctx context.Context, generation uint64, meta store.Meta, expected *uint64) (store.Manifest, error)
}

// Config answers the ConfigService.
type Config struct {
	configv1.UnimplementedConfigServiceServer

	store    Store
	live     *live.Holder[loaded.Generation]
	observed *observed.Holder
	state    *state.Holder
	metrics  *metrics.Metrics
	log      *slog.Logger
	stop     <-chan struct{}

	// Each is full while a configuration is looked at for that purpose: so no number of such calls takes all processors,
	// and none of the purposes waits for another.
	validating, linting, publishing, reporting chan struct{}
}

// NewConfig makes the service. Its streams end when stop is closed.
func NewConfig(st Store, holder *live.Holder[loaded.Generation], seen *observed.Holder, states *state.Holder, m *metrics.Metrics, log *slog.Logger, stop <-chan struct{}) *Config {
	return &Config{
		store: st, live: holder, observed: seen, state: states, metrics: m, log: log, stop: stop,
		validating: make(chan struct{}, 1), linting: make(chan struct{}, 1), publishing: make(chan struct{}, 1),
		reporting: make(chan struct{}, 1),
	}
}

// occupy waits for a place as long as ctx allows; leave gives it back. The error is the context's.
func occupy(ctx context.Context, places chan struct{}) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ValidateConfig gives all problems of a configuration. One is validated at a time.
func (s *Config) ValidateConfig(ctx context.Context, req *configv1.ValidateConfigRequest) (*configv1.ValidateConfigResponse, error) {
	leave, err := occupy(ctx, s.validating)
	if err != nil {
		return nil, toStatus(err)
	}
	defer leave()
	if err := checkConfig(req.GetConfig()); err != nil {
		return nil, toStatus(err)
	}
	cfg, err := s.completed(ctx, req.GetConfig())
	if err != nil {
		return nil, toStatus(err)
	}
	if err := ctx.Err(); err != nil {
		return nil, toStatus(err)
	}
	_, problems := decision.Compile(s.live.Generation()+1, translate.ConfigFromProto(cfg))
	return &configv1.ValidateConfigResponse{Problems: translate.ProblemsToProto(problems)}, nil
}

// completed fills in the passwords that a publication would keep. Without the store these are the running ones.
func (s *Config) completed(ctx context.Context, cfg *configv1.Config) (*configv1.Config, error) {
	storeCtx, cancel := context.WithTimeout(ctx, validateWait)
	defer cancel()
	head, err := s.store.Head(storeCtx)
	if err != nil {
		head = store.Head{}
	}
	filled, err := s.keepPasswords(storeCtx, cfg, head)
	if err != nil && !errors.Is(err, errPasswords) {
		return s.keepPasswords(ctx, cfg, store.Head{})
	}
	return filled, err
}

// checkConfig reports what makes a configuration no configuration for this release.
func checkConfig(cfg *configv1.Config) error {
	if cfg == nil {
		return badField("config", "it is required")
	}
	if path := translate.UnknownField(cfg); path != "" {
		return badField(path, "it has a field that this server's release does not know")
	}
	return nil
}

// GetConfig gives a stored configuration without its credentials.
func (s *Config) GetConfig(ctx context.Context, req *configv1.GetConfigRequest) (*configv1.GetConfigResponse, error) {
	generation := req.GetGeneration()
	if req.Generation == nil {
		head, err := s.store.Head(ctx)
		if err != nil {
			return nil, toStatus(err)
		}
		generation = head.Generation
	}
	stored, manifest, err := s.store.Fetch(ctx, generation)
	if err != nil {
		return nil, toStatus(err)
	}
	cfg, err := translate.Unmarshal(manifest.Format, stored)
	if err != nil {
		return nil, toStatus(err)
	}
	return &configv1.GetConfigResponse{Generation: manifestToProto(&manifest), Config: loaded.Strip(cfg)}, nil
}

// ListGenerations gives the stored generations.
func (s *Config) ListGenerations(ctx context.Context, req *configv1.ListGenerationsRequest) (*configv1.ListGenerationsResponse, error) {
	manifests, err := s.store.List(ctx, int(req.GetLimit()))
	if err != nil {
		return nil, toStatus(err)
	}
	resp := &configv1.ListGenerationsResponse{RunningGeneration: s.live.Generation()}
	for i := range manifests {
		resp.Generations = append(resp.Generations, manifestToProto(&manifests[i]))
	}
	return resp, nil
}

func manifestToProto(m *store.Manifest) *configv1.Generation {
	return &configv1.Generation{
		Generation: m.Generation,
		Digest:     m.Digest,
		RollbackOf: m.RollbackOf,
		Author:     m.Author,
		Note:       m.Note,
		CreateTime: timestamppb.New(m.Time),
		SizeBytes:  uint64(max(m.Size, 0)),
	}
}
