package feed_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pointsman/pointsman/decision/live"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/feed"
	"github.com/pointsman/pointsman/server/internal/memstore"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/metrics"
	"github.com/pointsman/pointsman/server/state"
	"github.com/pointsman/pointsman/server/translate"
	"github.com/pointsman/pointsman/store"
	"github.com/pointsman/pointsman/store/lastgood"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a feed over a store in memory.
type fixture struct {
	store   *memstore.Store
	live    *live.Holder[loaded.Generation]
	state   *state.Holder
	metrics *metrics.Metrics
	feed    *feed.Feed
	path    string
	log     *logBuffer
	// prepared is the generation that was prepared last.
	prepared atomic.Uint64
}

// logBuffer is a buffer for many goroutines.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func newFixture(t *testing.T, st *memstore.Store, path string) *fixture {
	t.Helper()
	f := &fixture{store: st, live: &live.Holder[loaded.Generation]{}, metrics: metrics.New("test"), path: path, log: &logBuffer{}}
	log := slog.New(slog.NewTextHandler(f.log, nil))
	f.state = state.NewHolder(f.metrics, log)
	f.feed = feed.New(feed.Options{
		Store: st, Live: f.live, State: f.state, Path: path, Metrics: f.metrics, Logger: log,
		Prepare: func(_ context.Context, g *loaded.Generation) {
			if f.live.Generation() >= g.Number {
				t.Errorf("generation %d is prepared while %d is in force", g.Number, f.live.Generation())
			}
			f.prepared.Store(g.Number)
		},
	})
	return f
}

// start runs the feed until the test ends.
func (f *fixture) start(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { f.feed.Run(ctx) })
	t.Cleanup(func() { cancel(); wg.Wait() })
}

func (f *fixture) await(t *testing.T, generation uint64) *loaded.Generation {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	g, err := f.live.AtLeast(ctx, generation)
	if err != nil {
		t.Fatalf("generation %d: %v\n%s", generation, err, f.log)
	}
	return g
}

// until waits for a condition that nothing tells of.
func (f *fixture) until(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline:
			t.Fatalf("%s did not come\n%s", what, f.log)
		case <-tick.C:
		}
	}
}

func (f *fixture) wantState(t *testing.T, state string) {
	t.Helper()
	for _, s := range []string{"none", "current", "stale", "invalid"} {
		want := 0.0
		if s == state {
			want = 1
		}
		if got := f.value(t, "pointsman_config_state", s); got != want {
			t.Errorf("state %s is %v, want %v", s, got, want)
		}
	}
}

// value is that of a metric, with the given value of its label if it has one.
func (f *fixture) value(t *testing.T, name, label string) float64 {
	t.Helper()
	families, err := f.metrics.Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == name && (label == "" || m.GetLabel()[0].GetValue() == label) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return 0
}

func stored(t *testing.T, cfg *configv1.Config) []byte {
	t.Helper()
	b, err := translate.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func good(t *testing.T, hostgroup int32) []byte {
	t.Helper()
	password := ""
	return stored(t, &configv1.Config{Users: []*configv1.User{{Username: "app", Password: &password, DefaultHostgroup: hostgroup}}})
}

func bad(t *testing.T) []byte {
	t.Helper()
	pattern := "("
	return stored(t, &configv1.Config{QueryRules: []*configv1.QueryRule{{RuleId: 3, MatchDigest: &pattern}}})
}

func TestFollowsAndSaves(t *testing.T) {
	f := newFixture(t, &memstore.Store{}, filepath.Join(t.TempDir(), "lastgood"))
	f.feed.LoadLastGood(t.Context())
	f.wantState(t, "none")
	f.start(t)
	for n := range uint64(3) {
		want := f.store.Put(good(t, int32(n)), translate.Format)
		g := f.await(t, n+1)
		if g.Number != want.Generation || g.Digest != want.Digest {
			t.Fatalf("in force: generation %d %s, want %d %s", g.Number, g.Digest, want.Generation, want.Digest)
		}
		f.until(t, "the copy on disk", func() bool {
			r, err := lastgood.Load(f.path)
			return err == nil && r.Generation == n+1 && r.Digest == want.Digest && r.StoreID == memstore.StoreID
		})
	}
	f.wantState(t, "current")
}

func TestKeepsTheLastGood(t *testing.T) {
	tests := map[string]struct {
		content []byte
		format  uint32
		log     string
	}{
		"does not compile": {bad(t), translate.Format, "code="},
		"newer format":     {good(t, 1), translate.Format + 1, "newer form"},
		"not a message":    {[]byte{0xff, 0xff}, translate.Format, "unmarshal"},
		"unknown field":    {[]byte{0x82, 0x7d, 0}, translate.Format, "newer form"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, &memstore.Store{}, filepath.Join(t.TempDir(), "lastgood"))
			f.start(t)
			rejects := func(n float64) func() bool {
				return func() bool { return f.value(t, "pointsman_rejects_total", "") == n }
			}
			f.store.Put(tt.content, tt.format)
			f.until(t, "the rejection", rejects(1))
			f.wantState(t, "invalid")
			if f.live.Current() != nil {
				t.Fatal("a rejected generation is in force")
			}

			f.store.Put(good(t, 1), translate.Format)
			f.await(t, 2)
			f.store.Put(tt.content, tt.format)
			f.until(t, "the second rejection", rejects(2))
			f.wantState(t, "stale")
			if g := f.live.Current(); g.Number != 2 {
				t.Errorf("in force: generation %d, want 2", g.Number)
			}
			if r, err := lastgood.Load(f.path); err != nil || r.Generation != 2 {
				t.Errorf("on disk: generation %d, error %v, want 2", r.Generation, err)
			}
			if !strings.Contains(f.log.String(), tt.log) {
				t.Errorf("the log lacks %q:\n%s", tt.log, f.log)
			}

			f.store.Put(good(t, 2), translate.Format)
			f.await(t, 4)
			f.wantState(t, "current")
		})
	}
}

func TestStartsFromDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lastgood")
	st := &memstore.Store{}
	first := newFixture(t, st, path)
	first.start(t)
	st.Put(good(t, 1), translate.Format)
	first.await(t, 1)
	first.until(t, "the copy on disk", func() bool { _, err := lastgood.Load(path); return err == nil })

	st.Fail(store.ErrUnavailable)
	second := newFixture(t, st, path)
	second.feed.LoadLastGood(t.Context())
	if g := second.live.Current(); g == nil || g.Number != 1 {
		t.Fatalf("in force without the store: %+v, want generation 1\n%s", g, second.log)
	}
	second.wantState(t, "current")
	second.start(t)
	st.Fail(nil)
	st.Put(good(t, 2), translate.Format)
	second.await(t, 2)
}

func TestUselessCopyOnDisk(t *testing.T) {
	content := bad(t)
	tests := map[string]func(path string) error{
		"damaged": func(path string) error { return os.WriteFile(path, []byte("nonsense"), 0o600) },
		"does not compile": func(path string) error {
			return lastgood.Save(path, lastgood.Record{Generation: 9, Format: translate.Format, Bytes: content})
		},
	}
	for name, write := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, &memstore.Store{}, filepath.Join(t.TempDir(), "lastgood"))
			if err := write(f.path); err != nil {
				t.Fatal(err)
			}
			f.feed.LoadLastGood(t.Context())
			if f.live.Current() != nil {
				t.Fatal("a useless copy is in force")
			}
			if !strings.Contains(f.log.String(), "level=ERROR") {
				t.Errorf("it is not logged as an error:\n%s", f.log)
			}
			f.start(t)
			f.store.Put(good(t, 1), translate.Format)
			f.await(t, 1)
		})
	}
}

func TestUnsavedGenerationIsStillInForce(t *testing.T) {
	f := newFixture(t, &memstore.Store{}, filepath.Join(t.TempDir(), "absent", "lastgood"))
	f.start(t)
	f.store.Put(good(t, 1), translate.Format)
	f.await(t, 1)
	f.until(t, "the error in the log", func() bool { return strings.Contains(f.log.String(), "could not be saved") })
}
