// Command bench-hostile measures what one hostile caller does to the others; docs/benchmarks.md explains the rows.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/pointsman/pointsman/deploy/bench/hostile"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return hostile.Main(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
}
