package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	client "github.com/pointsman/pointsman/clients/go"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of these tests.
const patience = 20 * time.Second

// fakeServer answers with destination hostgroup = its own number.
type fakeServer struct {
	decisionv1.UnimplementedDecisionServiceServer
	configv1.UnimplementedConfigServiceServer
	number  int32
	silent  atomic.Bool // take questions, never answer
	strange atomic.Bool // answer an unknown request_id first
	watches atomic.Int32
	pings   atomic.Int32 // empty questions
	freezer *freezer     // nil: it can't be frozen

	mu   sync.Mutex
	held []func() // answers of the time of silence
}

// release sends what silence has held back.
func (f *fakeServer) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, send := range f.held {
		send()
	}
}

func (f *fakeServer) RouteStatements(s grpc.BidiStreamingServer[decisionv1.RouteStatementRequest, decisionv1.RouteStatementResponse]) error {
	if err := s.SendHeader(nil); err != nil {
		return err
	}
	for {
		req, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if req.GetSession() == nil {
			f.pings.Add(1)
		} else if f.silent.Load() {
			f.mu.Lock()
			f.held = append(f.held, func() {
				_ = s.Send(&decisionv1.RouteStatementResponse{RequestId: req.GetRequestId(), DestinationHostgroup: &f.number}) // while nothing else is sent
			})
			f.mu.Unlock()
			continue
		}
		if f.strange.Load() {
			if err := s.Send(&decisionv1.RouteStatementResponse{RequestId: req.GetRequestId() + 1<<40}); err != nil {
				return err
			}
		}
		resp := &decisionv1.RouteStatementResponse{RequestId: req.GetRequestId(), DestinationHostgroup: &f.number}
		if req.GetSession().GetUsername() == "" {
			resp = &decisionv1.RouteStatementResponse{
				RequestId: req.GetRequestId(), Error: status.New(codes.InvalidArgument, "session.username: empty").Proto(),
			}
		}
		if err := s.Send(resp); err != nil {
			return err
		}
	}
}

func (f *fakeServer) WatchGatewayConfig(_ *configv1.WatchGatewayConfigRequest, s grpc.ServerStreamingServer[configv1.WatchGatewayConfigResponse]) error {
	n := f.watches.Add(1)
	return s.Send(&configv1.WatchGatewayConfigResponse{Generation: uint64(n), Sequence: 1}) // and end: the client subscribes again
}

// start serves f on addr ("127.0.0.1:0" for any port) until the returned stop is called.
func start(t *testing.T, f *fakeServer, addr string) (address string, stop func()) {
	t.Helper()
	var lc net.ListenConfig
	var l net.Listener
	waitFor(t, "listen on "+addr, func() bool {
		var err error
		l, err = lc.Listen(t.Context(), "tcp", addr)
		return err == nil
	})
	address = l.Addr().String()
	if f.freezer != nil {
		f.freezer.Listener = l
		l = f.freezer
	}
	s := grpc.NewServer()
	decisionv1.RegisterDecisionServiceServer(s, f)
	configv1.RegisterConfigServiceServer(s, f)
	h := health.NewServer()
	h.SetServingStatus("pointsman.decision.v1.DecisionService", healthv1.HealthCheckResponse_SERVING)
	healthv1.RegisterHealthServer(s, h)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	var once sync.Once
	stop = func() { once.Do(func() { s.Stop(); <-done }) }
	t.Cleanup(stop)
	return address, stop
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

func run(t *testing.T, addrs ...string) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{Addresses: addrs})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return c
}

func ask(ctx context.Context, c *client.Client, user string) (*decisionv1.RouteStatementResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return c.Route(ctx, &decisionv1.RouteStatementRequest{Session: &decisionv1.Session{Username: user}})
}

func TestRouteManyInFlight(t *testing.T) {
	addr, _ := start(t, &fakeServer{number: 7}, "127.0.0.1:0")
	c := run(t, addr)
	if err := c.WaitConnected(t.Context(), patience); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for range 50 {
				resp, err := ask(t.Context(), c, "app")
				if err != nil || resp.GetDestinationHostgroup() != 7 {
					t.Errorf("got %v, %v", resp, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestRouteBadRequestAndUnknownID(t *testing.T) {
	f := &fakeServer{number: 1}
	f.strange.Store(true)
	addr, _ := start(t, f, "127.0.0.1:0")
	c := run(t, addr)
	if err := c.WaitConnected(t.Context(), patience); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t.Context(), c, ""); status.Code(err) != codes.InvalidArgument {
		t.Errorf("bad request gives %v", err)
	}
	if resp, err := ask(t.Context(), c, "app"); err != nil || resp.GetDestinationHostgroup() != 1 {
		t.Errorf("after it: %v, %v", resp, err)
	}
}

func TestRouteWithoutServer(t *testing.T) {
	c := run(t, "127.0.0.1:1")
	if _, err := ask(t.Context(), c, "app"); !errors.Is(err, client.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if err := c.WaitConnected(t.Context(), time.Millisecond); !errors.Is(err, client.ErrUnavailable) {
		t.Errorf("WaitConnected gives %v", err)
	}
}

func TestRouteDeadlineOfSilentServer(t *testing.T) {
	f := &fakeServer{number: 1}
	f.silent.Store(true)
	addr, _ := start(t, f, "127.0.0.1:0")
	c := run(t, addr)
	if err := c.WaitConnected(t.Context(), patience); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	_, err := c.Route(ctx, &decisionv1.RouteStatementRequest{Session: &decisionv1.Session{Username: "app"}})
	if !errors.Is(err, context.DeadlineExceeded) || !client.IsUnavailable(err) {
		t.Errorf("got %v", err)
	}
	f.silent.Store(false)
	if _, err := ask(t.Context(), c, "app"); err != nil {
		t.Errorf("after it: %v", err)
	}
}

func TestQuestionInFlightFailsWhenServerDies(t *testing.T) {
	f := &fakeServer{number: 1}
	f.silent.Store(true)
	addr, stop := start(t, f, "127.0.0.1:0")
	c := run(t, addr)
	if err := c.WaitConnected(t.Context(), patience); err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 1)
	go func() { _, err := ask(t.Context(), c, "app"); got <- err }()
	stop()
	if err := <-got; !errors.Is(err, client.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestFailoverAndRestart(t *testing.T) {
	addr1, stop1 := start(t, &fakeServer{number: 1}, "127.0.0.1:0")
	addr2, stop2 := start(t, &fakeServer{number: 2}, "127.0.0.1:0")
	c := run(t, addr1, addr2)
	first := waitAnswer(t, c, 0)
	if first == 1 {
		stop1()
		waitAnswer(t, c, 2)
		stop2()
	} else {
		stop2()
		waitAnswer(t, c, 1)
		stop1()
	}
	waitFor(t, "no server", func() bool {
		_, err := ask(t.Context(), c, "app")
		return errors.Is(err, client.ErrUnavailable)
	})
	start(t, &fakeServer{number: 3}, addr1)
	waitAnswer(t, c, 3)
}

// waitAnswer asks until the server with that number (0: any) answers.
func waitAnswer(t *testing.T, c *client.Client, number int32) (from int32) {
	t.Helper()
	waitFor(t, fmt.Sprintf("an answer of server %d", number), func() bool {
		resp, err := ask(t.Context(), c, "app")
		from = resp.GetDestinationHostgroup()
		return err == nil && (number == 0 || from == number)
	})
	return from
}

func TestWatchSubscribesAgain(t *testing.T) {
	addr, _ := start(t, &fakeServer{}, "127.0.0.1:0")
	c := run(t, addr)
	enough := errors.New("enough")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var last uint64
	err := c.WatchGatewayConfig(ctx, "test", func(m *configv1.WatchGatewayConfigResponse) error {
		last = m.GetGeneration()
		if last == 3 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || last != 3 {
		t.Errorf("ended with %v at %d", err, last)
	}
}

func TestWatchEndsWithContextAndUnimplemented(t *testing.T) {
	addr, _ := start(t, &fakeServer{}, "127.0.0.1:0")
	c := run(t, addr)
	err := c.WatchGeneration(t.Context(), func(*decisionv1.WatchGenerationResponse) error { return nil })
	if status.Code(err) != codes.Unimplemented {
		t.Errorf("unimplemented watch ends with %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = c.WatchGatewayConfig(ctx, "test", func(*configv1.WatchGatewayConfigResponse) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled watch ends with %v", err)
	}
}

func TestNewRefusesBadAddresses(t *testing.T) {
	for _, addrs := range [][]string{nil, {"localhost"}, {"unix:"}, {"127.0.0.1:1", "x"}} {
		if c, err := client.New(client.Options{Addresses: addrs}); err == nil {
			t.Errorf("New(%q) gives no error", addrs)
			_ = c.Close()
		}
	}
}

func ExampleClient_Route() {
	c, err := client.New(client.Options{Addresses: []string{"127.0.0.1:7080"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }() // keeps the stream open

	_, err = c.Route(ctx, &decisionv1.RouteStatementRequest{
		Session:   &decisionv1.Session{Username: "app", Schemaname: "shop"},
		Statement: &decisionv1.Statement{Body: &decisionv1.Statement_Text{Text: "SELECT 1"}},
	})
	fmt.Println("no server runs here:", client.IsUnavailable(err))

	cancel()
	<-done
	_ = c.Close()
	// Output: no server runs here: true
}
