package session

import (
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/pool"
	"github.com/pointsman/pointsman/gateway/route"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// Metrics count what sessions do.
type Metrics struct {
	sessions        prometheus.Gauge
	commands        [256]prometheus.Counter // by command byte
	decisions       [reasons][route.Sources]prometheus.Counter
	fastForward     prometheus.Counter
	statements      *prometheus.CounterVec
	latency         prometheus.Histogram
	added           prometheus.Histogram
	deciding        prometheus.Histogram
	errors          *prometheus.CounterVec
	disconnects     *prometheus.CounterVec
	pins            *prometheus.CounterVec
	retries         prometheus.Counter
	connectFailures *prometheus.CounterVec
	unsupported     *prometheus.CounterVec
	guidedBy        *prometheus.CounterVec
	pool            *pool.Metrics

	// Bytes of clients whose connection has ended.
	received, sent atomic.Uint64

	mu     sync.Mutex
	routes map[string]bool // that have a label of their own
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(r prometheus.Registerer) *Metrics {
	const namespace, subsystem = "pointsman", "gateway"
	vec := func(name, help string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help}, labels)
		r.MustRegister(v)
		return v
	}
	histogram := func(name, help string, least float64, count int) prometheus.Histogram {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(least, 2, count),
		})
		r.MustRegister(h)
		return h
	}
	m := &Metrics{
		sessions:        prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Subsystem: subsystem, Name: "sessions", Help: "Client connections."}),
		statements:      vec("statements_total", "Statements sent to servers by hostgroup.", "hostgroup"),
		errors:          vec("errors_total", "Errors by source (client, gateway, backend) and kind.", "source", "kind"),
		disconnects:     vec("disconnects_total", "Client connections that have ended, by cause.", "cause"),
		pins:            vec("pins_total", "Sessions held on a server because of state there, by cause.", "cause"),
		connectFailures: vec("connect_failures_total", "Failed connections to servers.", "server"),
		guidedBy:        vec("guideline_decisions_total", "Decisions of the routing guideline by route and mode (all, write, read, refused); routes beyond the first 100 count as \"other\".", "route", "mode"),
		pool:            pool.NewMetrics(r),
		routes:          map[string]bool{},
		unsupported:     vec("unsupported_effects_total", "Effects of answers that this gateway does not carry out.", "effect"),
		retries: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "retries_total", Help: "Reads sent again after a broken connection.",
		}),
		latency:  histogram("statement_duration_seconds", "Time from sending a statement to the end of its response.", 50e-6, 20),
		added:    histogram("added_seconds", "Time that a statement spent in the gateway, without the server's and the delay of a rule: from its last byte to its sending.", 1e-6, 24),
		deciding: histogram("decision_seconds", "Time that a statement waited for a decision that was not in the cache.", 25e-6, 20),
	}
	r.MustRegister(m.sessions, m.retries)
	commands := vec("commands_total", "Commands of clients by command byte.", "command")
	for code := range m.commands {
		m.commands[code] = commands.WithLabelValues(commandName(byte(code)))
	}
	decisions := vec("decisions_total", "Decisions by reason and by where the answer came from (cache, asked, stale, default, refused, fast_forward).", "reason", "source")
	m.fastForward = decisions.WithLabelValues(reasonNames[decisionv1.Reason_REASON_DEFAULT_HOSTGROUP], "fast_forward")
	for reason, name := range reasonNames {
		for source := range route.Source(route.Sources) {
			m.decisions[reason][source] = decisions.WithLabelValues(name, source.String())
		}
	}
	return m
}

var commandNames = map[byte]string{
	mysql.ComQuit: "quit", mysql.ComInitDB: "init_db", mysql.ComQuery: "query", mysql.ComFieldList: "field_list",
	mysql.ComStatistics: "statistics", mysql.ComPing: "ping", mysql.ComChangeUser: "change_user",
	mysql.ComStmtPrepare: "stmt_prepare", mysql.ComStmtExecute: "stmt_execute", mysql.ComStmtSendLongData: "stmt_send_long_data",
	mysql.ComStmtClose: "stmt_close", mysql.ComStmtReset: "stmt_reset", mysql.ComStmtFetch: "stmt_fetch",
	mysql.ComSetOption: "set_option", mysql.ComResetConnection: "reset_connection", mysql.ComProcessKill: "process_kill",
}

// commandName gives the name of a command byte, as metrics and pages show it.
func commandName(code byte) string {
	if name, ok := commandNames[code]; ok {
		return name
	}
	return "other"
}

func (m *Metrics) command(code byte) { m.commands[code].Inc() }

// failed counts an error by the side and the kind.
func (m *Metrics) failed(source, kind string) { m.errors.WithLabelValues(source, kind).Inc() }

// reasons is how many numbers of reasons are known. Others count as REASON_UNSPECIFIED.
const reasons = int(decisionv1.Reason_REASON_ANSWERED) + 1

var reasonNames = [reasons]string{
	decisionv1.Reason_REASON_UNSPECIFIED: "other",
	decisionv1.Reason_REASON_RULE:        "rule", decisionv1.Reason_REASON_FAST_ROUTE: "fast_route",
	decisionv1.Reason_REASON_ANNOTATION: "annotation", decisionv1.Reason_REASON_DEFAULT_HOSTGROUP: "default_hostgroup",
	decisionv1.Reason_REASON_TRANSACTION: "transaction", decisionv1.Reason_REASON_LOCKED: "locked",
	decisionv1.Reason_REASON_ANSWERED: "answered", decisionv1.Reason_REASON_GUIDELINE: "guideline",
}

func (m *Metrics) decision(a *decisionv1.RouteStatementResponse, source route.Source) {
	reason := int(a.GetReason())
	if reason < 0 || reason >= reasons {
		reason = 0
	}
	m.decisions[reason][source].Inc()
}

// maxRoutes bounds the values of the label route.
const maxRoutes = 100

// routeLabel gives the label of a route. A statement that the guideline refuses has no route.
func (m *Metrics) routeLabel(route string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.routes[route] {
		if len(m.routes) >= maxRoutes {
			return "other"
		}
		m.routes[route] = true
	}
	return route
}

// statement counts a statement on a connection and the time that it took there.
func (m *Metrics) statement(b *backend, took time.Duration) {
	if b.statements == nil {
		b.statements = m.statements.WithLabelValues(strconv.Itoa(int(b.key.hostgroup)))
	}
	b.statements.Inc()
	m.latency.Observe(took.Seconds())
}

// unsupportedEffects makes it visible that an answer demands more than this gateway does.
func (m *Metrics) unsupportedEffects(a *decisionv1.RouteStatementResponse) {
	if a.GtidFromHostgroup == nil && a.MinGtid == nil && a.CreateNewConn == nil {
		return
	}
	for name, set := range map[string]bool{
		"gtid_from_hostgroup": a.GtidFromHostgroup != nil,
		"min_gtid":            a.MinGtid != nil, "create_new_conn": a.CreateNewConn != nil,
	} {
		if set {
			m.unsupported.WithLabelValues(name).Inc()
		}
	}
}
