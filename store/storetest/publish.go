package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"

	"github.com/pointsman/pointsman/store"
)

func testEmpty(t *testing.T, f *fixture) {
	h, err := f.store.Head(t.Context())
	if diff := cmp.Diff(store.Head{}, h, cmp.AllowUnexported(store.Head{})); err != nil || diff != "" {
		t.Error(diff, err)
	}
	if f.store.LastConfirmed().IsZero() {
		t.Error("head was read, but not confirmed")
	}
	if ms, err := f.store.List(t.Context(), 0); err != nil || len(ms) != 0 {
		t.Error(ms, err)
	}
	if _, _, err := f.store.Fetch(t.Context(), 1); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	if _, err := f.store.Rollback(t.Context(), 1, store.Meta{}, nil); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	if err := f.store.GC(t.Context()); err != nil {
		t.Error(err)
	}
}

func testClusterIDRace(t *testing.T, f *fixture) {
	ids := make([]string, 8)
	var g errgroup.Group
	for i := range ids {
		g.Go(func() (err error) {
			ids[i], err = f.store.ClusterID(t.Context())
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if ids[0] == "" || len(slices.Compact(ids)) != 1 {
		t.Error(ids)
	}
	if h, err := f.store.Head(t.Context()); err != nil || h.StoreID != ids[0] || h.Generation != 0 {
		t.Error(h, err)
	}
}

func testRoundTrip(t *testing.T, f *fixture) {
	contents := [][]byte{{}, []byte("a"), bytes.Repeat([]byte("rule "), 1<<20), Noise(1, 512<<10), Noise(2, 8<<20)}
	chunks := []int{1, 1, 1, 2, 17}
	var want []store.Manifest
	for i, content := range contents {
		meta := store.Meta{Author: "ann", Note: fmt.Sprint("number ", i)}
		m, err := f.store.Publish(t.Context(), store.Content{Bytes: content, Format: 7}, meta, nil)
		if err != nil {
			t.Fatal(err)
		}
		if m.Generation != uint64(i+1) || m.Size != int64(len(content)) || m.Format != 7 || m.Author != "ann" ||
			m.Note != meta.Note || m.Chunks != chunks[i] || m.Time.IsZero() || m.RollbackOf != 0 {
			t.Errorf("%+v", m)
		}
		if i > 0 && m.ParentDigest != want[i-1].Digest {
			t.Errorf("parent %s", m.ParentDigest)
		}
		h, err := f.store.Head(t.Context())
		if err != nil || h.Generation != m.Generation || h.Digest != m.Digest || h.PublicationID != m.PublicationID ||
			h.Size != m.Size || h.Format != 7 || h.StoreID == "" {
			t.Errorf("%+v, %v", h, err)
		}
		want = append(want, m)
	}
	for i, content := range contents {
		got, m, err := f.store.Fetch(t.Context(), uint64(i+1))
		if err != nil || !bytes.Equal(got, content) {
			t.Fatalf("generation %d: %d bytes, %v", i+1, len(got), err)
		}
		if diff := cmp.Diff(want[i], m); diff != "" {
			t.Error(diff)
		}
	}
	resp, err := f.etcd.Get(t.Context(), f.prefix+"/blob/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range resp.Kvs {
		if kv.GetLease() != 0 {
			t.Errorf("%s is still under a lease", kv.GetKey())
		}
	}
	slices.Reverse(want)
	for _, limit := range []int{0, 2, 100} {
		n := len(want)
		if limit > 0 {
			n = min(n, limit)
		}
		got, err := f.store.List(t.Context(), limit)
		if diff := cmp.Diff(want[:n], got); err != nil || diff != "" {
			t.Error(diff, err)
		}
	}
}

func testSameBytesAgain(t *testing.T, f *fixture) {
	first, second := f.publish(t, "same"), f.publish(t, "same")
	if second.Generation != 2 || second.Digest != first.Digest || second.PublicationID == first.PublicationID {
		t.Errorf("%+v", second)
	}
	if n := f.count(t, "/blob/"); n != 1 {
		t.Errorf("%d chunks", n)
	}
}

func testExpected(t *testing.T, f *fixture) {
	publish := func(expected uint64) (store.Manifest, error) {
		return f.store.Publish(t.Context(), store.Content{Bytes: []byte("x")}, store.Meta{}, &expected)
	}
	for want := range uint64(3) {
		if m, err := publish(want); err != nil || m.Generation != want+1 {
			t.Fatal(m, err)
		}
	}
	for _, expected := range []uint64{0, 2, 4} {
		_, err := publish(expected)
		var conflict *store.ConflictError
		if !errors.Is(err, store.ErrConflict) || !errors.As(err, &conflict) || *conflict != (store.ConflictError{Expected: expected, Current: 3}) {
			t.Error(err)
		}
		if _, err := f.store.Rollback(t.Context(), 1, store.Meta{}, &expected); !errors.Is(err, store.ErrConflict) {
			t.Error(err)
		}
	}
}

// testRaceForOne lets 8 publishers replace the same generation.
func testRaceForOne(t *testing.T, f *fixture) {
	for round := range uint64(5) {
		var wins, conflicts atomic.Int32
		var g errgroup.Group
		for i := range 8 {
			g.Go(func() error {
				content := fmt.Appendf(nil, "round %d publisher %d", round, i)
				_, err := f.store.Publish(t.Context(), store.Content{Bytes: content}, store.Meta{}, &round)
				switch {
				case err == nil:
					wins.Add(1)
				case errors.Is(err, store.ErrConflict):
					conflicts.Add(1)
				default:
					return err
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil || wins.Load() != 1 || conflicts.Load() != 7 {
			t.Fatalf("%d won, %d conflicts, %v", wins.Load(), conflicts.Load(), err)
		}
	}
}

// testRaceForAll lets 32 publishers publish without caring what they replace. Half of them share content.
func testRaceForAll(t *testing.T, f *fixture) {
	const publishers = 32
	var mu sync.Mutex
	var generations []uint64
	var g errgroup.Group
	for i := range publishers {
		g.Go(func() error {
			m, err := f.store.Publish(t.Context(), store.Content{Bytes: fmt.Appendf(nil, "%d", i/2)}, store.Meta{}, nil)
			mu.Lock()
			defer mu.Unlock()
			generations = append(generations, m.Generation)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(generations)
	if len(slices.Compact(generations)) != publishers || generations[0] != 1 || generations[publishers-1] != publishers {
		t.Error(generations)
	}
	f.checkChain(t)
}

// checkChain fetches everything that is listed and compares each parent.
func (f *fixture) checkChain(t *testing.T) {
	t.Helper()
	ms, err := f.store.List(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range ms {
		if _, _, err := f.store.Fetch(t.Context(), m.Generation); err != nil {
			t.Error(err)
		}
		if i+1 < len(ms) && m.ParentDigest != ms[i+1].Digest {
			t.Errorf("generation %d has parent %s", m.Generation, m.ParentDigest)
		}
	}
}

func testRollback(t *testing.T, f *fixture) {
	first := f.publish(t, "first")
	second := f.publish(t, "second")
	expected := uint64(2)
	m, err := f.store.Rollback(t.Context(), 1, store.Meta{Author: "bob", Note: "back"}, &expected)
	if err != nil {
		t.Fatal(err)
	}
	want := first
	want.Generation, want.RollbackOf, want.ParentDigest = 3, 1, second.Digest
	want.Author, want.Note, want.PublicationID, want.Time = "bob", "back", m.PublicationID, m.Time
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
	if m.PublicationID == first.PublicationID {
		t.Error("the publication id was taken again")
	}
	if got, _, err := f.store.Fetch(t.Context(), 3); err != nil || string(got) != "first" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := f.store.Rollback(t.Context(), 9, store.Meta{}, nil); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	f.checkChain(t)
}

func testLimits(t *testing.T, f *fixture) {
	for name, try := range map[string]func() error{
		"content": func() error {
			_, err := f.store.Publish(t.Context(), store.Content{Bytes: Noise(3, 64<<20)}, store.Meta{}, nil)
			return err
		},
		"author": func() error {
			_, err := f.store.Publish(t.Context(), store.Content{}, store.Meta{Author: strings.Repeat("a", 257)}, nil)
			return err
		},
		"note": func() error {
			_, err := f.store.Publish(t.Context(), store.Content{}, store.Meta{Note: strings.Repeat("n", 4097)}, nil)
			return err
		},
	} {
		if err := try(); !errors.Is(err, store.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := f.count(t, ""); n != 0 {
		t.Errorf("%d keys were written", n)
	}
	// The largest content that fits: its chunks fill a transaction.
	content := Noise(4, largestChunks*512<<10-64<<10)
	m, err := f.store.Publish(t.Context(), store.Content{Bytes: content}, store.Meta{}, nil)
	if err != nil || m.Chunks != largestChunks {
		t.Fatalf("%d chunks, %v", m.Chunks, err)
	}
	if _, _, err := f.store.Fetch(t.Context(), 1); err != nil {
		t.Error(err)
	}
}

func testAbove(t *testing.T, f *fixture) {
	for _, c := range []struct{ above, want uint64 }{{0, 1}, {41, 42}, {41, 43}, {7, 44}} {
		m, err := f.store.Publish(t.Context(), store.Content{Bytes: []byte("x")}, store.Meta{Above: c.above}, nil)
		if err != nil || m.Generation != c.want {
			t.Errorf("above %d: generation %d, %v", c.above, m.Generation, err)
		}
	}
	f.checkChain(t)
}

func testDamage(t *testing.T, f *fixture) {
	content := Noise(5, 2<<20)
	publish := func() store.Manifest {
		t.Helper()
		m, err := f.store.Publish(t.Context(), store.Content{Bytes: content}, store.Meta{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := publish()
	chunk := fmt.Sprintf("%s/blob/%s/%04d", f.prefix, m.Blob, 1)
	for name, damage := range map[string]func() error{
		"overwritten": func() error {
			_, err := f.etcd.Put(t.Context(), chunk, "not what it was")
			return err
		},
		"deleted": func() error {
			_, err := f.etcd.Delete(t.Context(), chunk)
			return err
		},
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := f.store.Fetch(t.Context(), m.Generation); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("fetch, chunk %s: %v", name, err)
		}
		if _, err := f.store.Rollback(t.Context(), m.Generation, store.Meta{}, nil); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("rollback, chunk %s: %v", name, err)
		}
		// Publishing the same bytes mends what shares their chunks.
		m = publish()
		if got, _, err := f.store.Fetch(t.Context(), 1); err != nil || !bytes.Equal(got, content) {
			t.Errorf("not mended, chunk %s: %v", name, err)
		}
		if resp, err := f.etcd.Get(t.Context(), chunk); err != nil || len(resp.Kvs) != 1 || resp.Kvs[0].GetLease() != 0 {
			t.Errorf("%v, %v", resp, err)
		}
	}

	for key, value := range map[string]string{
		f.prefix + "/gen/00000000000000000001": `{"generation":`,
		f.prefix + "/gen/00000000000000000002": `{"generation":1}`,
		f.prefix + "/gen/00000000000000000003": `{"generation":3,"chunks":1000000}`,
	} {
		if _, err := f.etcd.Put(t.Context(), key, value); err != nil {
			t.Fatal(err)
		}
	}
	for generation := range uint64(3) {
		if _, _, err := f.store.Fetch(t.Context(), generation+1); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("manifest %d: %v", generation+1, err)
		}
	}
	if _, err := f.etcd.Put(t.Context(), f.prefix+"/head", "?"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.store.Head(t.Context()); !errors.Is(err, store.ErrCorrupt) {
		t.Error(err)
	}
}

func testNewerLayout(t *testing.T, f *fixture) {
	if _, err := f.etcd.Put(t.Context(), f.prefix+"/cluster", `{"store_id":"x","layout_version":2}`); err != nil {
		t.Fatal(err)
	}
	if _, err := f.store.Publish(t.Context(), store.Content{}, store.Meta{}, nil); !errors.Is(err, store.ErrLayout) {
		t.Error(err)
	}
}

func testGC(t *testing.T, f *fixture) {
	for i := range 25 {
		f.publish(t, fmt.Sprint("content ", i))
	}
	ms, err := f.store.List(t.Context(), 0)
	if err != nil || len(ms) != 20 || ms[0].Generation != 25 || ms[19].Generation != 6 {
		t.Fatalf("%d generations, %v", len(ms), err)
	}
	f.checkChain(t)
	// The chunk of the generation that went last is still there for whoever is just fetching it.
	if n := f.count(t, "/blob/"); n != 21 {
		t.Errorf("%d chunks", n)
	}
	if err := f.store.GC(t.Context()); err != nil {
		t.Error(err)
	}
	if n := f.count(t, "/blob/"); n != 20 {
		t.Errorf("%d chunks after one more collection", n)
	}
	// A rollback to the oldest keeps its content, although its own manifest goes.
	if _, err := f.store.Rollback(t.Context(), 6, store.Meta{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := f.store.GC(t.Context()); err != nil {
		t.Error(err)
	}
	if _, _, err := f.store.Fetch(t.Context(), 6); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	if got, _, err := f.store.Fetch(t.Context(), 26); err != nil || string(got) != "content 5" {
		t.Errorf("%q, %v", got, err)
	}
}

// testGCBesidePublishers makes contents come into use again just when they are collected.
func testGCBesidePublishers(t *testing.T, f *fixture) {
	for i := range 24 {
		f.publish(t, fmt.Sprint("content ", i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	var publishers, collectors errgroup.Group
	for i := range 3 {
		publishers.Go(func() error {
			for round := range 15 {
				// Content that just fell out of what is kept.
				content := fmt.Appendf(nil, "content %d", (i+round*3)%26)
				m, err := f.store.Publish(ctx, store.Content{Bytes: content}, store.Meta{}, nil)
				if err != nil {
					return err
				}
				if got, _, err := f.store.Fetch(ctx, m.Generation); err != nil || !bytes.Equal(got, content) {
					return fmt.Errorf("fetch what was just published: %q, %w", got, err)
				}
			}
			return nil
		})
		collectors.Go(func() error {
			for {
				err := f.store.GC(ctx)
				if ctx.Err() != nil {
					return nil //nolint:nilerr // The end was wanted.
				}
				if err != nil {
					return err
				}
			}
		})
	}
	if err := publishers.Wait(); err != nil {
		t.Error(err)
	}
	cancel()
	if err := collectors.Wait(); err != nil {
		t.Error(err)
	}
	f.checkChain(t)
}
