package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

// pointsman is a decision server. It can be killed and started again on the same address and data.
type pointsman struct {
	*process
	address, admin, dataDir string
}

// newPointsman starts a decision server with an empty data directory and waits until it can publish.
func newPointsman(tb testing.TB, flags ...string) *pointsman {
	tb.Helper()
	p := &pointsman{address: freeAddress(tb), admin: freeAddress(tb), dataDir: tb.TempDir()}
	p.start(tb, flags...)
	p.awaitHealth(tb, "pointsman.config.v1.ConfigService")
	return p
}

func (p *pointsman) start(tb testing.TB, flags ...string) {
	tb.Helper()
	p.process = start(tb, "pointsman", append([]string{"serve", "--listen", p.address, "--admin", p.admin, "--data-dir", p.dataDir}, flags...)...)
}

// health asks the server about a service, "" for the whole.
func (p *pointsman) health(tb testing.TB, service string) string {
	tb.Helper()
	conn, err := grpc.NewClient(p.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithTimeout(tb.Context(), 5*time.Second)
	defer cancel()
	resp, err := healthv1.NewHealthClient(conn).Check(ctx, &healthv1.HealthCheckRequest{Service: service})
	if err != nil {
		return err.Error()
	}
	return resp.GetStatus().String()
}

func (p *pointsman) awaitHealth(tb testing.TB, service string) {
	tb.Helper()
	eventually(tb, fmt.Sprintf("service %q is healthy", service), patience, func() (bool, string) {
		if !p.running() {
			tb.Fatalf("pointsman has ended: %v", p.cmd.ProcessState)
		}
		got := p.health(tb, service)
		return got == "SERVING", got
	})
}

// store is the process of the embedded store.
func (p *pointsman) store(tb testing.TB) int {
	tb.Helper()
	var pids []int
	eventually(tb, "the store runs", patience, func() (bool, string) {
		pids = children(tb, p.pid())
		return len(pids) == 1, fmt.Sprintf("child processes %v", pids)
	})
	return pids[0]
}

// ctl runs pointsmanctl against the server.
func (p *pointsman) ctl(tb testing.TB, args ...string) (stdout, stderr string, code int) {
	tb.Helper()
	return run(tb, nil, "pointsmanctl", append([]string{"--server", p.address, "--timeout", patience.String()}, args...)...)
}

// publish publishes a file and gives the new generation.
func (p *pointsman) publish(tb testing.TB, file string, flags ...string) uint64 {
	tb.Helper()
	stdout, stderr, code := p.ctl(tb, append([]string{"publish", file, "-o", "json"}, flags...)...)
	if code != 0 {
		tb.Fatalf("publish %s: exit status %d\n%s%s", file, code, stdout, stderr)
	}
	var published struct {
		Generation uint64 `json:"generation,string"`
	}
	if err := json.Unmarshal([]byte(stdout), &published); err != nil {
		tb.Fatalf("publish %s: %v\n%s", file, err, stdout)
	}
	return published.Generation
}

// decision is what the server says about a statement.
type decision struct {
	Generation           string `json:"generation"`
	Reason               string `json:"reason"`
	DestinationHostgroup *int   `json:"destination_hostgroup"`
	MatchedRules         []int  `json:"matched_rules"`
}

func (d decision) String() string {
	hostgroup := "none"
	if d.DestinationHostgroup != nil {
		hostgroup = fmt.Sprint(*d.DestinationHostgroup) //nolint:perfsprint // For people.
	}
	return fmt.Sprintf("generation %s, hostgroup %s, %s", d.Generation, hostgroup, d.Reason)
}

// route asks the server about a statement of app. A refusal is a decision in words.
func (p *pointsman) route(tb testing.TB, schema, statement string) string {
	tb.Helper()
	stdout, stderr, code := p.ctl(tb, "route", "-o", "json", "--user", appUser, "--schema", schema, statement)
	if code != 0 {
		return stderr
	}
	var d decision
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		tb.Fatalf("route: %v\n%s", err, stdout)
	}
	return d.String()
}

// gateway is a MySQL gateway. It can be killed and started again on the same address and state.
type gateway struct {
	*process
	address, admin, stateDir, decision string
	flags                              []string // Further ones.
}

// newGateway starts a gateway of a decision server and waits until it has its configuration.
func newGateway(tb testing.TB, p *pointsman, flags ...string) *gateway {
	tb.Helper()
	g := &gateway{address: freeAddress(tb), admin: freeAddress(tb), stateDir: tb.TempDir(), decision: p.address, flags: flags}
	g.start(tb)
	eventually(tb, "the gateway is ready", patience, func() (bool, string) {
		return get(tb, g.admin, "/readyz")
	})
	return g
}

func (g *gateway) start(tb testing.TB) {
	tb.Helper()
	g.process = start(tb, "pointsman-gateway",
		append([]string{
			"--listen", g.address, "--admin", g.admin, "--state-dir", g.stateDir, "--decision", g.decision,
			"--decision-timeout", patience.String(), // on a busy machine few answers come within the usual time
		}, g.flags...)...)
}

// metric reads a gauge or counter of the gateway without labels, -1 when it is not there.
func (g *gateway) metric(tb testing.TB, name string) float64 {
	tb.Helper()
	_, page := get(tb, g.admin, "/metrics")
	for line := range strings.Lines(page) {
		var value float64
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			if _, err := fmt.Sscan(rest, &value); err != nil {
				tb.Fatalf("metric %s: %v", line, err)
			}
			return value
		}
	}
	return -1
}

// get reads an admin page. ok: it came with status 200.
func get(tb testing.TB, address, path string) (ok bool, text string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, http.NoBody)
	if err != nil {
		tb.Fatal(err)
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return false, err.Error()
	}
	return resp.StatusCode == http.StatusOK, string(body)
}

// configuration fills in a template of testdata and gives the file.
func configuration(tb testing.TB, name string, values map[string]any) string {
	tb.Helper()
	t, err := template.New(name).Option("missingkey=error").ParseFiles(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	var text bytes.Buffer
	if err := t.Execute(&text, values); err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(tb.TempDir(), name)
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}
