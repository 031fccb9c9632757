package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// ErrNotReached means that the generation asked for was not in force before the context ended.
var ErrNotReached = errors.New("generation not reached")

// Holder holds the generation in force, none at first. The zero Holder is ready for use, by any number of goroutines;
// it must not be copied.
type Holder[T any] struct {
	current atomic.Pointer[numbered[T]]

	mu      sync.Mutex
	changed chan struct{} // made when someone asks for it
}

// numbered is a generation with its number, so that both are read at once.
type numbered[T any] struct {
	number     uint64
	generation *T
}

// Current gives the generation in force, nil before the first. It costs two loads and never waits.
func (h *Holder[T]) Current() *T {
	if c := h.current.Load(); c != nil {
		return c.generation
	}
	return nil
}

// Generation gives the number of the generation in force, 0 before the first.
func (h *Holder[T]) Generation() uint64 {
	if c := h.current.Load(); c != nil {
		return c.number
	}
	return 0
}

// Swap brings generation n into force if n is higher than the number in force, and reports whether it did. g must not
// be nil and must not change any more.
func (h *Holder[T]) Swap(n uint64, g *T) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n <= h.Generation() {
		return false
	}
	h.current.Store(&numbered[T]{n, g})
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
	return true
}

// Changed gives a channel that is closed at the next swap. To miss none, ask for it before reading Current.
func (h *Holder[T]) Changed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed == nil {
		h.changed = make(chan struct{})
	}
	return h.changed
}

// AtLeast waits until generation n or a higher one is in force and gives it; with n = 0 it waits for the first. When
// ctx ends before, the error wraps ErrNotReached and the context's cause, and its text has both numbers.
func (h *Holder[T]) AtLeast(ctx context.Context, n uint64) (*T, error) {
	for {
		if c := h.current.Load(); c != nil && c.number >= n {
			return c.generation, nil
		}
		changed := h.Changed()
		if c := h.current.Load(); c != nil && c.number >= n { // swapped before there was the channel
			return c.generation, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for generation %d, %d is in force: %w: %w", n, h.Generation(), ErrNotReached, context.Cause(ctx))
		}
	}
}
