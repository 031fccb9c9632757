package server

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
)

// busy is a service whose handler goes on whatever its context says.
type busy struct {
	healthv1.UnimplementedHealthServer

	entered, release chan struct{}
}

func (b *busy) Check(context.Context, *healthv1.HealthCheckRequest) (*healthv1.HealthCheckResponse, error) {
	close(b.entered)
	<-b.release
	return &healthv1.HealthCheckResponse{}, nil
}

// The server waits for calls that are answered in time, and ends although a handler goes on.
func TestStopCalls(t *testing.T) {
	for name, tt := range map[string]struct {
		unanswered  int64
		grace, take time.Duration
		releases    bool
		want        codes.Code
	}{
		"answered in time":      {1, time.Minute, time.Millisecond, true, codes.OK},
		"a handler goes on":     {1, time.Millisecond, time.Minute, false, codes.Unavailable},
		"an answer is not read": {0, time.Minute, time.Millisecond, false, codes.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			b := &busy{entered: make(chan struct{}), release: make(chan struct{})}
			release := sync.OnceFunc(func() { close(b.release) })
			calls := grpc.NewServer()
			healthv1.RegisterHealthServer(calls, b)
			listener := bufconn.Listen(1 << 16)
			conn, err := grpc.NewClient("passthrough:///bufconn",
				grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
				grpc.WithTransportCredentials(insecure.NewCredentials()))
			if err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			defer func() {
				release()
				_ = conn.Close()
				wg.Wait()
			}()
			wg.Go(func() { _ = calls.Serve(listener) })
			outcome := make(chan error, 1)
			wg.Go(func() {
				_, err := healthv1.NewHealthClient(conn).Check(t.Context(), &healthv1.HealthCheckRequest{})
				outcome <- err
			})
			<-b.entered
			var unanswered atomic.Int64
			unanswered.Store(tt.unanswered)
			if tt.releases {
				release()
			}
			if got := stopCalls(calls, &unanswered, tt.grace, tt.take); got != tt.releases {
				t.Errorf("all answered: %v, want %v", got, tt.releases)
			}
			if err := <-outcome; status.Code(err) != tt.want {
				t.Errorf("the caller gets %v, want code %s", err, tt.want)
			}
		})
	}
}
