package gateway

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/pointsman/pointsman/deploy/bench"
)

// size is how much is measured.
type size struct {
	rounds     int
	turn       time.Duration // of one way in a round
	statements int           // that allocations are counted for
}

var (
	whole = size{rounds: 5, turn: 3 * time.Second, statements: 50_000}
	short = size{rounds: 2, turn: time.Second, statements: 10_000}
)

// Main measures and returns the exit status: 0 when the budgets hold, 1 when one is missed, 2 when it could not be
// measured.
func Main(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("bench-gateway", flag.ContinueOnError)
	flags.SetOutput(stderr)
	server := flags.String("server", filepath.Join("bin", "pointsman"), "the `program` to start as the decision server")
	gateway := flags.String("gateway", filepath.Join("bin", "pointsman-gateway"), "the `program` to start as the gateway")
	out := flags.String("out", filepath.Join("bench", "gateway.json"), "`file` for the rows")
	quick := flags.Bool("short", false, "measure for a minute, less exactly")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	sz := whole
	if *quick {
		sz = short
	}
	fmt.Fprintf(stdout, "%s %s/%s, %d cores; %d rules; median of %d rounds of %v each way\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), ruleCount, sz.rounds, sz.turn)
	report := bench.NewReport(stdout, budgets)
	if err := measure(ctx, sz, *server, *gateway, environ, report); err != nil {
		fmt.Fprintf(stderr, "bench-gateway: %v\n", err)
		return 2
	}
	ok, err := report.Finish(*out)
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "bench-gateway: %v\n", err)
		return 2
	case !ok:
		return 1
	}
	return 0
}

// installed checks that there is what has to be started.
func installed() error {
	for _, need := range []struct{ program, debian string }{
		{"mariadbd", "mariadb-server"},
		{"mariadb-install-db", "mariadb-server"},
		{"haproxy", "haproxy"},
		{"sysbench", "sysbench"},
	} {
		if _, err := exec.LookPath(need.program); err != nil {
			return fmt.Errorf("%s is not installed; on Debian: apt-get install %s", need.program, need.debian)
		}
	}
	return nil
}

func measure(ctx context.Context, sz size, server, gateway string, environ []string, report *bench.Report) error {
	if err := installed(); err != nil {
		return err
	}
	s, err := newStand(ctx, environ, server, gateway)
	defer s.end()
	if err != nil {
		return err
	}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	memory, err := s.idleMemory(ctx)
	if err != nil {
		return fmt.Errorf("idle sessions: %w", err)
	}
	report.Add("rss_1000_sessions_idle", bench.Result{Value: memory, Ratio: memory, Allocs: -1})
	allocs, err := s.allocations(ctx, sz.statements)
	if err != nil {
		return fmt.Errorf("allocations: %w", err)
	}
	report.Add("allocs_per_statement", bench.Result{Value: allocs, Ratio: allocs, Allocs: -1})
	for _, m := range []struct {
		load
		add func(*comparison)
	}{
		{pointText, func(c *comparison) {
			c.addRate(report, "qps_vs_haproxy")
			c.addCPU(report, "cpu_per_query_vs_haproxy")
		}},
		{pointPrepared, func(c *comparison) { c.addRate(report, "prepared_qps_vs_haproxy") }},
		{readOnly, func(c *comparison) { c.addCPU(report, "read_only_cpu_vs_haproxy") }},
		{rows, func(c *comparison) { c.addCPU(report, "rows_10000_cpu_vs_haproxy") }},
		{pointOne, func(c *comparison) { c.addLatency(report, "added_latency_vs_haproxy") }},
		{connects, func(c *comparison) { c.addRate(report, "connect_rate_vs_haproxy") }},
	} {
		c, err := s.compare(ctx, m.load, sz.rounds, sz.turn)
		if err != nil {
			return err
		}
		m.add(c)
	}
	if memory, err = s.idleMemory(ctx); err != nil {
		return fmt.Errorf("idle sessions: %w", err)
	}
	report.Info("rss after all that", "%.1f MiB with %d idle sessions", memory, idleSessions)
	return nil
}
