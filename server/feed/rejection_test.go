package feed_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pointsman/pointsman/server/internal/memstore"
	"github.com/pointsman/pointsman/server/state"
	"github.com/pointsman/pointsman/server/translate"
	"github.com/pointsman/pointsman/store"
	"github.com/pointsman/pointsman/store/lastgood"
)

func refusal(author string) store.Rejection {
	return store.Rejection{
		Author: author, Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Digest: "d", ProblemCount: 1,
		Problems: []store.Problem{{Path: "guideline", Message: "bad", Position: new(int32(3))}, {Severity: "warning", Message: "odd"}},
	}
}

// refuse puts a refusal on top of a generation into the store, and waits until the feed has seen it.
func (f *fixture) refuse(t *testing.T, generation uint64, author string) {
	t.Helper()
	if err := f.store.Reject(t.Context(), store.Head{Generation: generation}, refusal(author)); err != nil {
		t.Fatal(err)
	}
	f.until(t, "the refusal", func() bool { r := f.state.Load().Rejection; return r != nil && r.Author == author })
}

// restart gives a feed that has read what is on disk, while the store is away.
func (f *fixture) restart(t *testing.T) *fixture {
	t.Helper()
	again := newFixture(t, f.store, f.path)
	again.feed.LoadLastGood(t.Context())
	return again
}

// The state is right before the store is read, whatever the order of events was; then the store counts.
func TestRefusalIsKept(t *testing.T) {
	f := newFixture(t, &memstore.Store{}, filepath.Join(t.TempDir(), "lastgood"))
	f.feed.LoadLastGood(t.Context())
	f.start(t)
	want := func(f *fixture, kind state.Kind, author string) {
		t.Helper()
		s := f.state.Load()
		if s.Kind != kind || (s.Rejection == nil) != (author == "") {
			t.Fatalf("state %v with %+v, want %v with a refusal of %q", s.Kind, s.Rejection, kind, author)
		}
		if s.Rejection == nil {
			return
		}
		if diff := cmp.Diff(new(refusal(author)), s.Rejection); diff != "" {
			t.Error(diff)
		}
		f.wantState(t, kind.String())
	}

	f.refuse(t, 0, "ann")
	want(f.restart(t), state.Invalid, "ann")
	info, err := os.Stat(f.path + ".refused")
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}

	f.store.Put(good(t, 1), translate.Format)
	f.await(t, 1)
	f.until(t, "the copy on disk", func() bool { _, err := lastgood.Load(f.path); return err == nil })
	want(f.restart(t), state.Current, "")
	if _, err := os.Stat(f.path + ".refused"); !os.IsNotExist(err) {
		t.Errorf("the refusal is still on disk: %v", err)
	}

	f.refuse(t, 1, "ann")
	f.refuse(t, 1, "bob")
	want(f.restart(t), state.Stale, "bob")

	// Another server mends it while this one is away.
	away := f.restart(t)
	f.store.Put(good(t, 2), translate.Format)
	f.await(t, 2)
	want(away, state.Stale, "bob")
	away.start(t)
	away.await(t, 2)
	away.until(t, "the state", func() bool { return away.state.Load().Rejection == nil })
	want(away, state.Current, "")
}

// A server that ended after the next generation was saved, and before the refusal was removed.
func TestRefusalOfBefore(t *testing.T) {
	f := newFixture(t, &memstore.Store{}, filepath.Join(t.TempDir(), "lastgood"))
	f.start(t)
	f.store.Put(good(t, 1), translate.Format)
	f.await(t, 1)
	f.refuse(t, 1, "ann")
	old, err := os.ReadFile(f.path + ".refused")
	if err != nil {
		t.Fatal(err)
	}
	f.store.Put(good(t, 2), translate.Format)
	f.await(t, 2)
	f.until(t, "the copy on disk", func() bool { r, err := lastgood.Load(f.path); return err == nil && r.Generation == 2 })
	if err := os.WriteFile(f.path+".refused", old, 0o600); err != nil {
		t.Fatal(err)
	}
	again := f.restart(t)
	if s := again.state.Load(); s.Kind != state.Current || s.Rejection != nil {
		t.Errorf("state %+v", s)
	}
	again.start(t)
	again.until(t, "the end of the file", func() bool { _, err := os.Stat(f.path + ".refused"); return os.IsNotExist(err) })
}

func TestUselessRefusalOnDisk(t *testing.T) {
	for name, write := range map[string]func(path string) error{
		"damaged":    func(path string) error { return os.WriteFile(path, []byte("nonsense"), 0o600) },
		"no refusal": func(path string) error { return lastgood.Save(path, lastgood.Record{Format: 1, Bytes: []byte("[]")}) },
		"newer form": func(path string) error { return lastgood.Save(path, lastgood.Record{Format: 2, Bytes: []byte("{}")}) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, &memstore.Store{}, filepath.Join(t.TempDir(), "lastgood"))
			if err := write(f.path + ".refused"); err != nil {
				t.Fatal(err)
			}
			f.feed.LoadLastGood(t.Context())
			if s := f.state.Load(); s.Kind != state.Empty || !strings.Contains(f.log.String(), "level=ERROR") {
				t.Errorf("state %v, log\n%s", s.Kind, f.log)
			}
			f.start(t)
			f.until(t, "the end of the file", func() bool { _, err := os.Stat(f.path + ".refused"); return os.IsNotExist(err) })
		})
	}
}

// What can't be written is logged once, and written when head is read again.
func TestRefusalIsKeptLater(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "absent")
	f := newFixture(t, &memstore.Store{}, filepath.Join(dir, "lastgood"))
	f.start(t)
	f.refuse(t, 0, "ann")
	f.refuse(t, 0, "bob")
	if n := strings.Count(f.log.String(), "level=ERROR"); n != 1 {
		t.Errorf("%d errors are logged, want 1\n%s", n, f.log)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f.refuse(t, 0, "eve")
	if s := f.restart(t).state.Load(); s.Kind != state.Invalid || s.Rejection.Author != "eve" {
		t.Errorf("state %+v", s)
	}
}
