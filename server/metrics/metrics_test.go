package metrics_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"google.golang.org/grpc/codes"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/server/metrics"
)

func TestDecisionAllocatesNothing(t *testing.T) {
	m := metrics.New("test")
	if n := testing.AllocsPerRun(1000, func() { m.Decision(decision.ReasonRule, 3*time.Microsecond) }); n != 0 {
		t.Errorf("one observation makes %v allocations, want 0", n)
	}
}

func TestMetrics(t *testing.T) {
	m := metrics.New("1.2.3")
	m.WatchStore(func() time.Time { return time.Time{} })
	for reason := range decision.ReasonAnswered + 2 { // the zero reason and one too many are not counted
		m.Decision(reason, time.Microsecond)
	}
	m.SetState("stale")
	g, _ := decision.Compile(7, &decision.Config{QueryRules: []decision.QueryRule{{RuleID: 1, MatchDigest: new("^SELECT")}}})
	m.InForce(g, time.Now(), 1500*time.Millisecond)
	m.TooComplex()
	m.Published("ok")
	m.Rejected()
	m.SetAlarm(true)
	m.Monitored("refused")
	m.MonitoredServers(2, 1)
	m.Saved(errors.New("disk full"))
	m.Methods([]string{"/s/known"})
	m.RPC("/s/known", codes.OK)
	m.RPC("/s/known", codes.Internal)
	m.RPC("/s/unknown", codes.Unimplemented)

	page := text(t, m)
	for _, want := range []string{
		`pointsman_config_state{state="current"} 0`,
		`pointsman_config_state{state="invalid"} 0`,
		`pointsman_config_state{state="none"} 0`,
		`pointsman_config_state{state="stale"} 1`,
		`pointsman_decisions_total{reason="annotation"} 1`,
		`pointsman_decisions_total{reason="answered"} 1`,
		`pointsman_decisions_total{reason="default_hostgroup"} 1`,
		`pointsman_decisions_total{reason="fast_route"} 1`,
		`pointsman_decisions_total{reason="guideline"} 1`,
		`pointsman_decisions_total{reason="locked"} 1`,
		`pointsman_decisions_total{reason="rule"} 1`,
		`pointsman_decisions_total{reason="transaction"} 1`,
		`pointsman_decision_duration_seconds_bucket{le="1e-06"} 9`,
		`pointsman_generation 7`,
		`pointsman_decisions_too_complex_total 1`,
		`pointsman_generation_load_seconds 1.5`,
		`pointsman_publishes_total{result="ok"} 1`,
		`pointsman_rejects_total 1`,
		`pointsman_rpcs_total{code="OK",method="/s/known"} 1`,
		`pointsman_rpcs_total{code="Internal",method="/s/known"} 1`,
		`pointsman_store_confirmed_seconds -1`,
		`pointsman_store_alarm 1`,
		`pointsman_monitor_looks_total{result="refused"} 1`,
		`pointsman_monitor_servers{state="available"} 2`,
		`pointsman_monitor_servers{state="unavailable"} 1`,
		`pointsman_last_good_saves_total{result="error"} 1`,
	} {
		if !strings.Contains(page, want+"\n") {
			t.Errorf("no line %s in\n%s", want, page)
		}
	}
	for _, part := range []string{"digest_automaton", "pattern_automaton", "rules", "fast_routes", "classes"} {
		if !strings.Contains(page, `pointsman_generation_memory_bytes{part="`+part+`"} `) {
			t.Errorf("no memory of %s in\n%s", part, page)
		}
	}
	if strings.Contains(page, `part="digest_automaton"} 0`) {
		t.Errorf("an automaton without memory in\n%s", page)
	}
	if strings.Contains(page, "unknown") {
		t.Errorf("a method that nobody announced is counted:\n%s", page)
	}
}

// text is the metrics as Prometheus reads them, without those of the runtime.
func text(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	families, err := m.Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "pointsman_") {
			continue
		}
		if _, err := expfmt.MetricFamilyToText(&b, f); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}
