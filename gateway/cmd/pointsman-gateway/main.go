// Command pointsman-gateway is the MySQL gateway: it forwards the traffic of MySQL clients to the servers that the
// decision service names.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/pointsman/pointsman/gateway"
)

// version is set by the linker.
var version = "unknown"

func main() {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	os.Exit(gateway.Main(context.Background(), version, os.Args[1:], os.Environ(), os.Stdout, os.Stderr, signals))
}
