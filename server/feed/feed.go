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
	"github.com/pointsman/pointsman/server/state"
	"github.com/pointsman/pointsman/server/translate"
	"github.com/pointsman/pointsman/store"
	"github.com/pointsman/pointsman/store/lastgood"
)

// Store is what a feed needs of package store.
type Store interface {
	Follow(ctx context.Context, o store.FollowOptions)
	Fetch(ctx context.Context, generation uint64) ([]byte, store.Manifest, error)
}

// Options are what a feed works with; all are required.
type Options struct {
	// Store is followed.
	Store Store
	// Live gets each generation that compiles.
	Live *live.Holder[loaded.Generation]
	// State is told what is read and what becomes of it.
	State *state.Holder
	// Prepare is called with each generation before it comes into force, e.g. to look up names. It must end by itself.
	Prepare func(context.Context, *loaded.Generation)
	// Path is where the last good generation is kept; the folder must exist. A refused publication is kept beside it.
	Path string
	// Metrics counts.
	Metrics *metrics.Metrics
	// Logger gets a line for each generation.
	Logger *slog.Logger
}

// Feed keeps a live holder at the newest generation that compiles.
type Feed struct {
	Options

	log     *slog.Logger
	running store.Head
	// unreadable is the head that was last rejected because it can't be read.
	unreadable store.Head

	// kept is the refused publication on disk; nil: it is not known what is there.
	kept *lastgood.Record
	// unkept says that it could not be written or removed.
	unkept bool

	mu sync.Mutex
	// unsaved is the record of the generation in force as long as it is not on disk.
	unsaved *lastgood.Record
}

// New makes a feed.
func New(o Options) *Feed { return &Feed{Options: o, log: o.Logger} }

// LoadLastGood brings the copy on disk into force, if there is a good one, and has the state tell what was refused since.
// Call it before Run. What is damaged or does not compile any more is as good as none, but is logged as an error.
func (f *Feed) LoadLastGood(ctx context.Context) {
	f.loadCopy(ctx)
	f.loadRejection(ctx)
}

func (f *Feed) loadCopy(ctx context.Context) {
	record, err := lastgood.Load(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		f.log.InfoContext(ctx, "no copy of a last good generation; waiting for the store", "path", f.Path)
		return
	}
	var g *loaded.Generation
	if err == nil {
		g, err = loaded.Load(record.Generation, record.Digest, record.Format, record.Bytes)
	}
	if err != nil {
		f.log.ErrorContext(ctx, "the copy of the last good generation is of no use; waiting for the store", "path", f.Path, "error", err)
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
	f.Store.Follow(ctx, store.FollowOptions{
		Running: f.running,
		OnRead: func(h store.Head) {
			f.keepRejection(ctx, &h) // before whoever waits for the state hears of it
			f.State.Seen(ctx, h)
		},
		OnHead:  f.offer,
		OnAlarm: func(err error) { f.State.Alarm(ctx, err) },
	})
}

// offer takes a generation into force if it can be. An error means that it could not be looked at.
func (f *Feed) offer(ctx context.Context, head store.Head) error {
	stored, manifest, err := f.Store.Fetch(ctx, head.Generation)
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
		f.reject(ctx, head, fmt.Errorf("it is not newer than generation %d, which is in force; publish again to go on", f.Live.Generation()))
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
	err := lastgood.Save(f.Path, *r)
	f.Metrics.Saved(err)
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
	err := lastgood.Save(f.Path, *f.unsaved)
	f.Metrics.Saved(err)
	if err == nil {
		f.log.InfoContext(ctx, "the generation in force is saved now", "generation", f.unsaved.Generation)
		f.unsaved = nil
	}
}

// takeOver brings a generation into force unless it is older than what is in force.
func (f *Feed) takeOver(ctx context.Context, g *loaded.Generation, source string) bool {
	if g.Number <= f.Live.Generation() {
		return false
	}
	f.Prepare(ctx, g)
	f.Metrics.InForce(g.Core, time.Now(), g.Loading)
	f.State.InForce(ctx, g.Number) // before whoever waits for the generation asks for the state
	f.Live.Swap(g.Number, g)
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
	f.Metrics.Rejected()
	f.State.Refused(ctx, head.Generation, cause)
	f.log.ErrorContext(ctx, "a generation is rejected", "generation", head.Generation, "digest", head.Digest,
		"running", f.Live.Generation(), "state", f.State.Load().Kind.String(), "error", cause)
	if problems, ok := errors.AsType[*loaded.ProblemsError](cause); ok {
		for _, p := range translate.ProblemsToProto(problems.Problems) {
			f.log.ErrorContext(ctx, "problem of a rejected generation", "generation", head.Generation, "rule_id", p.GetRuleId(),
				"path", p.GetPath(), "code", p.GetCode(), "message", p.GetMessage())
		}
	}
}
