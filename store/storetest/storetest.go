package storetest

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pointsman/pointsman/store"
)

// Backend is an etcd with one member that a test may stop and start.
type Backend struct {
	// Endpoint is the same after each start.
	Endpoint string
	// Dir is everything that the etcd keeps on disk.
	Dir string
	// Start returns when requests are answered. Stop ends the etcd as rudely as it can be ended.
	Start, Stop func(t *testing.T)
}

// Run runs the contract. newBackend makes a started etcd without data that ends with the test it is given.
func Run(t *testing.T, newBackend func(t *testing.T) *Backend) {
	t.Helper()
	// Tests that leave etcd running share one and have a prefix each.
	shared := newBackend(t)
	for name, test := range map[string]func(*testing.T, *fixture){
		"Empty":              testEmpty,
		"ClusterIDRace":      testClusterIDRace,
		"RoundTrip":          testRoundTrip,
		"SameBytesAgain":     testSameBytesAgain,
		"Expected":           testExpected,
		"RaceForOne":         testRaceForOne,
		"RaceForAll":         testRaceForAll,
		"Rollback":           testRollback,
		"Limits":             testLimits,
		"Above":              testAbove,
		"Reject":             testReject,
		"RejectOvertaken":    testRejectOvertaken,
		"RejectLimits":       testRejectLimits,
		"FollowRejection":    testFollowRejection,
		"Damage":             testDamage,
		"NewerLayout":        testNewerLayout,
		"GC":                 testGC,
		"GCBesidePublishers": testGCBesidePublishers,
		"GCBesideUpload":     testGCBesideUpload,
		"LostLease":          testLostLease,
		"AbandonedUpload":    testAbandonedUpload,
		"LostReply":          testLostReply,
		"LostRequest":        testLostRequest,
		"UnknownOutcome":     testUnknownOutcome,
		"LateLanding":        testLateLanding,
		"Follow":             testFollow,
		"FollowRunning":      testFollowRunning,
		"FollowCompaction":   testFollowCompaction,
		"FollowOtherStore":   testFollowOtherStore,
	} {
		t.Run(name, func(t *testing.T) { test(t, newFixture(t, shared)) })
	}
	for name, test := range map[string]func(*testing.T, *fixture){
		"FollowRestart":  testFollowRestart,
		"RestoredBackup": testRestoredBackup,
	} {
		t.Run(name, func(t *testing.T) { test(t, newFixture(t, newBackend(t))) })
	}
}

// fixture is a store of its own: reached directly, and through a proxy.
type fixture struct {
	*Backend
	prefix string
	// store is connected directly.
	store *store.Store
	// etcd looks behind the store.
	etcd *clientv3.Client
}

var prefixes atomic.Int64

func newFixture(t *testing.T, b *Backend) *fixture {
	t.Helper()
	f := &fixture{Backend: b, prefix: "/test/" + strconv.FormatInt(prefixes.Add(1), 10)}
	f.store = f.open(t, b.Endpoint)
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{b.Endpoint}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	f.etcd = client
	return f
}

// open makes another client of the same store.
func (f *fixture) open(t *testing.T, endpoint string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{
		Endpoints: []string{endpoint}, Prefix: f.prefix, Logger: Logger(t),
	})
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

// throughProxy makes a client whose calls pass a proxy.
func (f *fixture) throughProxy(t *testing.T) (*store.Store, *Proxy) {
	t.Helper()
	p := NewProxy(t, f.Endpoint)
	return f.open(t, p.Endpoint), p
}

// publish must succeed.
func (f *fixture) publish(t *testing.T, content string) store.Manifest {
	t.Helper()
	m, err := f.store.Publish(t.Context(), store.Content{Bytes: []byte(content), Format: 1}, store.Meta{Author: "test"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// count returns how many keys there are below the prefix and part.
func (f *fixture) count(t *testing.T, part string) int64 {
	t.Helper()
	resp, err := f.etcd.Get(t.Context(), f.prefix+part, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		t.Fatal(err)
	}
	return resp.Count
}

// Noise returns n bytes that don't compress, the same for the same seed.
func Noise(seed byte, n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(b)
	return b
}

// Eventually waits until ok, and fails the test after half a minute.
func Eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatal("this did not happen: " + what)
		case <-tick.C:
		}
	}
}

// Logger writes to the test's log, which is shown when it fails.
func Logger(t *testing.T) *slog.Logger {
	t.Helper()
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}

// copyTree copies files and folders; sockets are left out.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o700)
		case !d.Type().IsRegular():
			return nil
		default:
			return copyFile(path, target)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}

// removeTree removes what is in a folder, not the folder.
func removeTree(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
}
