// Command pointsmanctl publishes, inspects and tests Pointsman configurations.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/pointsman/pointsman/clients/ctl"
)

// version is set by the linker.
var version = "unknown"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := ctl.Main(ctx, version, os.Args[1:], ctl.IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv})
	stop()
	os.Exit(code)
}
