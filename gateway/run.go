package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"

	client "github.com/pointsman/pointsman/clients/go"
	"github.com/pointsman/pointsman/gateway/mirror"
	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/proxyheader"
	"github.com/pointsman/pointsman/gateway/resultcache"
	"github.com/pointsman/pointsman/gateway/route"
	"github.com/pointsman/pointsman/gateway/session"
	"github.com/pointsman/pointsman/gateway/snapshot"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// lastGoodFile is the name of the last good configuration in the state folder.
const lastGoodFile = "gateway-lastgood"

// Run serves clients until a signal and its drain, or until ctx ends.
func Run(ctx context.Context, cfg Config, log *slog.Logger, signals <-chan os.Signal) error {
	site, err := cfg.site()
	if err != nil {
		return err
	}
	clientTLS, err := cfg.clientTLS(log)
	if err != nil {
		return err
	}
	serverTLS, err := cfg.serverTLS(log)
	if err != nil {
		return err
	}
	proxies, err := proxyheader.ParseNetworks(cfg.ProxyNetworks)
	if err != nil {
		return fmt.Errorf("flag --proxy-protocol-networks: %w", err)
	}
	listeners, err := listenAll(ctx, cfg.Listen, proxies)
	if err != nil {
		return fmt.Errorf("flag --listen: %w", err)
	}
	defer closeAll(listeners)
	site.Listeners = describe(listeners)
	var adminListener net.Listener
	if cfg.Admin != "" {
		if adminListener, err = listen(ctx, cfg.Admin); err != nil {
			return fmt.Errorf("flag --admin: %w", err)
		}
		defer adminListener.Close() //nolint:errcheck // closed in order before, as a rule
	}
	path := ""
	if cfg.StateDir != "" {
		if err := os.MkdirAll(cfg.StateDir, 0o700); err != nil {
			return fmt.Errorf("flag --state-dir: %w", err)
		}
		path = filepath.Join(cfg.StateDir, lastGoodFile)
	}
	auth, err := mysql.NewAuthenticator()
	if err != nil {
		return err
	}
	auth.LimitHandshakes(cfg.MaxHandshakes)
	decisions, err := client.New(client.Options{Addresses: cfg.Decision, Logger: log})
	if err != nil {
		return fmt.Errorf("flag --decision: %w", err)
	}
	defer decisions.Close() //nolint:errcheck // nothing is lost with it

	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	router := route.New(decisions, route.Options{Budget: cfg.DecisionTimeout, Fallback: route.Fallback(cfg.Fallback)}, log)
	defer router.Close()
	results := resultcache.New()
	snapshots := snapshot.NewHolder(path, site, log, func(s *snapshot.Snapshot) {
		router.Observe(s.Generation)
		results.Resize(s.Settings.QueryCacheBytes)
	})
	copies := mirror.New(log)
	defer copies.Close()
	g := &session.Gateway{
		Snapshots: snapshots, Router: router, Results: results, Mirror: copies, Auth: auth, Metrics: session.NewMetrics(registry), Log: log, MaxConnections: cfg.MaxConnections,
		ClientTLS: clientTLS, RequireTLS: cfg.TLSMode == tlsRequired, ServerTLS: serverTLS,
	}
	g.Init()
	registerState(registry, g, decisions)
	registerResults(registry, results)
	registerMirror(registry, copies)
	for _, l := range listeners {
		log.Info("gateway listens", "address", l.Addr().String(), "admin", addressOf(adminListener), "listener", l.name)
	}

	ctx, end := context.WithCancel(ctx)
	defer end()
	group, ctx := errgroup.WithContext(ctx)
	var draining drainFlag
	group.Go(func() error { return decisions.Run(ctx) })
	group.Go(func() error {
		host, _ := os.Hostname() // a name for logs; empty is fine
		snapshots.Run(ctx, func(ctx context.Context, f func(*configv1.WatchGatewayConfigResponse) error) error {
			return decisions.WatchGatewayConfig(ctx, fmt.Sprintf("%s:%d", host, os.Getpid()), f)
		})
		return nil
	})
	group.Go(func() error {
		g.WatchClients(ctx)
		return nil
	})
	group.Go(func() error {
		g.WatchServers(ctx)
		return nil
	})
	group.Go(func() error {
		g.WatchOutages(ctx)
		return nil
	})
	group.Go(func() error {
		g.WatchPool(ctx)
		return nil
	})
	if adminListener != nil {
		pages := &admin{gateway: g, decisions: decisions, registry: registry, draining: &draining, cfg: &cfg}
		group.Go(func() error { return pages.serve(ctx, adminListener) })
	}
	sessionsCtx, endSessions := context.WithCancel(context.WithoutCancel(ctx))
	defer endSessions()
	group.Go(func() error {
		defer end() // no clients any more: the rest ends too
		awaitDecisions(ctx, decisions, snapshots)
		return acceptClients(ctx, sessionsCtx, endSessions, listeners, g, &cfg, signals, &draining, log)
	})
	if err := group.Wait(); err != nil {
		return &runError{err}
	}
	log.Info("gateway ended")
	return nil
}

// startWait is how long the first clients wait in the listener's queue for the decision service.
const startWait = time.Second

// awaitDecisions waits a moment for configuration and decisions, so that the first statements after a start are
// routed by rules. Without the service the gateway goes on with what it has.
func awaitDecisions(ctx context.Context, decisions *client.Client, snapshots *snapshot.Holder) {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	if err := decisions.WaitConnected(ctx, startWait); err != nil {
		return
	}
	select {
	case <-snapshots.First():
	case <-ctx.Done():
	}
}

// acceptClients serves clients until ctx ends or a signal comes, and then lets them finish.
func acceptClients(ctx, sessionsCtx context.Context, endSessions func(), listeners []listener, g *session.Gateway,
	cfg *Config, signals <-chan os.Signal, draining *drainFlag, log *slog.Logger,
) error {
	accepting, stopAccepting := context.WithCancel(ctx)
	defer stopAccepting()
	stop := context.AfterFunc(accepting, func() { closeAll(listeners) })
	defer stop()
	done := make(chan struct{})
	defer close(done)
	go func() { // ends with the accept loop
		defer stopAccepting()
		select {
		case sig := <-signals:
			log.Info("draining: no new clients, sessions end after their transactions", "signal", sig.String(), "sessions", g.Sessions(), "wait", cfg.DrainWait, "timeout", cfg.DrainTimeout)
			draining.set()
			g.Leave()
			if again := lastCall(cfg.DrainWait, signals, done); again {
				log.Warn("second signal: sessions are cut", "sessions", g.Sessions())
				endSessions()
			}
		case <-done:
		}
	}()
	var sessions sync.WaitGroup
	var accepts errgroup.Group
	for i, l := range listeners {
		accepts.Go(func() error {
			defer stopAccepting() // the end of one is the end of all
			return accept(accepting, l, func(nc net.Conn) {
				sessions.Go(func() { g.Serve(sessionsCtx, nc, i) })
			}, log)
		})
	}
	err := accepts.Wait()
	draining.set()
	finish(ctx, &sessions, endSessions, g, cfg.DrainTimeout, signals, log)
	return err
}

// accept hands over clients until ctx ends. Passing trouble, such as too many open files, is waited out.
func accept(ctx context.Context, l net.Listener, serve func(net.Conn), log *slog.Logger) error {
	delay := 5 * time.Millisecond
	for {
		nc, err := l.Accept()
		switch {
		case err == nil:
			delay = 5 * time.Millisecond
			serve(nc)
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the listener was closed on purpose
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("accept clients: %w", err)
		default:
			log.Warn("client not accepted", "error", err)
			t := time.NewTimer(delay)
			select {
			case <-t.C:
			case <-ctx.Done():
			}
			t.Stop()
			delay = min(2*delay, time.Second)
		}
	}
}
