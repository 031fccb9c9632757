package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// LockedError means that another live store uses the data directory.
type LockedError struct {
	// DataDir is the directory.
	DataDir string
	// PID is the other store's process, 0 if unknown.
	PID int
}

// Error names the directory and the process.
func (e *LockedError) Error() string {
	who := "another process"
	if e.PID != 0 {
		who = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("data directory %s is in use by the store in %s; stop that one, or use another directory", e.DataDir, who)
}

// lock takes the data directory, waiting for a store that is just ending. etcd itself would wait for ever, and take the
// socket away from the other one first. The lock ends with the file, or with the process whatever it dies of.
func lock(ctx context.Context, dataDir string, wait time.Duration) (*os.File, error) {
	f, err := os.OpenFile(lockPath(dataDir), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	if err := take(ctx, f, dataDir, wait); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func take(ctx context.Context, f *os.File, dataDir string, wait time.Duration) error {
	giveUp := time.Now().Add(wait)
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		if time.Now().After(giveUp) {
			return &LockedError{DataDir: dataDir, PID: holder(f)}
		}
		if !pause(ctx, 50*time.Millisecond) {
			return fmt.Errorf("lock %s: %w", f.Name(), ctx.Err())
		}
	}
	if err := f.Truncate(0); err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	if _, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return nil
}

func lockPath(dataDir string) string { return filepath.Join(storeDir(dataDir), "lock") }

// holder reads who has the lock.
func holder(f *os.File) int {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0
	}
	return pid
}

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
