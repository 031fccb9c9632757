package store

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/pointsman/pointsman/store/internal/zaplog"
)

// Options say where the store is. Only Endpoints is required.
type Options struct {
	// Endpoints of etcd: "https://host:2379", "host:2379" or "unix:///path/to/socket".
	Endpoints []string
	// Prefix of all keys, DefaultPrefix when empty. Stores with different prefixes in one etcd are independent.
	Prefix string
	// Timeout of each single call to etcd, 5 s when 0. The caller's context only shortens it.
	Timeout time.Duration
	// DialKeepAlive is how long a connection may be silent before it is probed, 10 s when 0. The answer to a probe must
	// come within 3 s. Servers refuse less than 5 s.
	DialKeepAlive time.Duration
	// TLS is nil for plain connections.
	TLS *tls.Config
	// Logger may be nil for none.
	Logger *slog.Logger
}

// Store is a client of one store. It is safe for concurrent use.
type Store struct {
	client    *clientv3.Client
	kv        clientv3.KV
	keys      layout
	timeout   time.Duration
	log       *slog.Logger
	confirmed atomic.Pointer[time.Time]
}

// Open makes a client. It does not connect: a store that can't be reached shows in the first call that needs it, and
// connections are made again whenever they are lost. ctx gives its values to the client; its end does not close it.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Second
	}
	if o.DialKeepAlive == 0 {
		o.DialKeepAlive = 10 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	client, err := clientv3.New(clientv3.Config{
		Context:              context.WithoutCancel(ctx),
		Endpoints:            o.Endpoints,
		TLS:                  o.TLS,
		DialKeepAliveTime:    o.DialKeepAlive,
		DialKeepAliveTimeout: 3 * time.Second,
		DialOptions: []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
			// gRPC's default grows to two minutes, which is too long to be away from a store that is back.
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second},
			MinConnectTimeout: 3 * time.Second,
		})},
		// The client's own lines repeat what its errors say.
		Logger: zaplog.New(o.Logger, zapcore.WarnLevel, ""),
	})
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", strings.Join(o.Endpoints, ","), err)
	}
	return &Store{
		client:  client,
		kv:      client.KV,
		keys:    layout{prefix: strings.TrimSuffix(o.Prefix, "/")},
		timeout: o.Timeout,
		log:     o.Logger,
	}, nil
}

// Close ends all connections and with them all calls in flight.
func (s *Store) Close() error {
	if err := s.client.Close(); err != nil {
		return fmt.Errorf("close store: %w", err)
	}
	return nil
}

// LastConfirmed is when head was last read successfully, by any call; the zero time if never. Silence of a watch is
// not health, so this is what the age of the control plane's view is measured by.
func (s *Store) LastConfirmed() time.Time {
	if t := s.confirmed.Load(); t != nil {
		return *t
	}
	return time.Time{}
}

// ClusterID returns the UUID of the store, which it creates if this store was never used before.
func (s *Store) ClusterID(ctx context.Context) (string, error) {
	h, err := s.Head(ctx)
	if err != nil || h.StoreID != "" {
		return h.StoreID, err
	}
	key := s.keys.cluster()
	value, err := encode(cluster{StoreID: uuid.NewString(), LayoutVersion: layoutVersion})
	if err != nil {
		return "", err
	}
	callCtx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	_, err = s.kv.Txn(callCtx).
		If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, value)).
		Commit()
	if err != nil && (refused(err) || ctx.Err() != nil) {
		return "", explain("create", key, err)
	}
	// Whoever came first has written it; it is there even if our own answer was lost.
	h, readErr := s.Head(ctx)
	switch {
	case readErr != nil:
		return "", readErr
	case h.StoreID == "":
		return "", explain("create", key, err)
	default:
		return h.StoreID, nil
	}
}

// Head reads, linearizably, which generation is in force and whether the last publication was refused. A store that was
// never used has generation 0 and no id.
func (s *Store) Head(ctx context.Context) (Head, error) {
	resp, err := s.read(ctx, clientv3.OpGet(s.keys.cluster()), clientv3.OpGet(s.keys.head()), clientv3.OpGet(s.keys.rejection()))
	if err != nil {
		return Head{}, explain("read", s.keys.head(), err)
	}
	var c cluster
	if kvs := resp.Responses[0].GetResponseRange().GetKvs(); len(kvs) > 0 {
		if err := decode(s.keys.cluster(), kvs[0].GetValue(), &c); err != nil {
			return Head{}, err
		}
		if c.LayoutVersion > layoutVersion {
			return Head{}, fmt.Errorf("read %s: %w: %d, known is %d", s.keys.cluster(), ErrLayout, c.LayoutVersion, layoutVersion)
		}
	}
	var h Head
	if kvs := resp.Responses[1].GetResponseRange().GetKvs(); len(kvs) > 0 {
		if err := decode(s.keys.head(), kvs[0].GetValue(), &h); err != nil {
			return Head{}, err
		}
		h.modRevision = kvs[0].GetModRevision()
	}
	if kvs := resp.Responses[2].GetResponseRange().GetKvs(); len(kvs) > 0 {
		h.Rejection = decodeRejection(s.keys.rejection(), kvs[0].GetValue())
	}
	h.StoreID = c.StoreID
	now := time.Now()
	s.confirmed.Store(&now)
	return h, nil
}

// read makes the reads in one transaction, so that they see the same moment. Within the call's deadline it goes on
// trying while no member can be reached, which bridges the restart of a store. Its error is the client's, for explain.
func (s *Store) read(ctx context.Context, ops ...clientv3.Op) (*clientv3.TxnResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	for {
		resp, err := s.kv.Txn(ctx).Then(ops...).Commit()
		if err == nil || refused(err) || !pause(ctx, 50*time.Millisecond) {
			return resp, err
		}
	}
}
