package gateway

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/pointsman/pointsman/gateway/mirror"
	"github.com/pointsman/pointsman/gateway/resultcache"
)

// registerResults adds the metrics of the result cache, which are read when they are asked for.
func registerResults(r prometheus.Registerer, cache *resultcache.Cache) {
	const namespace, subsystem = "pointsman", "gateway_result_cache"
	counter := func(name, help string, value func(*resultcache.Stats) uint64) {
		r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help},
			func() float64 {
				st := cache.Stats()
				return float64(value(&st))
			}))
	}
	counter("hits_total", "Statements answered from the result cache.", func(s *resultcache.Stats) uint64 { return s.Hits })
	counter("misses_total", "Statements with cache_ttl whose result was not there.", func(s *resultcache.Stats) uint64 { return s.Misses })
	counter("stored_total", "Results kept.", func(s *resultcache.Stats) uint64 { return s.Stored })
	counter("evictions_total", "Results dropped before their time to make room.", func(s *resultcache.Stats) uint64 { return s.Evicted })
	gauge := func(name, help string, value func(*resultcache.Stats) float64) {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help},
			func() float64 {
				st := cache.Stats()
				return value(&st)
			}))
	}
	gauge("bytes", "Memory of the result cache.", func(s *resultcache.Stats) float64 { return float64(s.Bytes) })
	gauge("entries", "Results in the result cache.", func(s *resultcache.Stats) float64 { return float64(s.Entries) })
}

// registerMirror adds the metrics of mirrored statements, which are read when they are asked for.
func registerMirror(r prometheus.Registerer, m *mirror.Mirror) {
	for result, value := range map[string]func() uint64{"sent": m.Sent, "dropped": m.Dropped, "failed": m.Failed} {
		r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: "pointsman", Subsystem: "gateway", Name: "mirrored_total",
			Help: "Copies of statements by what came of them: sent, dropped, failed.", ConstLabels: prometheus.Labels{"result": result},
		}, func() float64 { return float64(value()) }))
	}
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "pointsman", Subsystem: "gateway", Name: "mirror_queue", Help: "Copies of statements that wait.",
	}, func() float64 { return float64(m.Waiting()) }))
}
