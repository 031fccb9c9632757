package gateway

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/pointsman/pointsman/gateway/session"
)

// lastCall is the time between the gateway's word that it will end and the end of accepting. again: a second signal came.
func lastCall(wait time.Duration, signals <-chan os.Signal, done <-chan struct{}) (again bool) {
	if wait == 0 {
		return false
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-signals:
		return true
	case <-t.C:
	case <-done:
	}
	return false
}

// finish waits for the sessions: until they end, a second signal, the timeout, or the end of ctx.
func finish(ctx context.Context, sessions *sync.WaitGroup, endSessions func(), g *session.Gateway, timeout time.Duration, signals <-chan os.Signal, log *slog.Logger) {
	ended := make(chan struct{})
	go func() { // ends when all sessions have
		defer close(ended)
		sessions.Wait()
	}()
	g.Drain()
	t := time.NewTimer(timeout)
	defer t.Stop()
	select {
	case <-ended:
		return
	case sig := <-signals:
		log.Warn("second signal: sessions are cut", "signal", sig.String(), "sessions", g.Sessions())
	case <-t.C:
		log.Warn("drain timeout: sessions are cut", "sessions", g.Sessions())
	case <-ctx.Done():
	}
	endSessions()
	<-ended
}
