package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	client "github.com/pointsman/pointsman/clients/go"
	"github.com/pointsman/pointsman/gateway/route"
	"github.com/pointsman/pointsman/gateway/session"
)

// drainFlag says that the gateway takes no new clients.
type drainFlag struct{ on atomic.Bool }

func (d *drainFlag) set() { d.on.Store(true) }

// registerState adds the gauges that are read when they are asked for.
func registerState(r prometheus.Registerer, g *session.Gateway, decisions *client.Client) {
	gauge := func(name, help string, value func() float64) {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "pointsman", Subsystem: "gateway", Name: name, Help: help}, value))
	}
	truth := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	gauge("decision_connected", "Whether the decision stream is open.", func() float64 { return truth(decisions.Connected()) })
	gauge("decision_up", "Whether the decision service answers.", func() float64 { return truth(g.Router.Up()) })
	r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Namespace: "pointsman", Subsystem: "gateway", Name: "decisions_too_slow_total",
		Help: "Questions given up although the decision service answered others.",
	}, func() float64 { return float64(g.Router.TooSlow()) }))
	for cause := range route.Cause(route.Causes) {
		r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: "pointsman", Subsystem: "gateway", Name: "decisions_missed_total",
			Help: "Statements without an answer of the decision service in time, by cause.", ConstLabels: prometheus.Labels{"cause": cause.String()},
		}, func() float64 { return float64(g.Router.Unanswered(cause)) }))
	}
	gauge("servers_unavailable", "Servers that the monitor or this gateway finds unavailable.", func() float64 { return float64(g.Unavailable()) })
	gauge("cached_answers", "Answers kept.", func() float64 { return float64(g.Router.Cached()) })
	gauge("generation", "Newest generation seen.", func() float64 { return float64(g.Router.Newest()) })
	gauge("config_generation", "Generation of the users, servers and settings in force; 0: none.", func() float64 {
		if s := g.Snapshots.Current(); s != nil {
			return float64(s.Generation)
		}
		return 0
	})
}

// serveAdmin serves metrics, health and pprof until ctx ends.
func serveAdmin(ctx context.Context, l net.Listener, registry *prometheus.Registry, g *session.Gateway, decisions *client.Client, draining *drainFlag) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		switch {
		case draining.on.Load():
			http.Error(w, "draining", http.StatusServiceUnavailable)
		case g.Snapshots.Current() == nil:
			http.Error(w, "no configuration yet", http.StatusServiceUnavailable)
		case !decisions.Connected():
			// Clients are served all the same, with last good answers; but do not send new ones here.
			http.Error(w, "no decision server connected", http.StatusServiceUnavailable)
		default:
			fmt.Fprintln(w, "ready")
		}
	})
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve admin: %w", err)
	}
	return nil
}
