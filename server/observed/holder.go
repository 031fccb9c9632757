package observed

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/guideline"
)

// Holder holds what is known now, nothing at first. The zero Holder is ready for use by any number of goroutines; it must
// not be copied.
type Holder struct {
	current atomic.Pointer[decision.Runtime]

	mu      sync.Mutex
	changed chan struct{} // made when someone asks for it
}

var nothing decision.Runtime

// Current gives what is known, never nil. Do not change it. Whenever something changes it is another pointer.
func (h *Holder) Current() *decision.Runtime {
	if rt := h.current.Load(); rt != nil {
		return rt
	}
	return &nothing
}

// Changed gives a channel that is closed at the next change. To miss none, ask for it before reading Current.
func (h *Holder) Changed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed == nil {
		h.changed = make(chan struct{})
	}
	return h.changed
}

// SetServers says what is known of servers, in place of what was. The map must not change any more.
func (h *Holder) SetServers(servers map[string]decision.ServerState) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if old := h.Current(); !maps.Equal(old.Servers, servers) {
		h.swap(&decision.Runtime{Servers: servers, Names: old.Names})
	}
}

// SetNames says which addresses names have, in place of what was known. The map must not change any more.
func (h *Holder) SetNames(names guideline.Names) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if old := h.Current(); !maps.Equal(old.Names, names) {
		h.swap(&decision.Runtime{Servers: old.Servers, Names: names})
	}
}

func (h *Holder) swap(rt *decision.Runtime) {
	h.current.Store(rt)
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
}
