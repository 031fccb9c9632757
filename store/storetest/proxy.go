package storetest

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Call is one unary request that passes a Proxy.
type Call struct {
	// Method is the full name, such as "/etcdserverpb.KV/Txn".
	Method string
	// Request is the encoded message.
	Request []byte
}

// Fate is what happens to a call.
type Fate int

// The fates: Pass changes nothing; LoseRequest and LoseReply answer Unavailable, before and after etcd saw the call.
const (
	Pass Fate = iota
	LoseRequest
	LoseReply
)

// Proxy passes gRPC calls to etcd and can spoil them.
type Proxy struct {
	// Endpoint is where the proxy listens.
	Endpoint string

	conn    *grpc.ClientConn
	mu      sync.Mutex
	judge   func(Call) Fate
	healthy context.Context
	cut     context.CancelFunc
}

// NewProxy starts a proxy before the etcd at a "unix://" or "host:port" endpoint. It ends with the test.
func NewProxy(t *testing.T, endpoint string) *Proxy {
	t.Helper()
	conn, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(1<<30)))
	if err != nil {
		t.Fatal(err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Endpoint: l.Addr().String(), conn: conn}
	p.Heal()
	server := grpc.NewServer(grpc.ForceServerCodecV2(rawCodec{}), grpc.UnknownServiceHandler(p.pass), grpc.MaxRecvMsgSize(1<<30))
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(l); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		p.Cut()
		server.Stop()
		<-done
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// Judge decides over each unary call from now on; nil passes all. Calls may come at the same time.
func (p *Proxy) Judge(judge func(Call) Fate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.judge = judge
}

// Cut breaks all calls and streams, and refuses new ones until Heal.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut()
}

// Heal ends a Cut.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut != nil {
		p.cut()
	}
	p.healthy, p.cut = context.WithCancel(context.Background())
}

var errCut = status.Error(codes.Unavailable, "the proxy is cut")

// pass handles every call of every service.
func (p *Proxy) pass(_ any, caller grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(caller)
	p.mu.Lock()
	judge, healthy := p.judge, p.healthy
	p.mu.Unlock()
	if healthy.Err() != nil {
		return errCut
	}
	ctx, cancel := context.WithCancel(caller.Context())
	defer cancel()
	defer context.AfterFunc(healthy, cancel)()
	md, _ := metadata.FromIncomingContext(ctx)
	etcd, err := p.conn.NewStream(metadata.NewOutgoingContext(ctx, md), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true},
		method, grpc.ForceCodecV2(rawCodec{}))
	if err != nil {
		return err
	}
	if isStream(method) {
		go func() {
			_ = copyMessages(etcd, caller)
			_ = etcd.CloseSend()
		}()
		err = copyMessages(caller, etcd)
	} else {
		err = passUnary(caller, etcd, method, judge)
	}
	if healthy.Err() != nil {
		return errCut
	}
	caller.SetTrailer(etcd.Trailer())
	return err
}

func passUnary(caller grpc.ServerStream, etcd grpc.ClientStream, method string, judge func(Call) Fate) error {
	var request, reply frame
	if err := caller.RecvMsg(&request); err != nil {
		return err
	}
	fate := Pass
	if judge != nil {
		fate = judge(Call{Method: method, Request: request.bytes})
	}
	if fate == LoseRequest {
		return status.Error(codes.Unavailable, "the proxy lost the request")
	}
	if err := errors.Join(etcd.SendMsg(&request), etcd.CloseSend()); err != nil {
		return err
	}
	if err := etcd.RecvMsg(&reply); err != nil {
		return err
	}
	if fate == LoseReply {
		return status.Error(codes.Unavailable, "the proxy lost the reply")
	}
	return caller.SendMsg(&reply)
}

func isStream(method string) bool {
	return method == "/etcdserverpb.Watch/Watch" || method == "/etcdserverpb.Lease/LeaseKeepAlive"
}

func copyMessages(to, from interface {
	SendMsg(m any) error
	RecvMsg(m any) error
},
) error {
	for {
		var f frame
		if err := from.RecvMsg(&f); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := to.SendMsg(&f); err != nil {
			return err
		}
	}
}

type frame struct{ bytes []byte }

// rawCodec leaves messages encoded.
type rawCodec struct{}

var _ encoding.CodecV2 = rawCodec{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.(*frame).bytes)}, nil //nolint:forcetypeassert // Only frames are sent.
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	v.(*frame).bytes = data.Materialize() //nolint:forcetypeassert // Only frames are received.
	return nil
}
