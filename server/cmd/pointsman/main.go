// Command pointsman is the decision server. `pointsman serve --help` shows its settings.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/pointsman/pointsman/server"
)

// version is set by the linker.
var version = "dev"

func main() { os.Exit(run()) }

// run ends in order at the first signal, and at once at the second.
func run() int {
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer restore()
	context.AfterFunc(ctx, restore)
	return server.Main(ctx, version, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
}
