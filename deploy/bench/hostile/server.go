package hostile

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	client "github.com/pointsman/pointsman/clients/go"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// startTime bounds how long the server may take to start and to compile the configuration.
const startTime = 60 * time.Second

// server is a running decision server.
type server struct {
	cmd     *exec.Cmd
	log     bytes.Buffer
	dir     string
	address string
}

// start runs `pointsman serve` with a data directory of its own. stop must follow also after an error.
func start(ctx context.Context, program string, environ []string) (*server, error) {
	dir, err := os.MkdirTemp("", "pointsman-bench-")
	if err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	s := &server{dir: dir, address: "unix:" + filepath.Join(dir, "api")}
	s.cmd = exec.CommandContext(ctx, program, "serve", "--data-dir", filepath.Join(dir, "data"), "--listen", s.address, "--admin", "") //nolint:gosec // the caller's own program
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(os.Interrupt) }
	s.cmd.WaitDelay = 20 * time.Second
	s.cmd.Env = slices.DeleteFunc(slices.Clone(environ), func(entry string) bool { return strings.HasPrefix(entry, "POINTSMAN_") })
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		return s, fmt.Errorf("start server: %w", err)
	}
	return s, nil
}

// stop ends the server and removes its data.
func (s *server) stop() {
	if s.cmd.Process != nil {
		_ = s.cmd.Process.Signal(os.Interrupt) // it may have ended
		_ = s.cmd.Wait()                       // its status says nothing new
	}
	_ = os.RemoveAll(s.dir) // the system clears what is left
}

// publish publishes the hostile configuration, as soon as the server's store takes it.
func (s *server) publish(ctx context.Context, c *client.Client) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	cfg := config()
	for {
		_, err := c.Config().PublishConfig(ctx, &configv1.PublishConfigRequest{Config: cfg, Author: "bench-hostile"})
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("publish: %w; the server logged:\n%s", err, s.log.Bytes()[max(0, s.log.Len()-4096):])
		case <-time.After(200 * time.Millisecond): // its store starts
		}
	}
}
