package gateway

import (
	"context"
	"fmt"
	"time"

	"github.com/pointsman/pointsman/deploy/bench"
)

// measured is what one way did under a load, one value for each round.
type measured struct {
	rate   bench.Series // queries/s
	cpu    bench.Series // us of the program between client and server for a query
	median bench.Series // us of an event
}

// comparison is all ways' under the same load.
type comparison struct{ direct, haproxy, gateway measured }

// compare loads the ways in turns, each round in another order.
func (s *stand) compare(ctx context.Context, l load, rounds int, turn time.Duration) (*comparison, error) {
	var c comparison
	turns := []struct {
		way
		into *measured
	}{{s.direct, &c.direct}, {s.haproxy, &c.haproxy}, {s.gateway, &c.gateway}}
	for round := range rounds {
		for i := range turns {
			t := turns[(round+i)%len(turns)]
			if err := s.turn(ctx, t.way, l, turn, t.into); err != nil {
				return nil, err
			}
		}
	}
	return &c, nil
}

func (s *stand) turn(ctx context.Context, w way, l load, d time.Duration, into *measured) error {
	before, err := w.cpu()
	if err != nil {
		return err
	}
	out, err := s.run(ctx, w.port, l, d)
	if err != nil {
		return err
	}
	after, err := w.cpu()
	if err != nil {
		return err
	}
	into.rate = append(into.rate, out.queries/out.seconds)
	into.cpu = append(into.cpu, float64((after-before).Microseconds())/out.queries)
	into.median = append(into.median, out.median)
	return nil
}

// cpu is that of the program in between, 0 without one.
func (w way) cpu() (time.Duration, error) {
	if w.program == nil {
		return 0, nil
	}
	return w.program.cpu()
}

// addRate compares queries a second.
func (c *comparison) addRate(report *bench.Report, name string) {
	report.Add(name, bench.Result{
		Value: c.gateway.rate.Median(), Ratio: c.gateway.rate.Over(c.haproxy.rate).Median(), Allocs: -1,
		Note: fmt.Sprintf("HAProxy %.0f, direct %.0f", c.haproxy.rate.Median(), c.direct.rate.Median()),
	})
}

// addCPU compares CPU time a query.
func (c *comparison) addCPU(report *bench.Report, name string) {
	report.Add(name, bench.Result{
		Value: c.gateway.cpu.Median(), Ratio: c.gateway.cpu.Over(c.haproxy.cpu).Median(), Allocs: -1,
		Note: fmt.Sprintf("HAProxy %.1f; %.0f queries/s, HAProxy %.0f", c.haproxy.cpu.Median(), c.gateway.rate.Median(), c.haproxy.rate.Median()),
	})
}

// addLatency compares what the ways add to the median of the direct one. The medians of a round are too close to each
// other to be divided one by one.
func (c *comparison) addLatency(report *bench.Report, name string) {
	direct := c.direct.median.Median()
	gateway, haproxy := c.gateway.median.Median()-direct, c.haproxy.median.Median()-direct
	report.Add(name, bench.Result{
		Value: gateway, Ratio: gateway / haproxy, Allocs: -1,
		Note: fmt.Sprintf("HAProxy adds %.1f to %.1f", haproxy, direct),
	})
}
