package gateway

import (
	"context"
	"encoding/json"
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
	bytes := func(direction string, value func() uint64) {
		r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: "pointsman", Subsystem: "gateway", Name: "client_bytes_total",
			Help: "Bytes received from clients and sent to them.", ConstLabels: prometheus.Labels{"direction": direction},
		}, func() float64 { return float64(value()) }))
	}
	bytes("received", func() uint64 { n, _ := g.Traffic(); return n })
	bytes("sent", func() uint64 { _, n := g.Traffic(); return n })
	gauge("handshakes", "Clients that are being verified.", func() float64 {
		running, _, _ := g.Auth.Handshakes()
		return float64(running)
	})
	gauge("handshakes_waiting", "Clients that wait for their turn to be verified.", func() float64 {
		_, waiting, _ := g.Auth.Handshakes()
		return float64(waiting)
	})
	r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Namespace: "pointsman", Subsystem: "gateway", Name: "handshakes_refused_total",
		Help: "Clients whose turn to be verified did not come in time.",
	}, func() float64 {
		_, _, refused := g.Auth.Handshakes()
		return float64(refused)
	}))
	r.MustRegister(g.PoolMetrics())
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

// admin are the pages for operators.
type admin struct {
	gateway   *session.Gateway
	decisions *client.Client
	registry  *prometheus.Registry
	draining  *drainFlag
	cfg       *Config
}

// pages are what the index lists.
var pages = [][2]string{
	{"/sessions", "client connections as JSON; ?format=text as a table; ?user=, ?hostgroup=, ?state= pick some"},
	{"/pool", "connections to servers as JSON; ?format=text as a table"},
	{"/config", "what is in force as JSON, without secrets"},
	{"/metrics", "metrics for Prometheus"},
	{"/healthz", "whether the process answers"},
	{"/readyz", "whether new clients should come here"},
	{"/debug/pprof/", "profiles of the Go runtime"},
}

func (a *admin) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", index)
	mux.HandleFunc("GET /sessions", a.sessions)
	mux.HandleFunc("GET /pool", a.pool)
	mux.HandleFunc("GET /config", a.config)
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if why := a.unready(); why != "" {
			http.Error(w, why, http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ready")
	})
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// unready tells why no new clients should be sent here; empty: they may come.
func (a *admin) unready() string {
	switch {
	case a.draining.on.Load():
		return "draining"
	case a.gateway.Snapshots.Current() == nil:
		return "no configuration yet"
	case !a.decisions.Connected():
		// Clients are served all the same, with last good answers; but do not send new ones here.
		return "no decision server connected"
	}
	return ""
}

// index lists the pages.
func index(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprint(w, "<!DOCTYPE html>\n<title>pointsman-gateway</title>\n<h1>pointsman-gateway</h1>\n<dl>\n")
	for _, p := range pages {
		fmt.Fprintf(w, "<dt><a href=%q>%s</a></dt><dd>%s</dd>\n", p[0], p[0], p[1])
	}
	fmt.Fprint(w, "</dl>\n")
}

// writeJSON answers with a value, indented for people.
func writeJSON(w http.ResponseWriter, v any) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		http.Error(w, "make the answer: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(text, '\n')) // the reader is gone, else
}

// serve serves the pages until ctx ends.
func (a *admin) serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{Handler: a.handler(), ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve admin: %w", err)
	}
	return nil
}
