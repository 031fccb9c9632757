package ctl_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// emptyStore answers as a server does to which nothing was published, and that can't list it.
type emptyStore struct {
	configv1.UnimplementedConfigServiceServer
}

func (emptyStore) ListGenerations(context.Context, *configv1.ListGenerationsRequest) (*configv1.ListGenerationsResponse, error) {
	away, err := status.New(codes.Unavailable, "no answer from etcd").WithDetails(&errdetails.ErrorInfo{Reason: "STORE_UNAVAILABLE"})
	if err != nil {
		return nil, err
	}
	return nil, away.Err()
}

func (emptyStore) GetConfig(context.Context, *configv1.GetConfigRequest) (*configv1.GetConfigResponse, error) {
	return nil, status.Error(codes.NotFound, "generation 0: no such generation")
}

// TestNoGenerationYet asks a server to which nothing was published.
func TestNoGenerationYet(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	healths := health.NewServer()
	healths.SetServingStatus("pointsman.decision.v1.DecisionService", healthv1.HealthCheckResponse_NOT_SERVING)
	server := grpc.NewServer()
	healthv1.RegisterHealthServer(server, healths)
	configv1.RegisterConfigServiceServer(server, emptyStore{})
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	defer func() {
		server.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	for want, args := range map[string][]string{
		"no generation in force yet": {"route", "--user", "app", "SELECT 1"},
		"nothing is published yet":   {"get"},
		"no such generation":         {"get", "--generation", "7"},
		"no answer from etcd\n":      {"generations"}, // it was the server that said so
	} {
		args = append(args, "--server", listener.Addr().String())
		if code, out, errs := run(t, "", args...); code != 2 || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%q: code %d, stdout %q, stderr %q", args, code, out, errs)
		}
	}
}
