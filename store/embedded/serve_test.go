package embedded_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pointsman/pointsman/store"
	"github.com/pointsman/pointsman/store/embedded"
	"github.com/pointsman/pointsman/store/storetest"
)

// serve runs a store in this process until stop is called, which also happens at the end of the test.
func serve(t *testing.T, c embedded.Config) (endpoint string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	c.OnReady = func(e string) { ready <- e }
	if c.Logger == nil {
		c.Logger = storetest.Logger(t)
	}
	go func() { ended <- embedded.Serve(ctx, c) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case endpoint = <-ready:
	case err := <-ended:
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return endpoint, stop
}

func open(t *testing.T, endpoint string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Endpoints: []string{endpoint}, Logger: storetest.Logger(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// publish publishes and closes the client, so that the store can end at once.
func publish(t *testing.T, endpoint, content string) store.Manifest {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Endpoints: []string{endpoint}, Logger: storetest.Logger(t)})
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Publish(t.Context(), store.Content{Bytes: []byte(content)}, store.Meta{}, nil)
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestServePlaces runs in ordinary and awkward directories, and moves the data along from one to the next.
func TestServePlaces(t *testing.T) {
	root := t.TempDir()
	generation := uint64(0)
	last := ""
	for _, name := range []string{"plain", "with space & 100% odd ünïcode?", strings.Repeat("long/", 30) + "path"} {
		dir := filepath.Join(root, name)
		if last != "" {
			if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(last, dir); err != nil {
				t.Fatal(err)
			}
		}
		last = dir
		endpoint, stop := serve(t, embedded.Config{DataDir: dir})
		if endpoint != embedded.Endpoint(dir) {
			t.Errorf("%s: it listens on %s, expected at %s", name, endpoint, embedded.Endpoint(dir))
		}
		generation++
		if m := publish(t, endpoint, name); m.Generation != generation {
			t.Errorf("%s: generation %d", name, m.Generation)
		}
		checkModes(t, filepath.Join(dir, "store"))
		stop()
		if sockets := filepath.Dir(strings.TrimPrefix(endpoint, "unix://")); !strings.HasPrefix(sockets, root) {
			if err := os.RemoveAll(sockets); err != nil {
				t.Error(err)
			}
		}
	}
}

// checkModes wants nothing that others can read below a folder that they can't enter.
func checkModes(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if d.Type()&fs.ModeSocket == 0 && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestServeLoopback(t *testing.T) {
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	endpoint, _ := serve(t, embedded.Config{DataDir: t.TempDir(), ClientURL: "http://" + address})
	if endpoint != "http://"+address {
		t.Error(endpoint)
	}
	publish(t, endpoint, "x")
}

func TestServeRefuses(t *testing.T) {
	for _, url := range []string{"http://0.0.0.0:2379", "http://10.1.2.3:2379", "http://localhost:2379", "http://127.0.0.1", "https://127.0.0.1:2379", "127.0.0.1:2379", "%"} {
		err := embedded.Serve(t.Context(), embedded.Config{DataDir: t.TempDir(), ClientURL: url})
		if err == nil || !strings.Contains(err.Error(), "client URL") {
			t.Errorf("%s: %v", url, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := embedded.Serve(t.Context(), embedded.Config{DataDir: file}); err == nil {
		t.Error("a file was taken for a directory")
	}
	open := filepath.Join(t.TempDir(), "store")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := embedded.Serve(t.Context(), embedded.Config{DataDir: filepath.Dir(open)}); err == nil || !strings.Contains(err.Error(), "0700") {
		t.Error(err)
	}
}

func TestServeLocked(t *testing.T) {
	dir := t.TempDir()
	endpoint, stop := serve(t, embedded.Config{DataDir: dir})
	err := embedded.Serve(t.Context(), embedded.Config{DataDir: dir, LockWait: time.Millisecond})
	var locked *embedded.LockedError
	if !errors.As(err, &locked) || locked.PID != os.Getpid() || locked.DataDir != dir || embedded.ExitCode(err) != embedded.ExitLocked {
		t.Errorf("%v", err)
	}
	publish(t, endpoint, "the first still has its socket")

	// One that waits gets it when the other ends.
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	ready := make(chan string, 1)
	go func() {
		ended <- embedded.Serve(ctx, embedded.Config{DataDir: dir, LockWait: time.Minute, OnReady: func(e string) { ready <- e }})
	}()
	stop()
	if m := publish(t, <-ready, "second"); m.Generation != 2 {
		t.Errorf("generation %d", m.Generation)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestServeQuiet wants no line above info level from an ordinary life. That a busy machine is slow may be said.
func TestServeQuiet(t *testing.T) {
	var out lockedBuffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelWarn}))
	dir := t.TempDir()
	for range 2 {
		endpoint, stop := serve(t, embedded.Config{DataDir: dir, Logger: log})
		publish(t, endpoint, "x")
		stop()
	}
	for line := range strings.Lines(out.String()) {
		if !strings.Contains(line, "took too long") && !strings.Contains(line, "slow fdatasync") {
			t.Error(line)
		}
	}
}

// TestServeNoSpace fills the quota and restarts.
func TestServeNoSpace(t *testing.T) {
	config := embedded.Config{DataDir: t.TempDir(), QuotaBytes: 8 << 20}
	endpoint, stop := serve(t, config)
	s := open(t, endpoint)
	fill := func() (published int) {
		t.Helper()
		for {
			_, err := s.Publish(t.Context(), store.Content{Bytes: storetest.Noise(byte(published), 1<<20)}, store.Meta{}, nil)
			if errors.Is(err, store.ErrNoSpace) {
				return published
			}
			if published++; err != nil || published > 20 {
				t.Fatal(published, err)
			}
		}
	}
	first := fill()
	if h, err := s.Head(t.Context()); err != nil || h.Generation != uint64(first) {
		t.Errorf("%+v, %v", h, err)
	}
	stop()
	_, stop = serve(t, config)
	defer stop()
	if again := fill(); first == 0 || again == 0 {
		t.Errorf("%d publications, %d after the restart", first, again)
	}
	if ms, err := s.List(t.Context(), 0); err != nil || len(ms) <= first {
		t.Errorf("%d generations, %v", len(ms), err)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
