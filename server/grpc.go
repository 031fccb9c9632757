package server

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/api"
	"github.com/pointsman/pointsman/server/metrics"
)

// newGRPC makes the gRPC server with all services. It counts the calls that are not answered yet in unanswered.
func newGRPC(decisions *api.Decision, configs *api.Config, healths *health.Server, m *metrics.Metrics, log *slog.Logger, stopping <-chan struct{}, unanswered *atomic.Int64) *grpc.Server {
	recovered := recovery.WithRecoveryHandlerContext(func(ctx context.Context, p any) error { return api.Recovered(ctx, log, p) })
	s := grpc.NewServer(append(api.ServerOptions(),
		grpc.ChainUnaryInterceptor(countUnary(m, unanswered), recovery.UnaryServerInterceptor(recovered)),
		grpc.ChainStreamInterceptor(countStream(m, unanswered), endForeign(stopping), recovery.StreamServerInterceptor(recovered)),
	)...)
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

func countUnary(m *metrics.Metrics, unanswered *atomic.Int64) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		unanswered.Add(1)
		defer unanswered.Add(-1)
		resp, err := next(ctx, req)
		m.RPC(info.FullMethod, status.Code(err))
		return resp, err
	}
}

func countStream(m *metrics.Metrics, unanswered *atomic.Int64) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		unanswered.Add(1)
		defer unanswered.Add(-1)
		err := next(srv, stream)
		m.RPC(info.FullMethod, status.Code(err))
		return err
	}
}

// endForeign ends streams of services that are not ours when the server stops: watches of the health, and reflection.
// Ours end by themselves. Else an orderly end would wait for callers that keep such a stream.
func endForeign(stopping <-chan struct{}) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		switch info.FullMethod {
		case healthv1.Health_Watch_FullMethodName,
			reflectionv1.ServerReflection_ServerReflectionInfo_FullMethodName,
			reflectionv1alpha.ServerReflection_ServerReflectionInfo_FullMethodName:
		default:
			return next(srv, stream)
		}
		done := make(chan error, 1)
		// The return of this call ends the stream, and with it the handler.
		go func() { done <- next(srv, stream) }()
		select {
		case err := <-done:
			return err
		case <-stopping:
			return status.Error(codes.Unavailable, "the server is stopping")
		}
	}
}
