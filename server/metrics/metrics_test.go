package metrics_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

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
	m.SetState(metrics.Stale)
	m.InForce(7, time.Now())
	m.Published("ok")
	m.Rejected()

	const want = `
# HELP pointsman_config_state 1 for the state of the configuration: none (nothing published), current, stale (the newest was rejected, an older one is in force) or invalid (rejected, and none is in force).
# TYPE pointsman_config_state gauge
pointsman_config_state{state="current"} 0
pointsman_config_state{state="invalid"} 0
pointsman_config_state{state="none"} 0
pointsman_config_state{state="stale"} 1
# HELP pointsman_decisions_total Statements decided, by the step that gave the destination.
# TYPE pointsman_decisions_total counter
pointsman_decisions_total{reason="annotation"} 1
pointsman_decisions_total{reason="answered"} 1
pointsman_decisions_total{reason="default_hostgroup"} 1
pointsman_decisions_total{reason="fast_route"} 1
pointsman_decisions_total{reason="locked"} 1
pointsman_decisions_total{reason="rule"} 1
pointsman_decisions_total{reason="transaction"} 1
# HELP pointsman_generation Generation in force, 0 for none.
# TYPE pointsman_generation gauge
pointsman_generation 7
# HELP pointsman_publishes_total Publications and rollbacks asked of this server, by result (the API's error reason, or ok).
# TYPE pointsman_publishes_total counter
pointsman_publishes_total{result="ok"} 1
# HELP pointsman_rejects_total Generations offered by the store that this server could not take into force.
# TYPE pointsman_rejects_total counter
pointsman_rejects_total 1
# HELP pointsman_store_confirmed_seconds Time since the store last said which generation is in force; -1: never since the start.
# TYPE pointsman_store_confirmed_seconds gauge
pointsman_store_confirmed_seconds -1
`
	err := testutil.GatherAndCompare(m.Registry(), strings.NewReader(want), "pointsman_config_state",
		"pointsman_decisions_total", "pointsman_generation", "pointsman_publishes_total", "pointsman_rejects_total",
		"pointsman_store_confirmed_seconds")
	if err != nil {
		t.Error(err)
	}
	problems, err := testutil.GatherAndLint(m.Registry())
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v, error %v", problems, err)
	}
}
