package feed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"github.com/pointsman/pointsman/decision/live"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/metrics"
	"github.com/pointsman/pointsman/server/translate"
	"github.com/pointsman/pointsman/store"
	"github.com/pointsman/pointsman/store/lastgood"
)

// Store is what a feed needs of package store.
type Store interface {
	Follow(ctx context.Context, o store.FollowOptions)
	Fetch(ctx context.Context, generation uint64) ([]byte, store.Manifest, error)
}

// Feed keeps a live holder at the newest generation that compiles.
type Feed struct {
	store   Store
	live    *live.Holder[loaded.Generation]
	path    string
	metrics *metrics.Metrics
	log     *slog.Logger

	running store.Head
	// unreadable is the head that was last rejected because it can't be read.
	unreadable store.Head

	mu sync.Mutex
	// unsaved is the record of the generation in force as long as it is not on disk.
	unsaved *lastgood.Record
}

// New makes a feed. The last good generation is kept at path; the folder must exist.
func New(st Store, holder *live.Holder[loaded.Generation], path string, m *metrics.Metrics, log *slog.Logger) *Feed {
	return &Feed{store: st, live: holder, path: path, metrics: m, log: log}
}

// LoadLastGood brings the copy on disk into force, if there is a good one. Call it before Run. A copy that is damaged
// or does not compile any more is as good as none, but is logged as an error.
func (f *Feed) LoadLastGood(ctx context.Context) {
	record, err := lastgood.Load(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		f.log.InfoContext(ctx, "no copy of a last good generation; waiting for the store", "path", f.path)
		return
	}
	var g *loaded.Generation
	if err == nil {
		g, err = loaded.Load(record.Generation, record.Digest, record.Format, record.Bytes)
	}
	if err != nil {
		f.log.ErrorContext(ctx, "the copy of the last good generation is of no use; waiting for the store", "path", f.path, "error", err)
		return
	}
	f.running = store.Head{StoreID: record.StoreID, Generation: record.Generation, Digest: record.Digest}
	f.takeOver(ctx, g, "disk")
}

// Run follows the store until ctx ends.
func (f *Feed) Run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { f.retrySaves(ctx) })
	f.store.Follow(ctx, store.FollowOptions{
		Running: f.running,
		OnHead:  f.offer,
		OnAlarm: func(err error) { f.metrics.SetAlarm(err != nil) },
	})
}

// offer takes a generation into force if it can be. An error means that it could not be looked at.
func (f *Feed) offer(ctx context.Context, head store.Head) error {
	f.metrics.Offered(head.Generation)
	stored, manifest, err := f.store.Fetch(ctx, head.Generation)
	if errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrNotFound) {
		f.rejectUnreadable(ctx, head, err)
	}
	if err != nil {
		return fmt.Errorf("offer generation %d: %w", head.Generation, err)
	}
	g, err := loaded.Load(manifest.Generation, manifest.Digest, manifest.Format, stored)
	if err != nil {
		f.reject(ctx, head, err)
		return nil
	}
	if !f.takeOver(ctx, g, "store") {
		f.reject(ctx, head, fmt.Errorf("it is not newer than generation %d, which is in force; publish again to go on", f.live.Generation()))
		return nil
	}
	f.save(ctx, &lastgood.Record{
		StoreID:    head.StoreID,
		Generation: manifest.Generation,
		Digest:     manifest.Digest,
		Format:     manifest.Format,
		Time:       time.Now().UTC(),
		Bytes:      stored,
	})
	return nil
}

// save writes the copy of the generation in force. What fails is logged and left to retrySaves.
func (f *Feed) save(ctx context.Context, r *lastgood.Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unsaved = nil
	err := lastgood.Save(f.path, *r)
	f.metrics.Saved(err)
	if err != nil {
		f.unsaved = r
		f.log.ErrorContext(ctx, "the generation in force could not be saved, it is tried again; a restart without the store would serve an older one",
			"generation", r.Generation, "error", err)
	}
}

// retrySaves tries again what save could not do, until ctx ends.
func (f *Feed) retrySaves(ctx context.Context) {
	ticker := time.NewTicker(store.DefaultFollowInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			f.retrySave(ctx)
		}
	}
}

func (f *Feed) retrySave(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unsaved == nil {
		return
	}
	err := lastgood.Save(f.path, *f.unsaved)
	f.metrics.Saved(err)
	if err == nil {
		f.log.InfoContext(ctx, "the generation in force is saved now", "generation", f.unsaved.Generation)
		f.unsaved = nil
	}
}

// takeOver brings a generation into force unless it is older than what is in force.
func (f *Feed) takeOver(ctx context.Context, g *loaded.Generation, source string) bool {
	if !f.live.Swap(g.Number, g) {
		return false
	}
	f.metrics.InForce(g.Core, time.Now(), g.Loading)
	f.metrics.SetState(metrics.Current)
	f.log.InfoContext(ctx, "a generation is in force", "generation", g.Number, "digest", g.Digest, "source", source)
	return true
}

// rejectUnreadable reports once that a generation is damaged in the store. It is still tried again: the store may be
// repaired.
func (f *Feed) rejectUnreadable(ctx context.Context, head store.Head, cause error) {
	this := store.Head{StoreID: head.StoreID, Generation: head.Generation, Digest: head.Digest}
	if f.unreadable == this {
		return
	}
	f.unreadable = this
	f.reject(ctx, head, cause)
}

// reject reports a generation that stays out of force.
func (f *Feed) reject(ctx context.Context, head store.Head, cause error) {
	state := metrics.Stale
	if f.live.Current() == nil {
		state = metrics.Invalid
	}
	f.metrics.Rejected()
	f.metrics.SetState(state)
	f.log.ErrorContext(ctx, "a generation is rejected", "generation", head.Generation, "digest", head.Digest,
		"running", f.live.Generation(), "state", state.String(), "error", cause)
	if problems, ok := errors.AsType[*loaded.ProblemsError](cause); ok {
		for _, p := range translate.ProblemsToProto(problems.Problems) {
			f.log.ErrorContext(ctx, "problem of a rejected generation", "generation", head.Generation, "rule_id", p.GetRuleId(),
				"path", p.GetPath(), "code", p.GetCode(), "message", p.GetMessage())
		}
	}
}
