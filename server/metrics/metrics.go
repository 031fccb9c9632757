package metrics

import (
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"google.golang.org/grpc/codes"

	"github.com/pointsman/pointsman/decision"
)

// stateNames are the values of the label state, as server/state spells them.
var stateNames = [...]string{"none", "current", "stale", "invalid"}

// reasonNames are the values of the label reason, by decision.Reason.
var reasonNames = [...]string{
	decision.ReasonRule:             "rule",
	decision.ReasonFastRoute:        "fast_route",
	decision.ReasonAnnotation:       "annotation",
	decision.ReasonDefaultHostgroup: "default_hostgroup",
	decision.ReasonTransaction:      "transaction",
	decision.ReasonLocked:           "locked",
	decision.ReasonAnswered:         "answered",
	decision.ReasonGuideline:        "guideline",
}

// Metrics are a decision server's metrics. All methods are safe for concurrent use.
type Metrics struct {
	registry   *prometheus.Registry
	decisions  [len(reasonNames)]prometheus.Counter
	refused    prometheus.Counter
	tooComplex prometheus.Counter
	duration   prometheus.Histogram
	publishes  *prometheus.CounterVec
	rejects    prometheus.Counter
	saves      *prometheus.CounterVec
	rpcs       *prometheus.CounterVec
	state      *prometheus.GaugeVec
	offered    prometheus.Gauge
	alarm      prometheus.Gauge
	restarts   prometheus.Counter
	looks      *prometheus.CounterVec
	monitored  *prometheus.GaugeVec
	rpcOK      map[string]prometheus.Counter // by method; complete before the first call

	inForce *inForce
}

// New makes the metrics of a server of the given version.
func New(version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), inForce: newInForce()}
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		m.registry.MustRegister(c)
		return c
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		m.registry.MustRegister(c)
		return c
	}

	decisions := counters("pointsman_decisions_total", "Statements decided, by the step that gave the destination.", "reason")
	for reason, name := range reasonNames {
		if name != "" {
			m.decisions[reason] = decisions.WithLabelValues(name)
		}
	}
	m.refused = counter("pointsman_decisions_refused_total", "Requests for a decision that were answered with an error.")
	m.tooComplex = counter("pointsman_decisions_too_complex_total", "Statements decided without a rule whose expression took too much work, or was not tried because others had.")
	m.duration = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "pointsman_decision_duration_seconds",
		Help: "Time of one decision, without the call around it.",
		Buckets: []float64{
			1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 1e-1, 1,
		},
	})
	m.publishes = counters("pointsman_publishes_total", "Publications and rollbacks asked of this server, by result (the API's error reason, or ok).", "result")
	m.publishes.WithLabelValues("ok")
	m.rejects = counter("pointsman_rejects_total", "Generations offered by the store that this server could not take into force.")
	m.saves = counters("pointsman_last_good_saves_total", "Copies of a generation written to disk, by result (ok or error).", "result")
	m.rpcs = counters("pointsman_rpcs_total", "Calls that ended, by method and gRPC code. A stream counts once.", "method", "code")
	m.state = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "pointsman_config_state",
		Help: "1 for the state of the configuration: none (nothing published), current, stale (the last publication or the newest generation was refused, an older one is in force) or invalid (refused, and none is in force).",
	}, []string{"state"})
	m.offered = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "pointsman_offered_generation",
		Help: "Newest generation seen in the store.",
	})
	m.alarm = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "pointsman_store_alarm",
		Help: "1 while the store names an older generation than before, or is another store than before.",
	})
	m.looks = counters("pointsman_monitor_looks_total", "Looks of the monitor at a server, by result: ok, refused (it answers with an error) or failed (no answer).", "result")
	m.monitored = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "pointsman_monitor_servers",
		Help: "Servers that the monitor looks at, by state: available or unavailable.",
	}, []string{"state"})
	m.restarts = counter("pointsman_store_restarts_total", "Times that the embedded store ended and was started again.")

	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "pointsman_build_info",
		Help:        "1; the labels say what runs.",
		ConstLabels: prometheus.Labels{"version": version, "go_version": goVersion()},
	})
	build.Set(1)
	m.registry.MustRegister(
		m.duration, m.state, m.offered, m.alarm, m.monitored, build, m.inForce,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.SetState(stateNames[0])
	return m
}

func goVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.GoVersion
	}
	return "unknown"
}

// age is the time since t in seconds, 0 for no time.
func age(t *time.Time) float64 {
	if t == nil || t.IsZero() {
		return 0
	}
	return time.Since(*t).Seconds()
}

// Registry is where to gather the metrics.
func (m *Metrics) Registry() *prometheus.Registry { return m.registry }

// WatchStore adds the age of the last successful reading of the store's head. It is called at most once.
func (m *Metrics) WatchStore(lastConfirmed func() time.Time) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "pointsman_store_confirmed_seconds",
		Help: "Time since the store last said which generation is in force; -1: never since the start.",
	}, func() float64 {
		t := lastConfirmed()
		if t.IsZero() {
			return -1
		}
		return age(&t)
	}))
}

// Decision counts one decision.
func (m *Metrics) Decision(reason decision.Reason, took time.Duration) {
	m.duration.Observe(took.Seconds())
	if int(reason) < len(m.decisions) && m.decisions[reason] != nil {
		m.decisions[reason].Inc()
	}
}

// TooComplex counts a decision for which a rule's expression was too much.
func (m *Metrics) TooComplex() { m.tooComplex.Inc() }

// Refused counts a request for a decision that was answered with an error.
func (m *Metrics) Refused() { m.refused.Inc() }

// Published counts a publication or rollback; result is "ok" or the reason of the error.
func (m *Metrics) Published(result string) { m.publishes.WithLabelValues(result).Inc() }

// Methods announces the methods, e.g. "/package.Service/Method", before the first call.
func (m *Metrics) Methods(names []string) {
	m.rpcOK = make(map[string]prometheus.Counter, len(names))
	for _, name := range names {
		m.rpcOK[name] = m.rpcs.WithLabelValues(name, codes.OK.String())
	}
}

// RPC counts a call that ended. Calls of methods that were not announced are not counted: whoever sends them chooses
// their names.
func (m *Metrics) RPC(method string, code codes.Code) {
	ok, known := m.rpcOK[method]
	switch {
	case !known:
	case code == codes.OK:
		ok.Inc()
	default:
		m.rpcs.WithLabelValues(method, code.String()).Inc()
	}
}

// Offered notes the newest generation seen in the store.
func (m *Metrics) Offered(generation uint64) { m.offered.Set(float64(generation)) }

// Rejected counts a generation that could not be taken into force.
func (m *Metrics) Rejected() { m.rejects.Inc() }

// Saved counts a copy written to disk, or the failure to write it.
func (m *Metrics) Saved(err error) {
	if err != nil {
		m.saves.WithLabelValues("error").Inc()
		return
	}
	m.saves.WithLabelValues("ok").Inc()
}

// SetState notes the state of the configuration, in the words of server/state.
func (m *Metrics) SetState(state string) {
	for _, name := range stateNames {
		v := 0.0
		if name == state {
			v = 1
		}
		m.state.WithLabelValues(name).Set(v)
	}
}

// SetAlarm notes whether the store is not what it was.
func (m *Metrics) SetAlarm(on bool) {
	if on {
		m.alarm.Set(1)
	} else {
		m.alarm.Set(0)
	}
}

// Monitored counts a look of the monitor at a server; result is ok, refused or failed.
func (m *Metrics) Monitored(result string) { m.looks.WithLabelValues(result).Inc() }

// MonitoredServers notes how many servers the monitor finds available and unavailable.
func (m *Metrics) MonitoredServers(available, unavailable int) {
	m.monitored.WithLabelValues("available").Set(float64(available))
	m.monitored.WithLabelValues("unavailable").Set(float64(unavailable))
}

// StoreRestarted counts a restart of the embedded store.
func (m *Metrics) StoreRestarted() { m.restarts.Inc() }
