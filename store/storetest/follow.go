package storetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pointsman/pointsman/store"
)

// reader follows a store and remembers what it was told.
type reader struct {
	mu     sync.Mutex
	heads  []store.Head
	alarms []error
	reject error
}

// follow starts a reader that ends with the test.
func follow(t *testing.T, s *store.Store, running store.Head, interval time.Duration) *reader {
	t.Helper()
	r := &reader{}
	followed(t, s, store.FollowOptions{
		Interval: interval,
		Running:  running,
		OnHead: func(_ context.Context, h store.Head) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.heads = append(r.heads, h)
			return r.reject
		},
		OnAlarm: func(err error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.alarms = append(r.alarms, err)
		},
	})
	return r
}

// followed follows until the test ends.
func followed(t *testing.T, s *store.Store, o store.FollowOptions) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Follow(ctx, o)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
}

func (r *reader) offered() []store.Head {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clip(r.heads)
}

// last is the generation offered last, 0 if none was.
func (r *reader) last() uint64 {
	heads := r.offered()
	if len(heads) == 0 {
		return 0
	}
	return heads[len(heads)-1].Generation
}

func (r *reader) setReject(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reject = err
}

// alarmed says that there were n alarms and the last was want.
func (r *reader) alarmed(n int, want error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.alarms) == n && errors.Is(r.alarms[n-1], want)
}

func (r *reader) waitFor(t *testing.T, m store.Manifest) {
	t.Helper()
	Eventually(t, "the reader is offered the generation", func() bool { return r.last() == m.Generation })
	heads := r.offered()
	if h := heads[len(heads)-1]; h.Digest != m.Digest || h.PublicationID != m.PublicationID {
		t.Errorf("%+v", h)
	}
}

// waitConfirmed waits until head was read twice after now, so that what is there now was surely seen.
func waitConfirmed(t *testing.T, s *store.Store) {
	t.Helper()
	for range 2 {
		now := time.Now()
		Eventually(t, "head is confirmed", func() bool { return s.LastConfirmed().After(now) })
	}
}

func testFollow(t *testing.T, f *fixture) {
	r := follow(t, f.store, store.Head{}, 50*time.Millisecond)
	waitConfirmed(t, f.store)
	if r.last() != 0 {
		t.Error("generation 0 was offered")
	}
	for _, content := range []string{"a", "b", "b"} {
		r.waitFor(t, f.publish(t, content))
	}
	waitConfirmed(t, f.store)
	if n := len(r.offered()); n != 3 {
		t.Errorf("offered %d times", n)
	}
	r.setReject(errors.New("not now"))
	m := f.publish(t, "c")
	Eventually(t, "it is offered again after an error", func() bool { return len(r.offered()) > 5 })
	r.setReject(nil)
	r.waitFor(t, m)
	waitConfirmed(t, f.store)
	n := len(r.offered())
	waitConfirmed(t, f.store)
	if len(r.offered()) != n {
		t.Error("it was offered again after it was taken")
	}

	// With an interval this long only the watch can tell.
	watching := follow(t, f.store, store.Head{}, time.Hour)
	watching.waitFor(t, m)
	for _, content := range []string{"d", "e"} {
		watching.waitFor(t, f.publish(t, content))
	}
}

// testFollowRunning starts with what is in force already.
func testFollowRunning(t *testing.T, f *fixture) {
	f.publish(t, "a")
	running, err := f.store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := follow(t, f.store, store.Head{StoreID: running.StoreID, Generation: running.Generation, Digest: running.Digest}, 20*time.Millisecond)
	waitConfirmed(t, f.store)
	if len(r.offered()) != 0 {
		t.Error("what runs was offered")
	}
	r.waitFor(t, f.publish(t, "b"))

	// Same number, other content: not what runs.
	running.Generation, running.Digest = 2, "another"
	follow(t, f.store, running, 20*time.Millisecond).waitFor(t, f.publish(t, "c"))
}

// testFollowCompaction compacts what a reader missed while it was cut off.
func testFollowCompaction(t *testing.T, f *fixture) {
	s, proxy := f.throughProxy(t)
	r := follow(t, s, store.Head{}, 200*time.Millisecond)
	r.waitFor(t, f.publish(t, "before"))

	proxy.Cut()
	cut := time.Now()
	var last store.Manifest
	for _, content := range []string{"a", "b", "c"} {
		last = f.publish(t, content)
	}
	if _, err := f.etcd.Compact(t.Context(), f.revision(t)); err != nil {
		t.Fatal(err)
	}
	if s.LastConfirmed().After(cut) {
		t.Error("confirmed while cut off")
	}
	proxy.Heal()
	r.waitFor(t, last)
	if n := len(r.offered()); n != 2 {
		t.Errorf("offered %d times", n)
	}
	r.waitFor(t, f.publish(t, "after"))
}

func (f *fixture) revision(t *testing.T) int64 {
	t.Helper()
	resp, err := f.etcd.Get(t.Context(), f.prefix+"/head", clientv3.WithCountOnly())
	if err != nil {
		t.Fatal(err)
	}
	return resp.Header.GetRevision()
}

// testFollowOtherStore empties the store under a reader.
func testFollowOtherStore(t *testing.T, f *fixture) {
	r := follow(t, f.store, store.Head{}, 20*time.Millisecond)
	r.waitFor(t, f.publish(t, "a"))
	r.waitFor(t, f.publish(t, "b"))
	if _, err := f.etcd.Delete(t.Context(), f.prefix+"/", clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	Eventually(t, "there is an alarm", func() bool { return r.alarmed(1, store.ErrStoreChanged) })
	if n := len(r.offered()); n != 2 {
		t.Error("an empty store was offered")
	}
	r.waitFor(t, f.publish(t, "c"))
	heads := r.offered()
	if heads[2].Generation != 1 || heads[2].StoreID == heads[1].StoreID {
		t.Errorf("%+v", heads)
	}
}

// testFollowRestart ends etcd under a reader and starts it again.
func testFollowRestart(t *testing.T, f *fixture) {
	r := follow(t, f.store, store.Head{}, 200*time.Millisecond)
	r.waitFor(t, f.publish(t, "a"))
	for _, content := range []string{"b", "c"} {
		f.Stop(t)
		stopped := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		if _, err := f.store.Head(ctx); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("head of a stopped store: %v", err)
		}
		cancel()
		if f.store.LastConfirmed().After(stopped) {
			t.Error("a stopped store was confirmed")
		}
		f.Start(t)
		r.waitFor(t, f.publish(t, content))
	}
	if n := len(r.offered()); n != 3 {
		t.Errorf("offered %d times", n)
	}
}

// testRestoredBackup restores an older copy of the data under a reader.
func testRestoredBackup(t *testing.T, f *fixture) {
	r := follow(t, f.store, store.Head{}, 100*time.Millisecond)
	r.waitFor(t, f.publish(t, "a"))
	f.Stop(t)
	backup := t.TempDir()
	copyTree(t, f.Dir, backup)
	f.Start(t)
	for _, content := range []string{"b", "c"} {
		r.waitFor(t, f.publish(t, content))
	}

	f.Stop(t)
	removeTree(t, f.Dir)
	copyTree(t, backup, f.Dir)
	f.Start(t)
	Eventually(t, "there is an alarm", func() bool { return r.alarmed(1, store.ErrWentBack) })
	f.publish(t, "lost")
	waitConfirmed(t, f.store)
	if r.last() != 3 {
		t.Errorf("an older generation was offered: %d", r.last())
	}
	m, err := f.store.Publish(t.Context(), store.Content{Bytes: []byte("d")}, store.Meta{Above: r.last()}, nil)
	if err != nil || m.Generation != 4 {
		t.Fatal(m, err)
	}
	r.waitFor(t, m)
	Eventually(t, "the alarm is over", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.alarms[len(r.alarms)-1] == nil
	})
}
