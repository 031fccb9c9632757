// Package memstore keeps generations in memory, for tests of the server. It behaves as package store does, without etcd.
package memstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pointsman/pointsman/store"
)

// StoreID is the id of every Store.
const StoreID = "00000000-0000-4000-8000-000000000000"

type generation struct {
	manifest store.Manifest
	content  []byte
}

// Store is a store in memory. The zero value is empty and ready.
type Store struct {
	mu          sync.Mutex
	generations []generation
	rejection   *store.Rejection
	changed     chan struct{}
	failure     error
	unreadable  error
	before      func()
}

// Fail makes all calls fail with err; nil ends that.
func (s *Store) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = err
	s.wake()
}

// FailFetch makes Fetch fail with err; nil ends that.
func (s *Store) FailFetch(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unreadable = err
	s.wake()
}

// BeforePublish calls f before each publication takes effect, outside of the lock.
func (s *Store) BeforePublish(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = f
}

// Put publishes bytes as they are.
func (s *Store) Put(content []byte, format uint32) store.Manifest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(content, store.Manifest{Format: format})
}

// wake tells followers that something happened.
func (s *Store) wake() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

func (s *Store) add(content []byte, m store.Manifest) store.Manifest {
	sum := sha256.Sum256(content)
	m.Digest, m.Size = hex.EncodeToString(sum[:]), int64(len(content))
	m.Generation = max(m.Generation, s.head().Generation+1)
	m.Time = time.Now().UTC()
	s.generations = append(s.generations, generation{m, slices.Clone(content)})
	s.rejection = nil
	s.wake()
	return m
}

func (s *Store) head() store.Head {
	if len(s.generations) == 0 {
		return store.Head{StoreID: StoreID, Rejection: s.rejection}
	}
	m := s.generations[len(s.generations)-1].manifest
	return store.Head{
		StoreID: StoreID, Generation: m.Generation, Digest: m.Digest, Format: m.Format, Size: m.Size, Time: m.Time,
		Rejection: s.rejection,
	}
}

// Head is as in package store.
func (s *Store) Head(context.Context) (store.Head, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.head(), s.failure
}

// Fetch is as in package store.
func (s *Store) Fetch(_ context.Context, number uint64) ([]byte, store.Manifest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != nil {
		return nil, store.Manifest{}, s.failure
	}
	if s.unreadable != nil {
		return nil, store.Manifest{}, fmt.Errorf("fetch generation %d: %w", number, s.unreadable)
	}
	for _, g := range s.generations {
		if g.manifest.Generation == number {
			return slices.Clone(g.content), g.manifest, nil
		}
	}
	return nil, store.Manifest{}, fmt.Errorf("generation %d: %w", number, store.ErrNotFound)
}

// List is as in package store.
func (s *Store) List(_ context.Context, limit int) ([]store.Manifest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []store.Manifest
	for _, g := range slices.Backward(s.generations) {
		if limit == 0 || len(out) < limit {
			out = append(out, g.manifest)
		}
	}
	return out, s.failure
}

// Publish is as in package store.
func (s *Store) Publish(_ context.Context, content store.Content, meta store.Meta, expected *uint64) (store.Manifest, error) {
	s.mu.Lock()
	before := s.before
	s.mu.Unlock()
	if before != nil {
		before()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != nil {
		return store.Manifest{}, s.failure
	}
	if current := s.head().Generation; expected != nil && *expected != current {
		return store.Manifest{}, &store.ConflictError{Expected: *expected, Current: current}
	}
	return s.add(content.Bytes, store.Manifest{
		Generation: meta.Above + 1, Format: content.Format, Author: meta.Author, Note: meta.Note,
	}), nil
}

// Rollback is as in package store.
func (s *Store) Rollback(ctx context.Context, number uint64, meta store.Meta, expected *uint64) (store.Manifest, error) {
	content, old, err := s.Fetch(ctx, number)
	if err != nil {
		return store.Manifest{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if current := s.head().Generation; expected != nil && *expected != current {
		return store.Manifest{}, &store.ConflictError{Expected: *expected, Current: current}
	}
	return s.add(content, store.Manifest{
		Generation: meta.Above + 1, Format: old.Format, RollbackOf: number, Author: meta.Author, Note: meta.Note,
	}), nil
}

// Reject is as in package store.
func (s *Store) Reject(_ context.Context, head store.Head, r store.Rejection) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != nil {
		return s.failure
	}
	if current := s.head().Generation; head.Generation != current {
		return &store.ConflictError{Expected: head.Generation, Current: current}
	}
	s.rejection = &r
	s.wake()
	return nil
}

// Follow is as in package store, without alarms and without pauses: what failed is tried again at the next change.
func (s *Store) Follow(ctx context.Context, o store.FollowOptions) {
	seen := o.Running
	for {
		s.mu.Lock()
		head, failure := s.head(), s.failure
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		changed := s.changed
		s.mu.Unlock()
		if failure == nil && o.OnRead != nil {
			o.OnRead(head)
		}
		if failure == nil && head.Generation > seen.Generation && o.OnHead(ctx, head) == nil {
			seen = head
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}
