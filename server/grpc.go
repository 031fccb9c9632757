package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/api"
	"github.com/pointsman/pointsman/server/metrics"
)

const (
	// maxMessage holds a statement of 64 MiB, or a configuration with hundreds of thousands of fast routes.
	maxMessage = 72 << 20

	// minClientPing is how often a client may probe the connection. Gateways do every 10 s.
	minClientPing = 5 * time.Second
)

// newGRPC makes the gRPC server with all services.
func newGRPC(decisions *api.Decision, configs *api.Config, healths *health.Server, m *metrics.Metrics, log *slog.Logger, stopping <-chan struct{}) *grpc.Server {
	recovered := recovery.WithRecoveryHandlerContext(func(ctx context.Context, p any) error { return api.Recovered(ctx, log, p) })
	s := grpc.NewServer(
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minClientPing, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 30 * time.Second, Timeout: 10 * time.Second}),
		grpc.ChainUnaryInterceptor(countUnary(m), recovery.UnaryServerInterceptor(recovered)),
		grpc.ChainStreamInterceptor(countStream(m), endHealthWatch(stopping), recovery.StreamServerInterceptor(recovered)),
	)
	decisionv1.RegisterDecisionServiceServer(s, decisions)
	configv1.RegisterConfigServiceServer(s, configs)
	healthv1.RegisterHealthServer(s, healths)
	reflection.Register(s)

	var methods []string
	for service, info := range s.GetServiceInfo() {
		for _, method := range info.Methods {
			methods = append(methods, "/"+service+"/"+method.Name)
		}
	}
	m.Methods(methods)
	return s
}

func countUnary(m *metrics.Metrics) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		resp, err := next(ctx, req)
		m.RPC(info.FullMethod, status.Code(err))
		return resp, err
	}
}

func countStream(m *metrics.Metrics) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		err := next(srv, stream)
		m.RPC(info.FullMethod, status.Code(err))
		return err
	}
}

// endHealthWatch ends watches of the health when the server stops, as our own services do by themselves. Else an
// orderly end would wait for callers that watch.
func endHealthWatch(stopping <-chan struct{}) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		if info.FullMethod != healthv1.Health_Watch_FullMethodName {
			return next(srv, stream)
		}
		ctx, cancel := context.WithCancel(stream.Context())
		defer cancel()
		go func() { // ends with the call
			select {
			case <-stopping:
				cancel()
			case <-ctx.Done():
			}
		}()
		return next(srv, &endingStream{ServerStream: stream, ctx: ctx})
	}
}

// endingStream is a stream with another context.
type endingStream struct {
	grpc.ServerStream

	ctx context.Context
}

func (s *endingStream) Context() context.Context { return s.ctx }
