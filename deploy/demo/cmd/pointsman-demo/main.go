// Command pointsman-demo runs the two demo servers.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/pointsman/pointsman/deploy/demo"
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

func serve(ctx context.Context, primary, replica string) error {
	p, err := new(net.ListenConfig).Listen(ctx, "tcp", primary)
	if err != nil {
		return err
	}
	r, err := new(net.ListenConfig).Listen(ctx, "tcp", replica)
	if err != nil {
		return errors.Join(err, p.Close())
	}
	return demo.Serve(ctx, p, r)
}
