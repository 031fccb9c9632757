package store

import (
	"context"
	"math/rand/v2"
	"time"
)

// pause waits for about d, a third more or less so that many clients don't act in step. It is false when ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(jitter(d))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func jitter(d time.Duration) time.Duration {
	return d*2/3 + rand.N(max(d*2/3, 1)) //nolint:gosec // It spreads load: nothing depends on it or is guarded by it.
}
