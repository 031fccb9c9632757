package api_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/pointsman/pointsman/decision/live"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/api"
	"github.com/pointsman/pointsman/server/internal/memstore"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/metrics"
	"github.com/pointsman/pointsman/server/observed"
	"github.com/pointsman/pointsman/server/state"
	"github.com/pointsman/pointsman/server/translate"
)

func newConfig(st api.Store) *api.Config {
	m, log := metrics.New("test"), slog.New(slog.DiscardHandler)
	return api.NewConfig(st, &live.Holder[loaded.Generation]{}, &observed.Holder{}, state.NewHolder(m, log), m, log, nil)
}

// Publishers that expect nothing come one after the other, however many they are.
func TestManyPublishers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const publishers = 64
		st := &memstore.Store{}
		st.BeforePublish(func() { <-time.After(time.Millisecond) }) // so that all read head before one publishes
		service := newConfig(st)
		var wg sync.WaitGroup
		for range publishers {
			wg.Go(func() {
				if _, err := service.PublishConfig(t.Context(), &configv1.PublishConfigRequest{Config: split()}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if head, err := st.Head(t.Context()); err != nil || head.Generation != publishers {
			t.Errorf("generation %d, error %v, want %d", head.Generation, err, publishers)
		}
	})
}

func TestAlwaysOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &memstore.Store{}
		st.BeforePublish(func() { st.Put(nil, translate.Format) })
		for _, patience := range []time.Duration{time.Second, time.Hour} {
			start := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			_, err := newConfig(st).PublishConfig(ctx, &configv1.PublishConfigRequest{Config: split()})
			cancel()
			wantError(t, err, codes.Aborted, api.ReasonPublishOvertaken)
			if took := time.Since(start); took >= patience || took > 30*time.Second {
				t.Errorf("gave up after %v", took)
			}
		}
	})
}
