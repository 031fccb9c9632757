package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"

	"github.com/pointsman/pointsman/decision/live"
	"github.com/pointsman/pointsman/server/admin"
	"github.com/pointsman/pointsman/server/api"
	"github.com/pointsman/pointsman/server/feed"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/metrics"
	"github.com/pointsman/pointsman/server/monitor"
	"github.com/pointsman/pointsman/server/observed"
	"github.com/pointsman/pointsman/server/resolve"
	"github.com/pointsman/pointsman/server/state"
	"github.com/pointsman/pointsman/store"
	"github.com/pointsman/pointsman/store/embedded"
)

const (
	// stopGrace bounds how long calls in flight may take when the server stops.
	stopGrace = 10 * time.Second
	// takeGrace bounds how long callers may take to read their answers, when all calls are answered.
	takeGrace = 2 * time.Second
	// stopTick is how often a server that stops looks whether they are.
	stopTick = 50 * time.Millisecond
)

// serve runs the decision server until ctx ends or a part of it fails. Errors before it serves end the process with
// status 2, later ones with status 1.
func serve(ctx context.Context, c *config, log *slog.Logger, version string) error {
	tlsConfig, err := c.etcdTLS()
	if err != nil {
		return err
	}
	exe, err := self()
	if err != nil {
		return err
	}
	password, err := c.monitorPassword()
	if err != nil {
		return err
	}
	monitorTLS, err := c.monitorTLS()
	if err != nil {
		return err
	}
	held, err := takeDataDir(c.dataDir)
	if err != nil {
		return err
	}
	defer held.Close() //nolint:errcheck // the lock ends in any case
	listeners, err := listenAll(ctx, c.listen)
	if err != nil {
		return err
	}
	var adminListener net.Listener
	if c.admin != "" {
		if adminListener, err = listen(ctx, c.admin); err != nil {
			closeAll(listeners)
			return err
		}
	}
	endpoints := c.etcdEndpoints
	if c.store == "embedded" {
		endpoints = []string{embedded.Endpoint(c.dataDir)}
	}
	st, err := store.Open(ctx, store.Options{Endpoints: endpoints, Prefix: c.etcdPrefix, TLS: tlsConfig, Logger: log})
	if err != nil {
		closeAll(listeners)
		if adminListener != nil {
			_ = adminListener.Close()
		}
		return err
	}
	defer st.Close() //nolint:errcheck // nothing is lost with it

	s := newServer(st, c, log, version)
	if c.monitorUsername != "" {
		s.monitor = monitor.New(monitor.Options{
			Live: s.live, Observed: s.observed, User: c.monitorUsername, Password: password, TLS: monitorTLS,
			Interval: c.monitorInterval, Metrics: s.metrics, Logger: log,
		})
	}
	s.feed.LoadLastGood(ctx)
	if err := s.run(ctx, listeners, adminListener, storeChild(c, exe, s.metrics, log)); err != nil {
		if _, ok := errors.AsType[*embedded.LockedError](err); ok {
			return err
		}
		return &exitError{code: 1, err: err}
	}
	return nil
}

func closeAll(listeners []net.Listener) {
	for _, l := range listeners {
		_ = l.Close()
	}
}

// storeChild is what keeps the embedded store running; nil for a store of someone else.
func storeChild(c *config, exe string, m *metrics.Metrics, log *slog.Logger) func(context.Context) error {
	if c.store != "embedded" {
		return nil
	}
	return func(ctx context.Context) error {
		return embedded.Supervise(ctx, embedded.Supervisor{
			Exe:     exe,
			Args:    []string{"store", "--data-dir", c.dataDir, "--log-level", c.LogLevel, "--log-format", "json", "--settings", ""},
			DataDir: c.dataDir,
			Logger:  log,
			OnState: func(state embedded.State) {
				if state.Phase == embedded.Restarting {
					m.StoreRestarted()
				}
			},
		})
	}
}

// server is the running whole.
type server struct {
	store    *store.Store
	live     *live.Holder[loaded.Generation]
	observed *observed.Holder
	state    *state.Holder
	metrics  *metrics.Metrics
	resolver *resolve.Resolver
	monitor  *monitor.Monitor // nil: nobody looks at the servers
	feed     *feed.Feed
	health   *health.Server
	grpc     *grpc.Server
	log      *slog.Logger
	// stopping is closed when streams shall end.
	stopping chan struct{}
	// unanswered is how many calls are.
	unanswered atomic.Int64
}

func newServer(st *store.Store, c *config, log *slog.Logger, version string) *server {
	s := &server{
		store:    st,
		live:     &live.Holder[loaded.Generation]{},
		observed: &observed.Holder{},
		metrics:  metrics.New(version),
		health:   health.NewServer(),
		log:      log,
		stopping: make(chan struct{}),
	}
	s.metrics.WatchStore(st.LastConfirmed)
	s.state = state.NewHolder(s.metrics, log)
	s.resolver = resolve.New(resolve.Options{
		Live: s.live, Observed: s.observed, Lookup: resolve.System, Interval: c.resolveInterval, Logger: log,
	})
	s.feed = feed.New(feed.Options{
		Store: st, Live: s.live, State: s.state, Prepare: s.prepare,
		Path: filepath.Join(c.dataDir, "lastgood"), Metrics: s.metrics, Logger: log,
	})
	s.grpc = newGRPC(
		api.NewDecision(s.live, s.observed, s.state, s.metrics, log, s.stopping),
		api.NewConfig(st, s.live, s.observed, s.state, s.metrics, log, s.stopping),
		s.health, s.metrics, log, s.stopping, &s.unanswered)
	return s
}

// prepare finds out what a generation's guideline needs to know from its first statement on.
func (s *server) prepare(ctx context.Context, g *loaded.Generation) {
	var wg sync.WaitGroup
	wg.Go(func() { s.resolver.Prepare(ctx, g) })
	if s.monitor != nil {
		wg.Go(func() { s.monitor.Prepare(ctx, g) })
	}
	wg.Wait()
}

// run starts everything and, when ctx ends or a part fails, ends it from front to back: first the calls, then the
// feed, the admin pages and the store.
func (s *server) run(ctx context.Context, listeners []net.Listener, adminListener net.Listener, child func(context.Context) error) error {
	backCtx, endBack := context.WithCancel(context.WithoutCancel(ctx))
	defer endBack()
	group, groupCtx := errgroup.WithContext(backCtx)

	if child != nil {
		group.Go(func() error {
			if err := child(groupCtx); err != nil {
				return fmt.Errorf("store: %w", err)
			}
			return nil
		})
	}
	group.Go(func() error {
		s.feed.Run(groupCtx)
		return nil
	})
	group.Go(func() error {
		s.resolver.Run(groupCtx)
		return nil
	})
	if s.monitor != nil {
		group.Go(func() error {
			s.monitor.Run(groupCtx)
			return nil
		})
	}
	group.Go(func() error {
		keepHealth(groupCtx, s.health, func() bool { return s.live.Current() != nil }, s.live.Changed, s.store.LastConfirmed)
		return nil
	})
	for _, l := range listeners {
		s.log.InfoContext(ctx, "listening", "service", "grpc", "address", l.Addr().String())
		group.Go(func() error {
			if err := s.grpc.Serve(l); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
				return fmt.Errorf("serve %s: %w", l.Addr(), err)
			}
			return nil
		})
	}
	if adminListener != nil {
		s.log.InfoContext(ctx, "listening", "service", "admin", "address", adminListener.Addr().String())
		s.serveAdmin(groupCtx, group, adminListener)
	}
	group.Go(func() error {
		defer endBack()
		select {
		case <-ctx.Done():
			s.log.Info("stopping", "cause", context.Cause(ctx))
		case <-groupCtx.Done():
		}
		s.stop()
		return nil
	})
	err := group.Wait()
	s.log.Info("stopped")
	return err
}

// serveAdmin serves the admin pages until ctx ends.
func (s *server) serveAdmin(ctx context.Context, group *errgroup.Group, l net.Listener) {
	pages := admin.NewServer(s.metrics.Registry(), s.ready, s.configState)
	group.Go(func() error {
		if err := pages.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve %s: %w", l.Addr(), err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		return pages.Close()
	})
}

// ready says why the server can't decide, or nil.
func (s *server) ready() error {
	select {
	case <-s.stopping:
		return errors.New("the server is stopping")
	default:
	}
	now := s.state.Load()
	switch {
	case s.live.Current() != nil:
		return nil
	case now.Kind == state.Invalid:
		return fmt.Errorf("no generation is in force; publish a valid configuration: %s", now.Cause())
	default:
		return errors.New("no generation is in force; publish a configuration, or wait until the store can be read")
	}
}

// configState is what the admin pages say of the configuration.
func (s *server) configState() string {
	now := s.state.Load()
	text := now.Kind.String()
	for _, more := range []string{now.Cause(), now.Problem} {
		if more != "" && !strings.Contains(text, more) {
			text += ": " + more
		}
	}
	return text
}

// stop ends the calls: streams at once, others when they are answered or have taken too long.
func (s *server) stop() {
	s.health.Shutdown()
	close(s.stopping)
	if !stopCalls(s.grpc, &s.unanswered, stopGrace, takeGrace) {
		s.log.Warn("calls took too long and were ended", "unanswered", s.unanswered.Load())
	}
}

// stopCalls waits at most grace for calls in flight, and at most take for callers who don't read the last answers; it
// tells whether all went out. It does not wait for other handlers: what they do can't be interrupted, and ends with the
// process.
func stopCalls(calls *grpc.Server, unanswered *atomic.Int64, grace, take time.Duration) bool {
	gone := make(chan struct{})
	go func() {
		calls.GracefulStop()
		close(gone)
	}()
	tick := time.NewTicker(stopTick)
	defer tick.Stop()
	began := time.Now()
	busy := began // when calls were last seen unanswered
	for {
		select {
		case <-gone:
			return true
		case now := <-tick.C:
			if unanswered.Load() > 0 {
				busy = now
			}
			if now.Sub(began) > grace || now.Sub(busy) > take {
				calls.Stop()
				return false
			}
		}
	}
}
