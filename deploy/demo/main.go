// Command pointsman-demo stands in for two MySQL servers where no real ones are installed: a primary and a read-only
// replica on one database in memory, which is gone when the program ends. It is for trying Pointsman out: it has no
// more of MySQL than github.com/dolthub/go-mysql-server has.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(run()) }

// run ends in order at the first signal, and at once at the second.
func run() int {
	primary := flag.String("primary", "127.0.0.1:6101", "host:port of the primary, which has @@server_id 1")
	replica := flag.String("replica", "127.0.0.1:6102", "host:port of the replica, which has @@server_id 2 and is read-only")
	flag.Parse()
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer restore()
	context.AfterFunc(ctx, restore)
	if err := serve(ctx, *primary, *replica); err != nil {
		fmt.Fprintf(os.Stderr, "pointsman-demo: %v\n", err)
		return 1
	}
	return 0
}
