package state

import (
	"context"
	"log/slog"
	"sync"

	"github.com/pointsman/pointsman/server/metrics"
	"github.com/pointsman/pointsman/store"
)

// Holder holds the state. Its methods may be called by many goroutines.
type Holder struct {
	metrics *metrics.Metrics
	log     *slog.Logger

	mu      sync.Mutex
	facts   facts
	state   State
	changed chan struct{} // made when someone asks for it
}

// NewHolder makes a holder of the empty state. It shows the state in m and writes each change of it to log.
func NewHolder(m *metrics.Metrics, log *slog.Logger) *Holder {
	m.SetState(Empty.String())
	return &Holder{metrics: m, log: log}
}

// Load gives the state.
func (h *Holder) Load() State {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state
}

// Seen notes what the store says.
func (h *Holder) Seen(ctx context.Context, head store.Head) {
	h.metrics.Offered(head.Generation)
	h.change(ctx, func(f *facts) { f.newest, f.rejection = head.Generation, head.Rejection })
}

// Recall notes the refused publication that was known before a restart. What the store says later wins.
func (h *Holder) Recall(ctx context.Context, r *store.Rejection) {
	h.change(ctx, func(f *facts) { f.rejection = r })
}

// InForce notes that a generation was brought into force.
func (h *Holder) InForce(ctx context.Context, generation uint64) {
	h.change(ctx, func(f *facts) {
		f.running, f.newest = generation, max(f.newest, generation)
		f.refused, f.cause = 0, ""
	})
}

// Refused notes that a generation can't be brought into force here.
func (h *Holder) Refused(ctx context.Context, generation uint64, cause error) {
	h.change(ctx, func(f *facts) {
		f.newest = max(f.newest, generation)
		f.refused, f.cause = generation, cause.Error()
	})
}

// Alarm notes that the store is not what it was, or (nil) that it is again.
func (h *Holder) Alarm(ctx context.Context, alarm error) {
	h.metrics.SetAlarm(alarm != nil)
	h.change(ctx, func(f *facts) {
		f.alarm = ""
		if alarm != nil {
			f.alarm = alarm.Error()
		}
	})
}

// Await waits until done says so of the state, or ctx ends; it tells whether it did.
func (h *Holder) Await(ctx context.Context, done func(*State) bool) bool {
	for {
		h.mu.Lock()
		state := h.state
		if h.changed == nil {
			h.changed = make(chan struct{})
		}
		changed := h.changed
		h.mu.Unlock()
		if done(&state) {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

func (h *Holder) change(ctx context.Context, how func(*facts)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.state
	how(&h.facts)
	h.state = h.facts.state()
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
	if before.Kind != h.state.Kind {
		h.metrics.SetState(h.state.Kind.String())
	}
	h.tell(ctx, &before)
}

// tell logs a change of the kind, and each other rejection, once.
func (h *Holder) tell(ctx context.Context, before *State) {
	s := &h.state
	if r := s.Rejection; r != nil && !same(before.Rejection, r) {
		h.log.WarnContext(ctx, "a publication was refused; the generation in force stays",
			"state", s.Kind.String(), "running", s.Running, "author", r.Author, "note", r.Note, "time", r.Time,
			"digest", r.Digest, "cause", summary(r))
		return
	}
	if s.Kind != before.Kind {
		h.log.InfoContext(ctx, "the configuration's state changed", "state", s.Kind.String(), "before", before.Kind.String(),
			"running", s.Running, "newest", s.Newest)
	}
}

// same tells whether two records are of the same refusal.
func same(a, b *store.Rejection) bool {
	return a != nil && a.Time.Equal(b.Time) && a.Digest == b.Digest && a.Author == b.Author
}
