// Command pointsman is the decision server. `pointsman serve --help` shows its settings.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/pointsman/pointsman/server"
)

// version is set by the linker.
var version = "dev"

func main() { os.Exit(run()) }

// run ends in order at the first signal, and at once at one that comes a second later. In between they don't count: a
// terminal, a shell and a supervisor may each pass on the same one.
func run() int {
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer restore()
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, restore) })
	return server.Main(ctx, version, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
}
