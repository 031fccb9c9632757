package hostile

import (
	"context"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"time"

	client "github.com/pointsman/pointsman/clients/go"
	"github.com/pointsman/pointsman/deploy/bench"
)

var budgets = []bench.Budget{
	{Name: "hostile_unary_p99", Unit: "ms", Op: bench.AtMost, Limit: 10, Baseline: "the same callers' p99 without the hostile one"},
	{Name: "hostile_parallel_p99", Unit: "ms", Op: bench.AtMost, Limit: 10, Baseline: "the same callers' p99 without the hostile one"},
	{Name: "hostile_stream_p99", Unit: "ms", Op: bench.AtMost, Limit: 10, Baseline: "the same callers' p99 without the hostile one"},
	{Name: "hostile_16k_p99", Unit: "ms", Op: bench.AtMost, Limit: 10, Baseline: "the same callers' p99 without the hostile one"},
	{Name: "hostile_1k_p99", Unit: "ms", Op: bench.AtMost, Limit: 10, Baseline: "the same callers' p99 without the hostile one"},
}

const (
	rounds = 4
	turn   = 2 * time.Second // of a round, without and with the hostile caller
	pause  = time.Second     // after the hostile caller has ended: what it left is decided to its end
)

// Main measures and returns the exit status: 0 when the budgets hold, 1 when one is missed, 2 when it could not be
// measured.
func Main(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("bench-hostile", flag.ContinueOnError)
	flags.SetOutput(stderr)
	program := flags.String("server", filepath.Join("bin", "pointsman"), "the `program` to start as the server")
	out := flags.String("out", filepath.Join("bench", "hostile.json"), "`file` for the rows")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	fmt.Fprintf(stdout, "%s %s/%s, %d cores; %d hostile expressions, %d ordinary callers\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), ruleCount, callers)
	report := bench.NewReport(stdout, budgets)
	if err := measure(ctx, *program, environ, report); err != nil {
		fmt.Fprintf(stderr, "bench-hostile: %v\n", err)
		return 2
	}
	ok, err := report.Finish(*out)
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "bench-hostile: %v\n", err)
		return 2
	case !ok:
		return 1
	}
	return 0
}

func measure(ctx context.Context, program string, environ []string, report *bench.Report) error {
	s, err := start(ctx, program, environ)
	if s != nil {
		defer s.stop()
	}
	if err != nil {
		return err
	}
	// The hostile caller has its own connection.
	others, err := client.New(client.Options{Addresses: []string{s.address}})
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer others.Close() //nolint:errcheck // nothing is lost with it
	bad, err := client.New(client.Options{Addresses: []string{s.address}})
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer bad.Close() //nolint:errcheck // nothing is lost with it

	began := time.Now()
	if err := s.publish(ctx, others); err != nil {
		return err
	}
	report.Info("publish", "%.1f s from the server's start until the rules are in force", time.Since(began).Seconds())
	streamCtx, endStream := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = bad.Run(streamCtx) // nil when the context ends
	}()
	defer func() {
		endStream()
		<-ended
	}()
	if err := bad.WaitConnected(ctx, startTime); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	if _, err := ordinary(ctx, others, time.Second); err != nil { // warms up
		return err
	}
	for _, a := range attacks {
		if err := compare(ctx, a, others, bad, report); err != nil {
			return err
		}
	}
	return nil
}

// compare takes turns, without and with the hostile caller.
func compare(ctx context.Context, a attack, others, bad *client.Client, report *bench.Report) error {
	var without, with []time.Duration
	texts := statements(a.size)
	var answers int64
	for range rounds {
		quiet, err := ordinary(ctx, others, turn)
		if err != nil {
			return err
		}
		without = append(without, quiet...)

		attackCtx, end := context.WithCancel(ctx)
		done := make(chan int64, 1)
		go func() { done <- a.run(attackCtx, bad, texts) }()
		loud, err := ordinary(ctx, others, turn)
		end()
		answers += <-done
		if err != nil {
			return err
		}
		with = append(with, loud...)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	base, value := quantile(without, 0.99), quantile(with, 0.99)
	report.Add(a.name, bench.Result{
		Value: ms(value), Ratio: float64(value) / float64(base), Allocs: -1,
		Note: fmt.Sprintf("p50 %.2f, without %.2f; p99 without %.2f; max %.1f, without %.1f; %.1f answers/s and %.1f/s to the hostile caller",
			ms(quantile(with, 0.5)), ms(quantile(without, 0.5)), ms(base), ms(quantile(with, 1)), ms(quantile(without, 1)),
			float64(len(with))/(rounds*turn.Seconds()), float64(answers)/(rounds*turn.Seconds())),
	})
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
