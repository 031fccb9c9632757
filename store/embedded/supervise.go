package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/pointsman/pointsman/store/internal/zaplog"
)

const (
	// ExitLocked is the exit status of a store whose data directory is in use by another one (EX_TEMPFAIL of
	// sysexits.h). Starting it again would not help.
	ExitLocked = 75

	// SupervisedEnv is set in the environment of a supervised store. Its standard input then ends with its parent.
	SupervisedEnv = "STORE_SUPERVISED"

	minRestartPause = 100 * time.Millisecond
	maxRestartPause = 5 * time.Second
	// endGrace is longer than etcd takes to end while watches are open.
	endGrace = 8 * time.Second
)

// ExitCode is the exit status with which a command whose body is Serve must end: 0, ExitLocked, or 1.
func ExitCode(err error) int {
	var locked *LockedError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &locked):
		return ExitLocked
	default:
		return 1
	}
}

// Phase of a supervised store.
type Phase string

// The phases in the order they come; Restarting leads back to Starting.
const (
	Starting   Phase = "starting"
	Ready      Phase = "ready"
	Restarting Phase = "restarting"
	Stopped    Phase = "stopped"
)

// State of a supervised store.
type State struct {
	// Phase the store is in.
	Phase Phase
	// PID of the child, 0 when there is none.
	PID int
	// Err is why the child ended, in phase Restarting.
	Err error
	// Restarts counts how often the child was started again.
	Restarts int
}

// Supervisor keeps a store running as a child process.
type Supervisor struct {
	// Exe and Args start the child, whose body must be Serve (see Config.Parent) and whose exit status ExitCode.
	Exe  string
	Args []string
	// DataDir and ClientURL are what Args tell the child. They say where to find it.
	DataDir   string
	ClientURL string
	// Logger takes what the child writes to standard error, line by line. It may be nil for none.
	Logger *slog.Logger
	// OnState, if set, is called on each change, by one goroutine at a time.
	OnState func(State)
}

// Supervise runs the child until ctx ends and then ends it: SIGTERM, and SIGKILL if that does not help. It returns nil
// then. A child that ends before is started again, after a pause that grows from 100 ms to 5 s and is short again once
// the child was ready.
//
// The result is a *LockedError when the data directory is in use from the start (not when someone takes it between two
// children: whoever is served by now goes on), and another error when the child can't be started at all. The child ends
// when this process ends, whatever it dies of.
func Supervise(ctx context.Context, s Supervisor) error {
	if s.Logger == nil {
		s.Logger = slog.New(slog.DiscardHandler)
	}
	if s.OnState == nil {
		s.OnState = func(State) {}
	}
	// Linux tells a child of the death of the thread that started it, so that thread must stay.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer s.OnState(State{Phase: Stopped})

	wait, everReady := minRestartPause, false
	for restarts := 0; ; restarts++ {
		wasReady, err := s.runOnce(ctx, restarts)
		everReady = everReady || wasReady
		var status *exec.ExitError
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.As(err, &status) && status.ExitCode() == ExitLocked:
			err = &LockedError{DataDir: s.DataDir, PID: s.holder()}
			if !everReady {
				return err
			}
		case restarts == 0 && err != nil && status == nil:
			return fmt.Errorf("start store: %w", err)
		case err == nil:
			err = errors.New("it ended by itself")
		}
		if wasReady {
			wait = minRestartPause
		}
		s.Logger.ErrorContext(ctx, "the store ended and is started again", "error", err, "pause", wait)
		s.OnState(State{Phase: Restarting, Err: err, Restarts: restarts})
		if !pause(ctx, wait) {
			return nil
		}
		wait = min(wait*2, maxRestartPause)
	}
}

// runOnce starts the child, waits for its end and says whether it was ready.
func (s Supervisor) runOnce(ctx context.Context, restarts int) (bool, error) {
	child := exec.CommandContext(ctx, s.Exe, s.Args...) //nolint:gosec // The caller's own binary.
	child.Env = append(os.Environ(), SupervisedEnv+"=1")
	child.SysProcAttr = childAttributes()
	child.Cancel = func() error { return child.Process.Signal(syscall.SIGTERM) }
	child.WaitDelay = endGrace
	lines := &lineLogger{log: s.Logger}
	defer lines.flush() //nolint:contextcheck // What a child says belongs to no call.
	child.Stderr = lines
	if _, err := child.StdinPipe(); err != nil { // Stays open as long as this process and the child live.
		return false, err
	}
	if err := child.Start(); err != nil {
		return false, err
	}
	s.OnState(State{Phase: Starting, PID: child.Process.Pid, Restarts: restarts})

	probeCtx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		err := child.Wait()
		stop()
		ended <- err
	}()
	ready := s.probe(probeCtx, child.Process.Pid)
	if ready {
		s.OnState(State{Phase: Ready, PID: child.Process.Pid, Restarts: restarts})
	}
	return ready, <-ended
}

// probe asks until the store answers, or ctx ends. The answer of a store that another process runs does not count.
func (s Supervisor) probe(ctx context.Context, pid int) bool {
	endpoint := s.ClientURL
	if endpoint == "" {
		endpoint = Endpoint(s.DataDir)
	}
	client, err := clientv3.New(clientv3.Config{
		Context:   ctx,
		Endpoints: []string{endpoint},
		Logger:    zaplog.New(s.Logger, zapcore.WarnLevel, ""),
		DialOptions: []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1.5, MaxDelay: 200 * time.Millisecond},
			MinConnectTimeout: time.Second,
		})},
	})
	if err != nil {
		s.Logger.ErrorContext(ctx, "the store can't be asked whether it is ready", "error", err)
		return false
	}
	defer func() { _ = client.Close() }()
	for {
		if s.holder() == pid && s.answers(ctx, client) {
			return true
		}
		if !pause(ctx, 10*time.Millisecond) {
			return false
		}
	}
}

// answers makes a linearizable read, as etcd's own health check does.
func (s Supervisor) answers(ctx context.Context, client *clientv3.Client) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_, err := client.Get(ctx, "health")
	return err == nil
}

// holder is the process that has the data directory, or had it last; 0 if unknown.
func (s Supervisor) holder() int {
	f, err := os.Open(lockPath(s.DataDir))
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	return holder(f)
}
