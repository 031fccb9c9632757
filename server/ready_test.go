package server

import (
	"strings"
	"testing"

	"github.com/pointsman/pointsman/decision/live"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/metrics"
)

func TestReady(t *testing.T) {
	s := &server{live: &live.Holder[loaded.Generation]{}, metrics: metrics.New("test"), stopping: make(chan struct{})}
	want := func(text string) {
		t.Helper()
		if err := s.ready(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("got %v, want %q", err, text)
		}
	}
	want("publish a configuration, or wait")
	s.metrics.SetState(metrics.Invalid)
	want("the newest one was rejected")
	s.live.Swap(1, &loaded.Generation{Number: 1})
	if err := s.ready(); err != nil {
		t.Error(err)
	}
	close(s.stopping)
	want("stopping")
}
