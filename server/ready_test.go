package server

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/decision/live"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/metrics"
	"github.com/pointsman/pointsman/server/state"
	"github.com/pointsman/pointsman/store"
)

func TestReady(t *testing.T) {
	s := &server{live: &live.Holder[loaded.Generation]{}, stopping: make(chan struct{})}
	s.state = state.NewHolder(metrics.New("test"), slog.New(slog.DiscardHandler))
	want := func(text string) {
		t.Helper()
		if err := s.ready(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("got %v, want %q", err, text)
		}
	}
	want("publish a configuration, or wait")
	s.state.Seen(t.Context(), store.Head{Rejection: &store.Rejection{
		ProblemCount: 2, Problems: []store.Problem{{Path: "users[0]", Message: "bad"}},
	}})
	want("the last publication was refused: 2 problems, the first one: users[0]: bad")
	if got := s.configState(); got != "invalid: the last publication was refused: 2 problems, the first one: users[0]: bad" {
		t.Errorf("state %q", got)
	}
	s.state.Seen(t.Context(), store.Head{Generation: 1})
	s.state.Refused(t.Context(), 1, errors.New("too new"))
	want("generation 1 can't be brought into force: too new")
	s.live.Swap(1, &loaded.Generation{Number: 1})
	s.state.InForce(t.Context(), 1)
	if err := s.ready(); err != nil {
		t.Error(err)
	}
	if got := s.configState(); got != "current" {
		t.Errorf("state %q", got)
	}
	s.state.Seen(t.Context(), store.Head{Generation: 2})
	if got := s.configState(); got != "current: generation 2 is not loaded yet" {
		t.Errorf("state %q", got)
	}
	close(s.stopping)
	want("stopping")
}
