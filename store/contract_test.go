package store_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"

	"github.com/pointsman/pointsman/store/embedded"
	"github.com/pointsman/pointsman/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEmbedded(t *testing.T) { storetest.Run(t, newEmbedded) }

// newEmbedded runs etcd in this process.
func newEmbedded(t *testing.T) *storetest.Backend {
	t.Helper()
	dir := t.TempDir()
	b := &storetest.Backend{Endpoint: embedded.Endpoint(dir), Dir: filepath.Join(dir, "store")}
	var stop func()
	b.Start = func(t *testing.T) {
		t.Helper()
		ctx, cancel := context.WithCancel(context.Background()) //nolint:usetesting // It outlives the test that starts it again.
		ready, ended := make(chan string, 1), make(chan error, 1)
		go func() {
			ended <- embedded.Serve(ctx, embedded.Config{
				DataDir: dir, Logger: slog.New(slog.DiscardHandler), OnReady: func(e string) { ready <- e },
			})
		}()
		select {
		case endpoint := <-ready:
			if endpoint != b.Endpoint {
				t.Errorf("it listens on %s, not on %s", endpoint, b.Endpoint)
			}
		case err := <-ended:
			cancel()
			t.Fatal(err)
		}
		stop = func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	b.Stop = func(*testing.T) { stop() }
	b.Start(t)
	t.Cleanup(func() { b.Stop(t) })
	return b
}

// TestEtcd runs the contract against etcd's own program.
func TestEtcd(t *testing.T) {
	if testing.Short() {
		t.Skip("builds etcd")
	}
	exe := filepath.Join(t.TempDir(), "etcd")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", exe, "go.etcd.io/etcd/server/v3")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	storetest.Run(t, func(t *testing.T) *storetest.Backend {
		t.Helper()
		return newProcess(t, exe)
	})
}

// newProcess runs etcd as a process, which can be killed.
func newProcess(t *testing.T, exe string) *storetest.Backend {
	t.Helper()
	dir := t.TempDir()
	client, peer := "http://"+freeAddress(t), "http://"+freeAddress(t)
	b := &storetest.Backend{Endpoint: client[len("http://"):], Dir: dir}
	var running *exec.Cmd
	b.Start = func(t *testing.T) {
		t.Helper()
		running = exec.Command(exe, "--data-dir", dir, //nolint:noctx // Ended by Stop.
			"--listen-client-urls", client, "--advertise-client-urls", client,
			"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer,
			"--heartbeat-interval", "10", "--election-timeout", "100", "--log-level", "error")
		running.Stderr = os.Stderr
		if err := running.Start(); err != nil {
			t.Fatal(err)
		}
		waitForAnswer(t, b.Endpoint)
	}
	b.Stop = func(t *testing.T) {
		t.Helper()
		if err := running.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		var killed *exec.ExitError
		if err := running.Wait(); !errors.As(err, &killed) {
			t.Error(err)
		}
	}
	b.Start(t)
	t.Cleanup(func() { b.Stop(t) })
	return b
}

func waitForAnswer(t *testing.T, endpoint string) {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	storetest.Eventually(t, "etcd answers", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := client.Get(ctx, "health")
		return err == nil
	})
}

var givenAddresses sync.Map

// freeAddress finds a port that is free now and was not given before.
func freeAddress(t *testing.T) string {
	t.Helper()
	for {
		var lc net.ListenConfig
		l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := l.Addr().String()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if _, given := givenAddresses.LoadOrStore(address, true); !given {
			return address
		}
	}
}
