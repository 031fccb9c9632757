package state

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pointsman/pointsman/server/metrics"
	"github.com/pointsman/pointsman/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func refused(author string) *store.Rejection {
	return &store.Rejection{
		Author: author, Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), ProblemCount: 1,
		Problems: []store.Problem{{Path: "guideline", Message: "bad"}},
	}
}

func TestState(t *testing.T) {
	cause := errors.New("it does not compile")
	for _, tt := range []struct {
		name    string
		facts   facts
		kind    Kind
		cause   string
		problem string
	}{
		{"nothing", facts{}, Empty, "", ""},
		{"first refused", facts{rejection: refused("ann")}, Invalid, "guideline: bad", ""},
		{"loading", facts{newest: 3}, Empty, "", "generation 3 is not loaded yet"},
		{"loading, last refused", facts{newest: 3, rejection: refused("ann")}, Empty, "", "generation 3 is not loaded yet"},
		{"loading failed", facts{newest: 3, refused: 3, cause: cause.Error()}, Invalid, cause.Error(), "generation 3 can't be brought into force: " + cause.Error()},
		{"in force", facts{newest: 3, running: 3}, Current, "", ""},
		{"in force, last refused", facts{newest: 3, running: 3, rejection: refused("ann")}, Stale, "guideline: bad", ""},
		{"next is loading", facts{newest: 4, running: 3}, Current, "", "generation 4 is not loaded yet"},
		{"next is refused here", facts{newest: 4, running: 3, refused: 4, cause: cause.Error()}, Stale, cause.Error(), "generation 4 can't"},
		{"the one after that is loading", facts{newest: 5, running: 3, refused: 4, cause: cause.Error()}, Stale, cause.Error(), "generation 4 can't"},
		{"both refused", facts{newest: 4, running: 3, refused: 4, cause: cause.Error(), rejection: refused("ann")}, Stale, "guideline: bad", "generation 4 can't"},
		{"the store went back", facts{newest: 2, running: 3, alarm: "older"}, Current, "", "older"},
	} {
		s := tt.facts.state()
		if s.Kind != tt.kind || !strings.Contains(s.Cause(), tt.cause) || (s.Cause() == "") != (tt.cause == "") ||
			!strings.HasPrefix(s.Problem, tt.problem) || (s.Problem == "") != (tt.problem == "") {
			t.Errorf("%s: %v, cause %q, problem %q", tt.name, s.Kind, s.Cause(), s.Problem)
		}
	}
}

// Each change is logged once, and told to whoever waits.
func TestHolder(t *testing.T) {
	var buf bytes.Buffer
	ctx := t.Context()
	h := NewHolder(metrics.New("test"), slog.New(slog.NewTextHandler(&buf, nil)))
	for _, step := range []struct {
		name string
		do   func()
		kind Kind
		log  string // of one line; empty: nothing is logged
	}{
		{"one from before a restart", func() { h.Recall(ctx, refused("ann")) }, Invalid, "author=ann"},
		{"an empty store", func() { h.Seen(ctx, store.Head{}) }, Empty, "state=none"},
		{"a refusal", func() { h.Seen(ctx, store.Head{Rejection: refused("ann")}) }, Invalid, "author=ann"},
		{"the same again", func() { h.Seen(ctx, store.Head{Rejection: refused("ann")}) }, Invalid, ""},
		{"another", func() { h.Seen(ctx, store.Head{Rejection: refused("bob")}) }, Invalid, "author=bob"},
		{"a generation", func() { h.InForce(ctx, 1) }, Stale, "state=stale"},
		{"without the refusal", func() { h.Seen(ctx, store.Head{Generation: 1}) }, Current, "state=current"},
		{"seen again", func() { h.Seen(ctx, store.Head{Generation: 1}) }, Current, ""},
		{"the next", func() { h.Seen(ctx, store.Head{Generation: 2}) }, Current, ""},
		{"which does not load", func() { h.Refused(ctx, 2, errors.New("why")) }, Stale, "state=stale"},
		{"and again", func() { h.Refused(ctx, 2, errors.New("why")) }, Stale, ""},
		{"one that does", func() { h.InForce(ctx, 3) }, Current, "running=3"},
		{"an alarm", func() { h.Alarm(ctx, errors.New("older")) }, Current, ""},
		{"its end", func() { h.Alarm(ctx, nil) }, Current, ""},
	} {
		buf.Reset()
		step.do()
		lines := strings.Count(buf.String(), "\n")
		if got := h.Load(); got.Kind != step.kind || (step.log == "") != (lines == 0) || lines > 1 || !strings.Contains(buf.String(), step.log) {
			t.Errorf("%s: %v, logged %q", step.name, got.Kind, buf.String())
		}
	}

	var wg sync.WaitGroup
	wg.Go(func() {
		if !h.Await(ctx, func(s *State) bool { return s.Running == 4 }) {
			t.Error("it did not come")
		}
	})
	h.InForce(ctx, 4)
	wg.Wait()
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if h.Await(ended, func(*State) bool { return false }) {
		t.Error("it came")
	}
}
