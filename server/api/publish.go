package api

import (
	"context"
	"errors"
	"time"

	"github.com/pointsman/pointsman/decision"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/translate"
	"github.com/pointsman/pointsman/store"
)

const (
	maxAuthorBytes = 256
	maxNoteBytes   = 4096

	// publishTries bounds how often a publication starts again because another one came first.
	publishTries = 16
	// takeoverWait bounds how long a publisher waits for this server to run what was published.
	takeoverWait = 5 * time.Second
)

// PublishConfig makes a configuration the next generation.
func (s *Config) PublishConfig(ctx context.Context, req *configv1.PublishConfigRequest) (*configv1.PublishConfigResponse, error) {
	manifest, problems, err := s.publish(ctx, req)
	if err := s.published(ctx, &manifest, err); err != nil {
		return nil, err
	}
	return &configv1.PublishConfigResponse{
		Generation: manifest.Generation,
		Digest:     manifest.Digest,
		Problems:   translate.ProblemsToProto(problems),
	}, nil
}

// RollbackConfig publishes an old configuration again. It must still compile.
func (s *Config) RollbackConfig(ctx context.Context, req *configv1.RollbackConfigRequest) (*configv1.RollbackConfigResponse, error) {
	manifest, err := s.rollback(ctx, req)
	if err := s.published(ctx, &manifest, err); err != nil {
		return nil, err
	}
	return &configv1.RollbackConfigResponse{Generation: manifest.Generation, Digest: manifest.Digest}, nil
}

// published counts and logs the outcome. After a success it waits for a while until this server runs the new
// generation, so that the publisher's next call sees it.
func (s *Config) published(ctx context.Context, m *store.Manifest, err error) error {
	if err != nil {
		s.metrics.Published(reasonOf(err))
		return toStatus(err)
	}
	s.metrics.Published("ok")
	s.log.InfoContext(ctx, "published", "generation", m.Generation, "digest", m.Digest, "rollback_of", m.RollbackOf,
		"author", m.Author, "note", m.Note)
	waitCtx, cancel := context.WithTimeout(ctx, takeoverWait)
	defer cancel()
	if _, err := s.live.AtLeast(waitCtx, m.Generation); err != nil {
		s.log.WarnContext(ctx, "a published generation is not in force here yet", "generation", m.Generation, "running", s.live.Generation())
	}
	return nil
}

func (s *Config) publish(ctx context.Context, req *configv1.PublishConfigRequest) (store.Manifest, decision.Problems, error) {
	if err := checkConfig(req.GetConfig()); err != nil {
		return store.Manifest{}, nil, err
	}
	meta, err := s.meta(req.GetAuthor(), req.GetNote())
	if err != nil {
		return store.Manifest{}, nil, err
	}
	for try := 1; ; try++ {
		manifest, problems, err := s.publishOnce(ctx, req, meta)
		if errors.Is(err, store.ErrConflict) && req.ExpectedGeneration == nil && try < publishTries && ctx.Err() == nil {
			continue // another came first; it may have changed passwords that this one keeps
		}
		return manifest, problems, err
	}
}

// publishOnce publishes on top of the generation in force, whose passwords are kept where none are given.
func (s *Config) publishOnce(ctx context.Context, req *configv1.PublishConfigRequest, meta store.Meta) (store.Manifest, decision.Problems, error) {
	head, err := s.store.Head(ctx)
	if err != nil {
		return store.Manifest{}, nil, err
	}
	if req.ExpectedGeneration != nil && req.GetExpectedGeneration() != head.Generation {
		return store.Manifest{}, nil, &store.ConflictError{Expected: req.GetExpectedGeneration(), Current: head.Generation}
	}
	cfg, err := s.keepPasswords(ctx, req.GetConfig(), head)
	if err != nil {
		return store.Manifest{}, nil, err
	}
	_, problems := decision.Compile(head.Generation+1, translate.ConfigFromProto(cfg))
	if problems.HasErrors() {
		return store.Manifest{}, nil, &loaded.ProblemsError{Problems: problems}
	}
	stored, err := translate.Marshal(cfg)
	if err != nil {
		return store.Manifest{}, nil, err
	}
	manifest, err := s.store.Publish(ctx, store.Content{Bytes: stored, Format: translate.Format}, meta, &head.Generation)
	return manifest, problems, err
}

// keepPasswords fills in the passwords of the generation that head names.
func (s *Config) keepPasswords(ctx context.Context, cfg *configv1.Config, head store.Head) (*configv1.Config, error) {
	if head.Generation == 0 {
		return cfg, nil
	}
	if g := s.live.Current(); g != nil && g.Number == head.Generation && g.Digest == head.Digest {
		return g.Users.FillIn(cfg), nil
	}
	stored, manifest, err := s.store.Fetch(ctx, head.Generation)
	var current *configv1.Config
	if err == nil {
		current, err = translate.Unmarshal(manifest.Format, stored)
	}
	switch {
	case err == nil:
		return loaded.NewCredentials(current.GetUsers()).FillIn(cfg), nil
	case errors.Is(err, store.ErrCorrupt), errors.Is(err, translate.ErrFormat):
		// It must stay possible to publish over what can't be read.
		for _, u := range cfg.GetUsers() {
			if u.Password == nil {
				return nil, errPasswords
			}
		}
		return cfg, nil
	default:
		return nil, err
	}
}

func (s *Config) rollback(ctx context.Context, req *configv1.RollbackConfigRequest) (store.Manifest, error) {
	generation := req.GetGeneration()
	if generation == 0 {
		return store.Manifest{}, badField("generation", "it is required")
	}
	meta, err := s.meta(req.GetAuthor(), req.GetNote())
	if err != nil {
		return store.Manifest{}, err
	}
	stored, manifest, err := s.store.Fetch(ctx, generation)
	if err != nil {
		return store.Manifest{}, err
	}
	if _, err := loaded.Load(generation, manifest.Digest, manifest.Format, stored); err != nil {
		return store.Manifest{}, &refusedError{generation: generation, cause: err}
	}
	return s.store.Rollback(ctx, generation, meta, req.ExpectedGeneration)
}

// meta checks who publishes and why.
func (s *Config) meta(author, note string) (store.Meta, error) {
	if len(author) > maxAuthorBytes {
		return store.Meta{}, badField("author", "%d bytes are too many, the limit is %d", len(author), maxAuthorBytes)
	}
	if len(note) > maxNoteBytes {
		return store.Meta{}, badField("note", "%d bytes are too many, the limit is %d", len(note), maxNoteBytes)
	}
	return store.Meta{Author: author, Note: note, Above: s.live.Generation()}, nil
}
