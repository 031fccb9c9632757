package feed_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pointsman/pointsman/server/internal/memstore"
	"github.com/pointsman/pointsman/server/translate"
	"github.com/pointsman/pointsman/store"
	"github.com/pointsman/pointsman/store/lastgood"
)

func TestSavesAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "absent")
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, &memstore.Store{}, filepath.Join(dir, "lastgood"))
		f.start(t)
		f.store.Put(good(t, 1), translate.Format)
		f.await(t, 1)
		<-time.After(store.DefaultFollowInterval + time.Second)
		if n := f.value(t, "pointsman_last_good_saves_total", "error"); n != 2 {
			t.Errorf("%v failures after one interval, want 2", n)
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * store.DefaultFollowInterval)
		if n := f.value(t, "pointsman_last_good_saves_total", "ok"); n != 1 {
			t.Errorf("%v copies written, want 1", n)
		}
		if r, err := lastgood.Load(f.path); err != nil || r.Generation != 1 {
			t.Errorf("on disk: generation %d, error %v, want 1", r.Generation, err)
		}
	})
}

// What the store can't give is reported once, and taken over when the store is repaired.
func TestUnreadableGeneration(t *testing.T) {
	for name, cause := range map[string]error{"damaged": store.ErrCorrupt, "missing": store.ErrNotFound} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, &memstore.Store{}, filepath.Join(t.TempDir(), "lastgood"))
			f.start(t)
			rejects := func(n float64) func() bool {
				return func() bool { return f.value(t, "pointsman_rejects_total", "") == n }
			}
			f.store.FailFetch(cause)
			f.store.Put(good(t, 1), translate.Format)
			f.until(t, "the rejection", rejects(1))
			f.until(t, "the state", func() bool { return f.value(t, "pointsman_config_state", "invalid") == 1 })
			f.store.FailFetch(nil)
			f.await(t, 1)
			f.until(t, "the state", func() bool { return f.value(t, "pointsman_config_state", "current") == 1 })

			f.store.FailFetch(cause)
			f.store.Put(good(t, 2), translate.Format)
			f.until(t, "the second rejection", rejects(2))
			f.until(t, "the state", func() bool { return f.value(t, "pointsman_config_state", "stale") == 1 })
			f.store.FailFetch(cause) // tried again
			f.store.FailFetch(nil)
			f.await(t, 2)
			f.until(t, "the state", func() bool { return f.value(t, "pointsman_config_state", "current") == 1 })
			if !rejects(2)() {
				t.Error("a generation was counted as rejected more than once")
			}
		})
	}
}
