package pool

import "github.com/prometheus/client_golang/prometheus"

// closeCause is why a free connection was closed.
type closeCause int

const (
	closedAge closeCause = iota
	closedIdle
	closedDead
	closedDoubt
	closedRoom
	closedConfig
	closedEnd
	closeCauses
	closedNot closeCause = -1
)

var closeNames = [closeCauses]string{"age", "idle", "dead", "doubt", "room", "config", "end"}

type waitResult int

const (
	waitServed waitResult = iota
	waitTimeout
	waitFull
	waitResults
)

var waitNames = [waitResults]string{"served", "timeout", "full"}

// Metrics count what becomes of connections.
type Metrics struct {
	created    prometheus.Counter
	renewed    prometheus.Counter
	handedOver prometheus.Counter
	returned   prometheus.Counter
	closed     [closeCauses]prometheus.Counter
	waits      [waitResults]prometheus.Counter
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(r prometheus.Registerer) *Metrics {
	opts := func(name, help string) prometheus.CounterOpts {
		return prometheus.CounterOpts{Namespace: "pointsman", Subsystem: "gateway", Name: name, Help: help}
	}
	created := prometheus.NewCounter(opts("pool_created_total", "Logins to servers."))
	reused := prometheus.NewCounterVec(opts("pool_reused_total", "Free connections taken: renewed by a reset, handed over by another live session, or the session's own."), []string{"how"})
	closed := prometheus.NewCounterVec(opts("pool_closed_total", "Connections that were not kept, by cause."), []string{"cause"})
	waits := prometheus.NewCounterVec(opts("pool_waits_total", "Statements that had to wait for a connection, by result: served, timeout, or full (the queue)."), []string{"result"})
	r.MustRegister(created, reused, closed, waits)
	m := &Metrics{
		created: created, renewed: reused.WithLabelValues("renewed"), handedOver: reused.WithLabelValues("handed_over"), returned: reused.WithLabelValues("own"),
	}
	for i, name := range closeNames {
		m.closed[i] = closed.WithLabelValues(name)
	}
	for i, name := range waitNames {
		m.waits[i] = waits.WithLabelValues(name)
	}
	return m
}

func (m *Metrics) reused(f *Free, want *Want) {
	switch f.Owner {
	case 0:
		m.renewed.Inc()
	case want.Owner:
		m.returned.Inc()
	default:
		m.handedOver.Inc()
	}
}
