package storetest

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/store"
)

// movesHead says whether a call is the transaction that publishes.
func (f *fixture) movesHead(c Call) bool {
	return c.Method == "/etcdserverpb.KV/Txn" && bytes.Contains(c.Request, []byte(f.prefix+"/head")) &&
		bytes.Contains(c.Request, []byte("publication_id"))
}

// testLostLease takes the chunks away between upload and publication.
func testLostLease(t *testing.T, f *fixture) {
	s, proxy := f.throughProxy(t)
	var times atomic.Int32
	proxy.Judge(func(c Call) Fate {
		if f.movesHead(c) && times.Add(1) <= 2 {
			f.revokeAll(t)
		}
		return Pass
	})
	content := Noise(6, 2<<20)
	m, err := s.Publish(t.Context(), store.Content{Bytes: content}, store.Meta{}, nil)
	if err != nil || m.Generation != 1 || times.Load() != 3 {
		t.Fatal(m, err, times.Load())
	}
	f.revokeAll(t)
	if got, _, err := s.Fetch(t.Context(), 1); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// testGCBesideUpload collects between upload and publication.
func testGCBesideUpload(t *testing.T, f *fixture) {
	f.publish(t, "before")
	s, proxy := f.throughProxy(t)
	var times atomic.Int32
	proxy.Judge(func(c Call) Fate {
		if f.movesHead(c) {
			times.Add(1)
			if err := f.store.GC(t.Context()); err != nil {
				t.Error(err)
			}
		}
		return Pass
	})
	_, err := s.Publish(t.Context(), store.Content{Bytes: Noise(8, 2<<20)}, store.Meta{}, nil)
	if err != nil || times.Load() != 1 {
		t.Errorf("%v, %d times", err, times.Load())
	}
	f.checkChain(t)
}

// revokeAll revokes the leases of this store's chunks. Others may share the etcd.
func (f *fixture) revokeAll(t *testing.T) {
	t.Helper()
	resp, err := f.etcd.Get(t.Context(), f.prefix+"/blob/", clientv3.WithPrefix())
	if err != nil {
		t.Error(err)
		return
	}
	leases := make(map[int64]bool)
	for _, kv := range resp.Kvs {
		leases[kv.GetLease()] = kv.GetLease() != 0
	}
	for lease, there := range leases {
		if !there {
			continue
		}
		if _, err := f.etcd.Revoke(t.Context(), clientv3.LeaseID(lease)); err != nil {
			t.Error(err)
		}
	}
}

// testAbandonedUpload cancels a publication whose chunks are uploaded.
func testAbandonedUpload(t *testing.T, f *fixture) {
	s, proxy := f.throughProxy(t)
	ctx, cancel := context.WithCancel(t.Context())
	proxy.Judge(func(c Call) Fate {
		if f.movesHead(c) {
			cancel()
			return LoseRequest
		}
		return Pass
	})
	_, err := s.Publish(ctx, store.Content{Bytes: Noise(7, 1<<20)}, store.Meta{}, nil)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if n := f.count(t, "/blob/"); n != 0 {
		t.Errorf("%d chunks were left", n)
	}
	if n := f.count(t, "/gen/"); n != 0 {
		t.Errorf("%d generations", n)
	}
}

// testLostReply loses the answer to a transaction that was carried out.
func testLostReply(t *testing.T, f *fixture) {
	s, proxy := f.throughProxy(t)
	proxy.Judge(func(c Call) Fate {
		if f.movesHead(c) {
			return LoseReply
		}
		return Pass
	})
	for expected := range uint64(3) {
		m, err := s.Publish(t.Context(), store.Content{Bytes: []byte("x")}, store.Meta{}, &expected)
		if err != nil || m.Generation != expected+1 {
			t.Fatal(m, err)
		}
	}
	if n := f.count(t, "/gen/"); n != 3 {
		t.Errorf("%d generations", n)
	}
}

// testLostRequest loses a transaction before etcd sees it.
func testLostRequest(t *testing.T, f *fixture) {
	s, proxy := f.throughProxy(t)
	var times atomic.Int32
	proxy.Judge(func(c Call) Fate {
		if f.movesHead(c) && times.Add(1)%3 != 0 {
			return LoseRequest
		}
		return Pass
	})
	for expected := range uint64(2) {
		m, err := s.Publish(t.Context(), store.Content{Bytes: []byte("x")}, store.Meta{}, &expected)
		if err != nil || m.Generation != expected+1 {
			t.Fatal(m, err)
		}
	}
}

// testUnknownOutcome loses every answer, so that nothing can be found out.
func testUnknownOutcome(t *testing.T, f *fixture) {
	f.publish(t, "before")
	s, proxy := f.throughProxy(t)
	ctx, cancel := context.WithCancel(t.Context())
	var lost atomic.Bool
	proxy.Judge(func(c Call) Fate {
		if f.movesHead(c) {
			lost.Store(true)
			return LoseReply
		}
		if lost.Load() {
			cancel()
			return LoseRequest
		}
		return Pass
	})
	_, err := s.Publish(ctx, store.Content{Bytes: []byte("x")}, store.Meta{}, nil)
	if !errors.Is(err, store.ErrUnknownOutcome) {
		t.Error(err)
	}
	if h, err := f.store.Head(t.Context()); err != nil || h.Generation != 2 {
		t.Error(h, err)
	}
}

// testLateLanding lets a transaction whose answer was lost be carried out only after its publisher looked for it.
func testLateLanding(t *testing.T, f *fixture) {
	s, proxy := f.throughProxy(t)
	var late *pb.TxnRequest
	proxy.Judge(func(c Call) Fate {
		switch {
		case f.movesHead(c):
			late = new(pb.TxnRequest)
			if err := proto.Unmarshal(c.Request, late); err != nil {
				t.Error(err)
			}
			return LoseRequest
		case late != nil && bytes.Contains(c.Request, []byte(f.prefix+"/cluster")): // The publisher starts again.
			if _, err := pb.NewKVClient(f.etcd.ActiveConnection()).Txn(t.Context(), late); err != nil {
				t.Error(err)
			}
			late = nil
		}
		return Pass
	})
	expected := uint64(0)
	m, err := s.Publish(t.Context(), store.Content{Bytes: []byte("x")}, store.Meta{}, &expected)
	if err != nil || m.Generation != 1 {
		t.Fatal(m, err)
	}
	if n := f.count(t, "/gen/"); n != 1 {
		t.Errorf("%d generations", n)
	}
}
