// Command bench-gateway measures the MySQL gateway against HAProxy; docs/benchmarks.md explains the rows.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/pointsman/pointsman/deploy/bench/gateway"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return gateway.Main(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
}
