package gateway

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	_ "github.com/go-sql-driver/mysql" // the driver of sql.Open

	client "github.com/pointsman/pointsman/clients/go"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// way is one way to the database.
type way struct {
	name    string
	port    int
	program *program // between client and server; nil for none
}

// stand is everything that is measured, running.
type stand struct {
	environ  []string
	dir      string // of all data; in memory where the system has such a place
	started  []*program
	database int // port

	direct, haproxy, gateway way
	admin                    string // address of the gateway's metrics
}

// newStand starts everything. end must follow also after an error.
func newStand(ctx context.Context, environ []string, server, gateway string) (*stand, error) {
	s := &stand{environ: environ}
	var err error
	if s.dir, err = os.MkdirTemp(memory(), "pointsman-bench-"); err != nil {
		return s, fmt.Errorf("make a data directory: %w", err)
	}
	ports, err := freePorts(ctx, 6)
	if err != nil {
		return s, err
	}
	s.database = ports[0]
	s.direct = way{name: "direct", port: s.database}
	if err := s.startDatabase(ctx); err != nil {
		return s, err
	}
	if err := s.startHAProxy(ctx, ports[1]); err != nil {
		return s, err
	}
	if err := s.startServer(ctx, server, loopback(ports[2]), loopback(ports[3])); err != nil {
		return s, err
	}
	return s, s.startGateway(ctx, gateway, loopback(ports[2]), ports[4], loopback(ports[5]))
}

// memory is a folder in memory, so that disks have no say; empty where there is none.
func memory() string {
	const shm = "/dev/shm"
	if info, err := os.Stat(shm); err == nil && info.IsDir() {
		return shm
	}
	return ""
}

// end ends everything, what was started last first.
func (s *stand) end() {
	for len(s.started) > 0 {
		s.started[len(s.started)-1].end()
		s.started = s.started[:len(s.started)-1]
	}
	if s.dir != "" {
		_ = os.RemoveAll(s.dir) // the system clears what is left
	}
}

func (s *stand) start(ctx context.Context, ready func(context.Context) error, name string, args ...string) (*program, error) {
	p, err := startProgram(s.environ, name, args...)
	if err != nil {
		return nil, err
	}
	s.started = append(s.started, p)
	return p, p.await(ctx, ready)
}

// dsn is a data source name of go-sql-driver.
func dsn(port int) string {
	return fmt.Sprintf("%s:%s@tcp(%s)/%s?interpolateParams=true", user, password, loopback(port), schema)
}

// answers tells whether the database can be logged in to over a port.
func answers(ctx context.Context, port int) error {
	db, err := sql.Open("mysql", dsn(port))
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // it was only asked
	return db.PingContext(ctx)
}

func (s *stand) startHAProxy(ctx context.Context, port int) error {
	file := filepath.Join(s.dir, "haproxy.cfg")
	text := fmt.Sprintf(`global
  nbthread 1
  maxconn 4000
defaults
  mode tcp
  timeout connect 5s
  timeout client 10m
  timeout server 10m
listen mysql
  bind 127.0.0.1:%d
  server db %s
`, port, loopback(s.database))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return fmt.Errorf("configure HAProxy: %w", err)
	}
	p, err := s.start(ctx, func(ctx context.Context) error { return answers(ctx, port) }, "haproxy", "-db", "-f", file)
	s.haproxy = way{"haproxy", port, p}
	return err
}

// startServer starts a decision server with its own store and publishes the configuration.
func (s *stand) startServer(ctx context.Context, program, address, admin string) error {
	c, err := client.New(client.Options{Addresses: []string{address}})
	if err != nil {
		return fmt.Errorf("connect to the decision server: %w", err)
	}
	defer c.Close() //nolint:errcheck // nothing is lost with it
	publish := func(ctx context.Context) error {
		_, err := c.Config().PublishConfig(ctx, &configv1.PublishConfigRequest{Config: config(s.database), Author: "bench-gateway"})
		return err
	}
	_, err = s.start(ctx, publish, program, "serve", "--listen", address, "--admin", admin, "--data-dir", filepath.Join(s.dir, "store"))
	return err
}

func (s *stand) startGateway(ctx context.Context, program, decision string, port int, admin string) error {
	ready := func(ctx context.Context) error {
		if _, err := page(ctx, admin, "/readyz"); err != nil {
			return err
		}
		return answers(ctx, port)
	}
	p, err := s.start(ctx, ready, program, "--listen", loopback(port), "--admin", admin, "--decision", decision, "--log-level", "warn")
	s.gateway, s.admin = way{"gateway", port, p}, admin
	return err
}

// page gets a page of the gateway's admin address.
func page(ctx context.Context, address, path string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, http.NoBody)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return "", fmt.Errorf("get %s: %w", path, err)
	case resp.StatusCode != http.StatusOK:
		return "", fmt.Errorf("get %s: %s: %s", path, resp.Status, strings.TrimSpace(string(text)))
	}
	return string(text), nil
}

// metric reads a metric without labels of the gateway.
func (s *stand) metric(ctx context.Context, name string) (float64, error) {
	text, err := page(ctx, s.admin, "/metrics")
	if err != nil {
		return 0, err
	}
	return parseMetric(text, name)
}

var errNoMetric = errors.New("no such metric")

func parseMetric(text, name string) (float64, error) {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, name+" ")
		if !ok {
			continue
		}
		var value float64
		if _, err := fmt.Sscan(rest, &value); err != nil {
			return 0, fmt.Errorf("metric %q: %w", line, err)
		}
		return value, nil
	}
	return 0, fmt.Errorf("metric %s: %w", name, errNoMetric)
}
