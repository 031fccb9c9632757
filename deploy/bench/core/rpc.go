package core

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	client "github.com/pointsman/pointsman/clients/go"
	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/live"
	"github.com/pointsman/pointsman/deploy/bench"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/api"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/metrics"
	"github.com/pointsman/pointsman/server/observed"
	"github.com/pointsman/pointsman/server/state"
)

// inFlight is how many questions are unanswered at a time in the pipelined row.
const inFlight = 16

// rpc has both ends in this process, connected over TCP on loopback, so that its CPU time is that of both.
func (s *suite) rpc() error {
	d, err := newRouted()
	if err != nil {
		return err
	}
	c, stop, err := connect(d.generation)
	if err != nil {
		return err
	}
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	unary := func(req *decisionv1.RouteStatementRequest) (*decisionv1.RouteStatementResponse, error) {
		return c.Decision().RouteStatement(ctx, req)
	}
	stream := func(req *decisionv1.RouteStatementRequest) (*decisionv1.RouteStatementResponse, error) {
		return c.Route(ctx, req)
	}
	calls := &calls{routed: d}
	raw, err := c.Decision().RouteStatements(ctx)
	if err != nil {
		return fmt.Errorf("open a stream: %w", err)
	}
	pipelined := calls.ahead(raw)
	m := s.meter.Measure(calls.by(1, unary), calls.by(1, stream), calls.by(inFlight, unary), calls.by(inFlight, stream), pipelined)
	if err := calls.err.Load(); err != nil {
		return fmt.Errorf("ask: %w", *err)
	}
	s.report.Add("rpc_stream_vs_unary", bench.Result{
		Value: m[1].Median(), Ratio: m[1].Over(m[0]).Median(), Allocs: s.allocs(calls.by(1, stream)),
		Note: fmt.Sprintf("unary %.1f us", m[0].Median()/1000),
	})
	s.report.Add("rpc_pipelined_vs_unary", bench.Result{
		Value: m[4].Median(), Ratio: m[4].Over(m[0]).Median(), Allocs: s.allocs(pipelined),
		Note: fmt.Sprintf("%d in flight; %d callers of clients/go %.1f us, %.2f; %d unary callers %.1f us",
			inFlight, inFlight, m[3].Median()/1000, m[3].Over(m[0]).Median(), inFlight, m[2].Median()/1000),
	})
	return nil
}

// calls makes calls and remembers the first error.
type calls struct {
	routed *routed
	err    atomic.Pointer[error]
}

type ask func(*decisionv1.RouteStatementRequest) (*decisionv1.RouteStatementResponse, error)

// by has some callers ask one question after the other each.
func (c *calls) by(callers int, ask ask) bench.Op {
	const each = 50
	return bench.Op{Per: each * callers, Run: func() {
		var wg sync.WaitGroup
		for caller := range callers {
			wg.Go(func() {
				for i := range each {
					resp, err := ask(c.routed.request(caller*each + i))
					if err == nil && resp.GetDestinationHostgroup() >= hostgroups {
						err = fmt.Errorf("answer %v", resp)
					}
					if err != nil {
						c.err.CompareAndSwap(nil, &err)
						return
					}
				}
			})
		}
		wg.Wait()
	}}
}

// ahead asks over a stream, with inFlight questions unanswered.
func (c *calls) ahead(stream grpc.BidiStreamingClient[decisionv1.RouteStatementRequest, decisionv1.RouteStatementResponse]) bench.Op {
	const each = 50 * inFlight
	var sent uint64
	send := func(i int) error {
		req := c.routed.request(i)
		sent++
		req.RequestId = sent
		return stream.Send(req)
	}
	receive := func() error {
		resp, err := stream.Recv()
		if err == nil && (resp.GetError() != nil || resp.GetDestinationHostgroup() >= hostgroups) {
			err = fmt.Errorf("answer %v", resp)
		}
		return err
	}
	return bench.Op{Per: each, Run: func() {
		var err error
		for i := 0; i < each+inFlight && err == nil; i++ {
			if i < each {
				err = send(i)
			}
			if err == nil && i >= inFlight {
				err = receive()
			}
		}
		if err != nil {
			c.err.CompareAndSwap(nil, &err)
		}
	}}
}

// request asks for statement i of the texts.
func (d *routed) request(i int) *decisionv1.RouteStatementRequest {
	i %= len(d.texts)
	session := d.session(i)
	return &decisionv1.RouteStatementRequest{
		Session: &decisionv1.Session{
			Username: session.Username, Schemaname: session.Schemaname,
			ClientAddr: session.ClientAddr, ProxyAddr: session.ProxyAddr, ProxyPort: session.ProxyPort,
		},
		Statement: &decisionv1.Statement{Body: &decisionv1.Statement_RawText{RawText: d.texts[i]}},
	}
}

// newService makes the service's handlers with the generation in force.
func newService(g *decision.Generation, log *slog.Logger, stopping <-chan struct{}) *api.Decision {
	holder := &live.Holder[loaded.Generation]{}
	holder.Swap(g.Number(), &loaded.Generation{Core: g, Number: g.Number()})
	m := metrics.New("bench")
	return api.NewDecision(holder, &observed.Holder{}, state.NewHolder(m, log), m, log, stopping)
}

// connect starts a server that has the generation in force, and a client whose stream is open.
func connect(g *decision.Generation) (c *client.Client, stop func(), err error) {
	stopping := make(chan struct{})
	log := slog.New(slog.DiscardHandler)
	server := grpc.NewServer(api.ServerOptions()...)
	decisionv1.RegisterDecisionServiceServer(server, newService(g, log, stopping))
	healths := health.NewServer()
	healths.SetServingStatus(decisionv1.DecisionService_ServiceDesc.ServiceName, healthv1.HealthCheckResponse_SERVING)
	healthv1.RegisterHealthServer(server, healths)
	ctx, cancel := context.WithCancel(context.Background())
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		cancel()
		return nil, nil, fmt.Errorf("listen: %w", err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { _ = server.Serve(listener) }) // it ends with Stop
	stop = func() {
		cancel()
		close(stopping)
		server.Stop()
		if c != nil {
			_ = c.Close()
		}
		wg.Wait()
	}
	if c, err = client.New(client.Options{Addresses: []string{listener.Addr().String()}}); err != nil {
		stop()
		return nil, nil, fmt.Errorf("connect: %w", err)
	}
	wg.Go(func() { _ = c.Run(ctx) }) // nil when ctx ends
	if err := c.WaitConnected(ctx, 10*time.Second); err != nil {
		stop()
		return nil, nil, fmt.Errorf("connect: %w", err)
	}
	return c, stop, nil
}
