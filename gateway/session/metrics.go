package session

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/route"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// Metrics count what sessions do.
type Metrics struct {
	sessions        prometheus.Gauge
	commands        *prometheus.CounterVec
	decisions       [reasons][route.Sources]prometheus.Counter
	fastForward     prometheus.Counter
	statements      *prometheus.CounterVec
	latency         prometheus.Histogram
	errors          *prometheus.CounterVec
	pins            *prometheus.CounterVec
	retries         prometheus.Counter
	connectFailures *prometheus.CounterVec
	unsupported     *prometheus.CounterVec
	guidedBy        *prometheus.CounterVec

	mu     sync.Mutex
	routes map[string]bool // that have a label of their own
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(r prometheus.Registerer) *Metrics {
	vec := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "pointsman", Subsystem: "gateway", Name: name, Help: help}, labels)
	}
	m := &Metrics{
		sessions:        prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "pointsman", Subsystem: "gateway", Name: "sessions", Help: "Client connections."}),
		commands:        vec("commands_total", "Commands of clients by command byte.", "command"),
		statements:      vec("statements_total", "Statements sent to servers by hostgroup.", "hostgroup"),
		errors:          vec("errors_total", "Errors by source: client, gateway or backend.", "source"),
		pins:            vec("pins_total", "Sessions held on a server because of state there, by cause.", "cause"),
		connectFailures: vec("connect_failures_total", "Failed connections to servers.", "server"),
		guidedBy:        vec("guideline_decisions_total", "Decisions of the routing guideline by route and mode (all, write, read, refused); routes beyond the first 100 count as \"other\".", "route", "mode"),
		routes:          map[string]bool{},
		unsupported:     vec("unsupported_effects_total", "Effects of answers that this gateway does not carry out.", "effect"),
		retries: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "pointsman", Subsystem: "gateway", Name: "retries_total", Help: "Reads sent again after a broken connection.",
		}),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "pointsman", Subsystem: "gateway", Name: "statement_duration_seconds",
			Help: "Time from sending a statement to the end of its response.", Buckets: prometheus.ExponentialBuckets(50e-6, 2, 20),
		}),
	}
	decisions := vec("decisions_total", "Decisions by reason and by where the answer came from (cache, asked, stale, default, refused, fast_forward).", "reason", "source")
	m.fastForward = decisions.WithLabelValues(reasonNames[decisionv1.Reason_REASON_DEFAULT_HOSTGROUP], "fast_forward")
	for reason, name := range reasonNames {
		for source := range route.Source(route.Sources) {
			m.decisions[reason][source] = decisions.WithLabelValues(name, source.String())
		}
	}
	r.MustRegister(m.sessions, m.commands, decisions, m.statements, m.latency, m.errors, m.pins, m.retries, m.connectFailures, m.unsupported, m.guidedBy)
	return m
}

var commandNames = map[byte]string{
	mysql.ComQuit: "quit", mysql.ComInitDB: "init_db", mysql.ComQuery: "query", mysql.ComFieldList: "field_list",
	mysql.ComStatistics: "statistics", mysql.ComPing: "ping", mysql.ComChangeUser: "change_user",
	mysql.ComStmtPrepare: "stmt_prepare", mysql.ComStmtExecute: "stmt_execute", mysql.ComStmtSendLongData: "stmt_send_long_data",
	mysql.ComStmtClose: "stmt_close", mysql.ComStmtReset: "stmt_reset", mysql.ComStmtFetch: "stmt_fetch",
	mysql.ComSetOption: "set_option", mysql.ComResetConnection: "reset_connection", mysql.ComProcessKill: "process_kill",
}

func (m *Metrics) command(code byte) {
	name, ok := commandNames[code]
	if !ok {
		name = "other"
	}
	m.commands.WithLabelValues(name).Inc()
}

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

func (m *Metrics) statement(hostgroup int32, took time.Duration) {
	m.statements.WithLabelValues(strconv.Itoa(int(hostgroup))).Inc()
	m.latency.Observe(took.Seconds())
}

// unsupportedEffects makes it visible that an answer demands more than this gateway does.
func (m *Metrics) unsupportedEffects(a *decisionv1.RouteStatementResponse) {
	if a.CacheTtlMs == nil && a.GetMirror() == nil && a.GtidFromHostgroup == nil && a.MinGtid == nil && a.CreateNewConn == nil {
		return
	}
	for name, set := range map[string]bool{
		"cache_ttl": a.CacheTtlMs != nil, "mirror": a.GetMirror() != nil, "gtid_from_hostgroup": a.GtidFromHostgroup != nil,
		"min_gtid": a.MinGtid != nil, "create_new_conn": a.CreateNewConn != nil,
	} {
		if set {
			m.unsupported.WithLabelValues(name).Inc()
		}
	}
}
