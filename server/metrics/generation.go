package metrics

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pointsman/pointsman/decision"
)

// inForce shows the generation in force.
type inForce struct {
	latest atomic.Pointer[taken] // nil: none

	number, age, load, memory *prometheus.Desc
}

// taken is a generation that was taken into force.
type taken struct {
	generation *decision.Generation
	since      time.Time
	loading    time.Duration
}

func newInForce() *inForce {
	return &inForce{
		number: prometheus.NewDesc("pointsman_generation", "Generation in force, 0 for none.", nil, nil),
		age:    prometheus.NewDesc("pointsman_generation_age_seconds", "Time since the generation in force was taken over, 0 for none.", nil, nil),
		load:   prometheus.NewDesc("pointsman_generation_load_seconds", "Time it took to read and compile the generation in force.", nil, nil),
		memory: prometheus.NewDesc("pointsman_generation_memory_bytes", "Memory of the generation in force, without its texts, by part. Automata and classes grow with use, up to a bound.", []string{"part"}, nil),
	}
}

// Describe is of prometheus.Collector.
func (f *inForce) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{f.number, f.age, f.load, f.memory} {
		out <- d
	}
}

// Collect is of prometheus.Collector.
func (f *inForce) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	t := f.latest.Load()
	if t == nil {
		gauge(f.number, 0)
		gauge(f.age, 0)
		return
	}
	gauge(f.number, float64(t.generation.Number()))
	gauge(f.age, time.Since(t.since).Seconds())
	gauge(f.load, t.loading.Seconds())
	m := t.generation.Memory()
	gauge(f.memory, float64(m.DigestAutomaton), "digest_automaton")
	gauge(f.memory, float64(m.PatternAutomaton), "pattern_automaton")
	gauge(f.memory, float64(m.Rules), "rules")
	gauge(f.memory, float64(m.FastRoutes), "fast_routes")
	gauge(f.memory, float64(m.Classes), "classes")
}

// InForce notes that a generation was taken into force at a time, after it took so long to read and compile it.
func (m *Metrics) InForce(g *decision.Generation, since time.Time, loading time.Duration) {
	m.inForce.latest.Store(&taken{generation: g, since: since, loading: loading})
}
