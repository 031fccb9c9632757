package api

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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

	// overtakenWait bounds how long a publication starts again because others came first. A caller's deadline that ends
	// sooner counts too, less answerTime so that the caller still hears why.
	overtakenWait = 30 * time.Second
	answerTime    = 100 * time.Millisecond
	// The pauses between such tries are drawn between 0 and a limit that doubles from the first to the second.
	minOvertakenPause = 20 * time.Millisecond
	maxOvertakenPause = 320 * time.Millisecond
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
	end := time.Now().Add(overtakenWait)
	if deadline, ok := ctx.Deadline(); ok && deadline.Add(-answerTime).Before(end) {
		end = deadline.Add(-answerTime)
	}
	for limit := minOvertakenPause; ; limit = min(2*limit, maxOvertakenPause) {
		manifest, problems, err := s.publishOnce(ctx, req, meta)
		if !errors.Is(err, store.ErrConflict) || req.ExpectedGeneration != nil {
			return manifest, problems, err
		}
		// Another came first; it may have changed passwords that this one keeps.
		pause := rand.N(limit) //nolint:gosec // It spreads load: nothing is guarded by it.
		if time.Now().Add(pause).After(end) {
			return store.Manifest{}, nil, fmt.Errorf("publish: %w", store.ErrOvertaken)
		}
		select {
		case <-ctx.Done():
			return store.Manifest{}, nil, ctx.Err()
		case <-time.After(pause):
		}
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
	problems, err := s.compile(ctx, head.Generation+1, cfg)
	if err != nil {
		return store.Manifest{}, nil, err
	}
	if problems.HasErrors() {
		s.record(ctx, head, cfg, meta, problems)
		return store.Manifest{}, nil, &loaded.ProblemsError{Problems: problems}
	}
	stored, err := translate.Marshal(cfg)
	if err != nil {
		return store.Manifest{}, nil, err
	}
	manifest, err := s.store.Publish(ctx, store.Content{Bytes: stored, Format: translate.Format}, meta, &head.Generation)
	return manifest, problems, err
}

// compile gives the problems of a configuration that shall be published. One is compiled at a time; the error is the
// context's.
func (s *Config) compile(ctx context.Context, generation uint64, cfg *configv1.Config) (decision.Problems, error) {
	leave, err := occupy(ctx, s.publishing)
	if err != nil {
		return nil, err
	}
	defer leave()
	_, problems := decision.Compile(generation, translate.ConfigFromProto(cfg))
	return problems, ctx.Err()
}

// keepPasswords fills in the passwords of the generation that head names. Where the store has none, or none that can be
// read, those of the generation in force here count: it must stay possible to publish over what is damaged or lost.
func (s *Config) keepPasswords(ctx context.Context, cfg *configv1.Config, head store.Head) (*configv1.Config, error) {
	var running loaded.Credentials
	g := s.live.Current()
	if g != nil {
		running = g.Users
	}
	if head.Generation == 0 || g != nil && g.Number == head.Generation && g.Digest == head.Digest {
		return running.FillIn(cfg), nil
	}
	stored, manifest, err := s.store.Fetch(ctx, head.Generation)
	if err != nil && !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if err == nil {
		var current *configv1.Config
		if current, err = translate.Unmarshal(manifest.Format, stored); err == nil {
			return loaded.NewCredentials(current.GetUsers()).FillIn(cfg), nil
		}
	}
	s.log.WarnContext(ctx, "the passwords of the newest generation can't be read; those of the running one are kept",
		"generation", head.Generation, "running", s.live.Generation(), "error", err)
	filled := running.FillIn(cfg)
	for _, u := range filled.GetUsers() {
		if u.Password == nil {
			return nil, errPasswords
		}
	}
	return filled, nil
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
