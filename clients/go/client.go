package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/health" // client-side health checks of the decision connection
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
	"google.golang.org/grpc/status"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// ErrUnavailable says that no decision server could be asked: none is connected, or the connection broke
// while the question was in flight.
var ErrUnavailable = errors.New("decision service unavailable")

// maxMessageSize lets a configuration with hundreds of thousands of fast routes pass.
const maxMessageSize = 72 << 20

// How many bytes a server may send before this side has taken them, on a stream and on a connection. With windows of its
// own choice gRPC would measure the connection by a ping for nearly every message.
const (
	streamWindow     = 1 << 20
	connectionWindow = 4 << 20
)

// Options say where the servers are.
type Options struct {
	// Addresses are "host:port" or "unix:/path"; at least one. Decisions go to any healthy one, configuration
	// calls to the first that answers. With several, a server that answers no decision for two seconds is left for another.
	Addresses []string
	// Logger gets one line for each change of the connection. Nil: nothing is logged.
	Logger *slog.Logger
	// DialOptions are added to those of both connections.
	DialOptions []grpc.DialOption
}

// Client talks to the decision servers. Its methods may be called by many goroutines.
type Client struct {
	log       *slog.Logger
	decisions *grpc.ClientConn // balanced over the servers that report the decision service healthy
	configs   *grpc.ClientConn // the first server that can be reached, with or without a generation
	several   bool             // there is another server to go to
	stream    router
}

// New makes a client. It does not wait for a connection: servers that are down are tried again in the
// background. Decisions over the stream (Route) need Run.
func New(o Options) (*Client, error) {
	if len(o.Addresses) == 0 {
		return nil, errors.New("no decision server address given")
	}
	var addrs []resolver.Address
	for _, a := range o.Addresses {
		if _, _, err := splitAddress(a); err != nil {
			return nil, err
		}
		addrs = append(addrs, resolver.Address{Addr: a})
	}
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	decisions, err := dial(addrs, `{"loadBalancingConfig":[{"round_robin":{}}],`+
		`"healthCheckConfig":{"serviceName":"pointsman.decision.v1.DecisionService"}}`, o.DialOptions)
	if err != nil {
		return nil, fmt.Errorf("decision connection: %w", err)
	}
	configs, err := dial(addrs, `{"loadBalancingConfig":[{"pick_first":{}}]}`, o.DialOptions)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("config connection: %w", err), decisions.Close())
	}
	c := &Client{log: log, decisions: decisions, configs: configs, several: len(addrs) > 1}
	c.stream.init()
	return c, nil
}

func dial(addrs []resolver.Address, serviceConfig string, extra []grpc.DialOption) (*grpc.ClientConn, error) {
	r := manual.NewBuilderWithScheme("pointsman")
	r.InitialState(resolver.State{Addresses: addrs})
	opts := append([]grpc.DialOption{
		grpc.WithResolvers(r),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(dialAddress),
		grpc.WithInitialWindowSize(streamWindow),
		grpc.WithInitialConnWindowSize(connectionWindow),
		grpc.WithDefaultServiceConfig(serviceConfig),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 3 * time.Second, PermitWithoutStream: true}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessageSize), grpc.MaxCallSendMsgSize(maxMessageSize)),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: connectBackoff, MinConnectTimeout: 2 * time.Second}),
	}, extra...)
	return grpc.NewClient("pointsman:///servers", opts...)
}

func dialAddress(ctx context.Context, addr string) (net.Conn, error) {
	network, address, err := splitAddress(addr)
	if err != nil {
		return nil, err
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

func splitAddress(addr string) (network, address string, err error) {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		if path == "" {
			return "", "", fmt.Errorf("address %q: no path after unix", addr)
		}
		return "unix", path, nil
	}
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return "", "", fmt.Errorf("address %q: want host:port or unix:/path: %w", addr, err)
	}
	return "tcp", addr, nil
}

// Decision gives the generated client, for unary calls.
func (c *Client) Decision() decisionv1.DecisionServiceClient {
	return decisionv1.NewDecisionServiceClient(c.decisions)
}

// Config gives the generated client of the configuration service.
func (c *Client) Config() configv1.ConfigServiceClient {
	return configv1.NewConfigServiceClient(c.configs)
}

// Close ends all connections. Calls in flight fail.
func (c *Client) Close() error {
	return errors.Join(c.decisions.Close(), c.configs.Close())
}

// WatchGatewayConfig calls f with every message of the stream, subscribing again with backoff until ctx ends
// or f fails. After a new subscription the first message is a full one again, with sequence 1.
func (c *Client) WatchGatewayConfig(ctx context.Context, instance string, f func(*configv1.WatchGatewayConfigResponse) error) error {
	return watch(ctx, c.log, "gateway config", func(ctx context.Context) (grpc.ServerStreamingClient[configv1.WatchGatewayConfigResponse], error) {
		return c.Config().WatchGatewayConfig(ctx, &configv1.WatchGatewayConfigRequest{Instance: instance})
	}, f)
}

// WatchGeneration calls f with the current generation and with each change, subscribing again with backoff
// until ctx ends or f fails.
func (c *Client) WatchGeneration(ctx context.Context, f func(*decisionv1.WatchGenerationResponse) error) error {
	return watch(ctx, c.log, "generation", func(ctx context.Context) (grpc.ServerStreamingClient[decisionv1.WatchGenerationResponse], error) {
		return decisionv1.NewDecisionServiceClient(c.configs).WatchGeneration(ctx, &decisionv1.WatchGenerationRequest{})
	}, f)
}

// watch keeps one server stream open. Only f's error and the end of ctx end it.
func watch[M any](ctx context.Context, log *slog.Logger, what string,
	open func(context.Context) (grpc.ServerStreamingClient[M], error), f func(*M) error,
) error {
	var delay time.Duration
	for {
		messages, err := watchOnce(ctx, open, f)
		var stop *stopError
		switch {
		case errors.As(err, &stop):
			return stop.err
		case ctx.Err() != nil:
			return ctx.Err()
		case status.Code(err) == codes.Unimplemented:
			return fmt.Errorf("watch %s: %w", what, err)
		}
		if messages > 0 {
			delay = 0
		}
		if delay == 0 {
			log.Warn("watch interrupted", "what", what, "error", err)
		}
		delay = nextDelay(delay)
		if !sleep(ctx, delay) {
			return ctx.Err()
		}
	}
}

func watchOnce[M any](ctx context.Context, open func(context.Context) (grpc.ServerStreamingClient[M], error), f func(*M) error) (messages int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := open(ctx)
	if err != nil {
		return 0, err
	}
	for {
		m, err := s.Recv()
		if err != nil {
			return messages, err
		}
		messages++
		if err := f(m); err != nil {
			return messages, &stopError{err}
		}
	}
}

// stopError carries the error of a callback through the retry loop.
type stopError struct{ err error }

func (e *stopError) Error() string { return e.err.Error() }

const (
	minDelay = 50 * time.Millisecond
	maxDelay = 2 * time.Second
)

// nextDelay doubles the delay up to maxDelay.
func nextDelay(d time.Duration) time.Duration {
	return min(max(2*d, minDelay), maxDelay)
}

// sleep waits d, give or take a quarter, and tells whether ctx is still alive.
func sleep(ctx context.Context, d time.Duration) bool {
	jitter := time.Duration((rand.Float64() - 0.5) * 0.5 * float64(d)) //nolint:gosec // spreads reconnects, no secret
	t := time.NewTimer(d + jitter)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
