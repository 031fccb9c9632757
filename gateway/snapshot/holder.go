package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/store/lastgood"
)

// format is the number of the last good file's content: a full WatchGatewayConfigResponse.
const format = 1

// errNoStart ends a subscription that does not begin with its first message.
var errNoStart = errors.New("subscription does not begin with sequence 1")

// Watch is the subscription: it calls f with each message until ctx ends or f fails.
type Watch func(ctx context.Context, f func(*configv1.WatchGatewayConfigResponse) error) error

// Holder keeps the current snapshot.
type Holder struct {
	current  atomic.Pointer[Snapshot]
	path     string // of the last good copy; empty: none is kept
	site     *Site
	log      *slog.Logger
	onChange func(*Snapshot)
	first    chan struct{} // closed with the first snapshot
}

// NewHolder makes a holder and loads the last good copy, if there is one; a damaged copy is reported and counts as
// absent. path is the file of the copy, empty to keep none; site has at least one listener. onChange is called with every
// snapshot, the loaded one too, never twice at once.
func NewHolder(path string, site *Site, log *slog.Logger, onChange func(*Snapshot)) *Holder {
	h := &Holder{path: path, site: site, log: log, onChange: onChange, first: make(chan struct{})}
	if path == "" {
		return h
	}
	rec, err := lastgood.Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		return h
	}
	m := &configv1.WatchGatewayConfigResponse{}
	if err == nil && rec.Format != format {
		err = fmt.Errorf("format %d, this gateway reads %d", rec.Format, format)
	}
	if err == nil {
		err = proto.Unmarshal(rec.Bytes, m)
	}
	if err != nil {
		log.Error("last good configuration unusable, going on without it", "path", path, "error", err)
		return h
	}
	for _, s := range m.GetRuntime().GetServers() {
		s.Unavailable = "" // nobody knows that any more
	}
	h.set(m)
	log.Info("last good configuration loaded", "path", path, "generation", m.GetGeneration(), "saved", rec.Time)
	return h
}

// Current gives the snapshot in force, nil before the first.
func (h *Holder) Current() *Snapshot { return h.current.Load() }

// Site gives the gateway's place as guidelines see it.
func (h *Holder) Site() *Site { return h.site }

// First is closed once there is a snapshot.
func (h *Holder) First() <-chan struct{} { return h.first }

func (h *Holder) set(m *configv1.WatchGatewayConfigResponse) {
	before := h.current.Load()
	s := build(m, h.site, before)
	if problem := s.guiding.problem; problem != nil && (before == nil || before.guiding != s.guiding) {
		h.log.Error("routing guideline unusable: its statements are refused", "generation", s.Generation, "error", problem)
	}
	h.current.Store(s)
	if before == nil {
		close(h.first)
	}
	h.onChange(s)
}

// retryWait is how long the holder waits before it subscribes again after a subscription that made no sense.
const retryWait = time.Second

// Run follows the subscription until ctx ends. What goes wrong is reported; the snapshot in force stays meanwhile.
func (h *Holder) Run(ctx context.Context, watch Watch) {
	for ctx.Err() == nil {
		err := h.follow(ctx, watch)
		if ctx.Err() != nil {
			return
		}
		h.log.Error("gateway configuration can't be followed, going on with what is known", "error", err)
		t := time.NewTimer(retryWait)
		select {
		case <-t.C:
		case <-ctx.Done():
		}
		t.Stop()
	}
}

// follow goes through one subscription.
func (h *Holder) follow(ctx context.Context, watch Watch) error {
	var state *configv1.WatchGatewayConfigResponse // what the messages add up to
	return watch(ctx, func(m *configv1.WatchGatewayConfigResponse) error {
		if m.GetSequence() == 1 {
			state = &configv1.WatchGatewayConfigResponse{}
		}
		if state == nil {
			return errNoStart
		}
		merge(state, m)
		if m.GetGeneration() == 0 {
			return nil // nothing is published yet: the last good configuration stays
		}
		if state.GetUsers() == nil || state.GetServers() == nil || state.GetSettings() == nil {
			h.log.Error("incomplete configuration received and left alone", "generation", m.GetGeneration(), "sequence", m.GetSequence())
			return nil
		}
		h.set(state)
		level := slog.LevelInfo
		if onlyRuntime(m) {
			level = slog.LevelDebug // may come often, and says nothing new of the configuration
		}
		h.log.Log(ctx, level, "configuration received", "generation", state.GetGeneration(), "sequence", m.GetSequence())
		h.save(state)
		return nil
	})
}

// onlyRuntime tells whether a message brings nothing but what is known at run time.
func onlyRuntime(m *configv1.WatchGatewayConfigResponse) bool {
	return m.GetRuntime() != nil && m.GetUsers() == nil && m.GetServers() == nil && m.GetSettings() == nil && m.GetGuideline() == nil
}

// merge replaces the parts of state that m brings.
func merge(state, m *configv1.WatchGatewayConfigResponse) {
	state.Generation = m.GetGeneration()
	if m.GetUsers() != nil {
		state.Users = m.GetUsers()
	}
	if m.GetServers() != nil {
		state.Servers = m.GetServers()
	}
	if m.GetSettings() != nil {
		state.Settings = m.GetSettings()
	}
	if m.GetGuideline() != nil {
		state.Guideline = m.GetGuideline()
	}
	if m.GetRuntime() != nil {
		state.Runtime = m.GetRuntime()
	}
}

// save writes the last good copy. A failure is reported and does no harm until a start without the service.
func (h *Holder) save(state *configv1.WatchGatewayConfigResponse) {
	if h.path == "" {
		return
	}
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(state)
	if err == nil {
		err = lastgood.Save(h.path, lastgood.Record{Generation: state.GetGeneration(), Format: format, Time: time.Now(), Bytes: raw})
	}
	if err != nil {
		h.log.Error("last good configuration not saved", "path", h.path, "error", err)
	}
}
