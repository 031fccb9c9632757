package embedded_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pointsman/pointsman/store"
	"github.com/pointsman/pointsman/store/embedded"
	"github.com/pointsman/pointsman/store/storetest"
)

// supervise runs a supervised store until stop is called, which also happens at the end of the test.
func supervise(t *testing.T, s embedded.Supervisor) (states <-chan embedded.State, ended <-chan error, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	changes, end := make(chan embedded.State, 100), make(chan error, 1)
	s.OnState = func(state embedded.State) { changes <- state }
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		end <- embedded.Supervise(ctx, s)
	}()
	stop = func() {
		cancel()
		<-finished
	}
	t.Cleanup(stop)
	return changes, end, stop
}

// next waits for a phase and skips others.
func next(t *testing.T, states <-chan embedded.State, phase embedded.Phase) embedded.State {
	t.Helper()
	for {
		select {
		case s := <-states:
			if s.Phase == phase {
				return s
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("the store did not become %s", phase)
		}
	}
}

func TestSupervise(t *testing.T) {
	dir := t.TempDir()
	var out lockedBuffer
	s := supervisor(dir, "8s")
	s.Logger = slog.New(slog.NewTextHandler(&out, nil))
	states, ended, stop := supervise(t, s)
	client := open(t, embedded.Endpoint(dir))
	var seen lastSeen
	followCtx, endFollow := context.WithCancel(t.Context())
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		client.Follow(followCtx, store.FollowOptions{Interval: 200 * time.Millisecond, OnHead: seen.onHead})
	}()

	for restarts := range 3 {
		state := next(t, states, embedded.Ready)
		if state.Restarts != restarts || state.PID == 0 {
			t.Errorf("%+v", state)
		}
		m, err := client.Publish(t.Context(), store.Content{Bytes: []byte("x")}, store.Meta{}, nil)
		if err != nil || m.Generation != uint64(restarts+1) {
			t.Fatal(m, err)
		}
		storetest.Eventually(t, "the follower sees it", func() bool { return seen.last.Load() == m.Generation })
		if restarts < 2 {
			kill(t, state.PID)
			if state := next(t, states, embedded.Restarting); state.Err == nil {
				t.Errorf("%+v", state)
			}
		}
	}
	endFollow()
	<-followed
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	next(t, states, embedded.Stopped)
	if held(t, dir) {
		t.Error("the child lives on")
	}
	if text := out.String(); !strings.Contains(text, `level=INFO msg="store: store is ready"`) ||
		!strings.Contains(text, "signal: killed") {
		t.Error(text)
	}
}

func TestSuperviseLocked(t *testing.T) {
	dir := t.TempDir()
	serve(t, embedded.Config{DataDir: dir})
	_, ended, _ := supervise(t, supervisor(dir, "1ms"))
	var locked *embedded.LockedError
	if err := <-ended; !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Error(err)
	}
}

// TestSuperviseLockedLater takes the directory between two children, and gives it back.
func TestSuperviseLockedLater(t *testing.T) {
	dir := t.TempDir()
	states, ended, stop := supervise(t, supervisor(dir, "1ms"))
	first := next(t, states, embedded.Ready)
	f, err := os.Open(filepath.Join(dir, "store", "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	kill(t, first.PID)
	// The lock is free at the death of the child; the next child comes 100 ms later.
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	var locked *embedded.LockedError
	for !errors.As(next(t, states, embedded.Restarting).Err, &locked) {
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	next(t, states, embedded.Ready)
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestSuperviseCannotStart(t *testing.T) {
	err := embedded.Supervise(t.Context(), embedded.Supervisor{Exe: filepath.Join(t.TempDir(), "absent")})
	if !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestSuperviseCrashLoop ends a child that fails at once.
func TestSuperviseCrashLoop(t *testing.T) {
	states, ended, stop := supervise(t, supervisor(t.TempDir(), "no duration"))
	for range 3 {
		state := next(t, states, embedded.Restarting)
		var status *exec.ExitError
		if !errors.As(state.Err, &status) || status.ExitCode() != 1 {
			t.Errorf("%+v", state)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestParentDies kills a supervisor without a chance to say so to its child.
func TestParentDies(t *testing.T) {
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.CommandContext(t.Context(), exe, roleSupervisor, dir, "8s")
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	client := open(t, embedded.Endpoint(dir))
	storetest.Eventually(t, "the store answers", func() bool {
		_, err := client.ClusterID(t.Context())
		return err == nil
	})
	if !held(t, dir) {
		t.Fatal("the store has no lock")
	}
	kill(t, parent.Process.Pid)
	_ = parent.Wait()
	storetest.Eventually(t, "the child ends", func() bool { return !held(t, dir) })
}

// held says whether some store has the lock of a data directory.
func held(t *testing.T, dir string) bool {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "store", "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// lastSeen remembers the generation that was offered last.
type lastSeen struct{ last atomic.Uint64 }

func (r *lastSeen) onHead(_ context.Context, h store.Head) error {
	r.last.Store(h.Generation)
	return nil
}
