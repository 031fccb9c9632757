package server

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// state tells the state, the generation in force and the problems of the refused publication.
func (p *program) state(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	resp, err := p.config().GetConfigState(ctx, &configv1.GetConfigStateRequest{}, grpc.WaitForReady(true))
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s, generation %d, %d problems", strings.TrimPrefix(resp.GetState().String(), "CONFIG_STATE_"),
		resp.GetRunningGeneration(), resp.GetRejection().GetProblemCount())
}

// TestRefusalOutlivesRestarts publishes broken configurations to a server and restarts it.
func TestRefusalOutlivesRestarts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	dataDir := filepath.Join(t.TempDir(), "data")
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("deep secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--monitor-username", "m", "--monitor-password-file", password}
	p := start(t, dataDir, flags...)
	ctx := t.Context()
	eventually(t, "SERVING", func(ctx context.Context) string { return p.health(ctx, "pointsman.config.v1.ConfigService") })

	// The first one is broken: nothing is in force, after a restart neither.
	if got := p.publish(ctx, 1<<40); got != "InvalidArgument" {
		t.Fatalf("publish: %s", got)
	}
	if got := p.state(ctx); got != "INVALID, generation 0, 1 problems" {
		t.Errorf("state %s", got)
	}
	if code, body := p.get(t, "/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "destination_hostgroup") {
		t.Errorf("/readyz: %d %s", code, body)
	}
	restart := func(more ...string) {
		t.Helper()
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if code := p.end(t); code != 0 {
			t.Errorf("exit status %d after SIGTERM", code)
		}
		p = start(t, dataDir, append(more, flags...)...)
	}
	restart()
	if got := p.state(ctx); got != "INVALID, generation 0, 1 problems" { // before the store can be read
		t.Errorf("state %s", got)
	}
	eventually(t, "SERVING", func(ctx context.Context) string { return p.health(ctx, "pointsman.config.v1.ConfigService") })
	if got := p.state(ctx); got != "INVALID, generation 0, 1 problems" {
		t.Errorf("state %s", got)
	}

	// A valid one, then a broken one: the valid one stays.
	eventually(t, "generation 1", func(ctx context.Context) string { return p.publish(ctx, 20) })
	if got := p.state(ctx); got != "CURRENT, generation 1, 0 problems" {
		t.Errorf("state %s", got)
	}
	if got := p.publish(ctx, 1<<41); got != "InvalidArgument" {
		t.Fatalf("publish: %s", got)
	}
	for _, next := range [][]string{nil, {"--store", "etcd", "--etcd-endpoints", "127.0.0.1:1"}} {
		if got := p.state(ctx); got != "STALE, generation 1, 1 problems" {
			t.Errorf("state %s", got)
		}
		if got := p.route(ctx); got != "generation 1, hostgroup 20" {
			t.Errorf("decision: %s", got)
		}
		if code, body := p.get(t, "/readyz"); code != http.StatusOK || !strings.Contains(body, "configuration: stale: the last publication was refused: ") {
			t.Errorf("/readyz: %d %s", code, body)
		}
		if _, page := p.get(t, "/metrics"); !strings.Contains(page, `pointsman_config_state{state="stale"} 1`+"\n") {
			t.Error("/metrics does not say stale")
		}
		restart(next...)
	}
	// The store is away.
	if got := p.state(ctx); got != "STALE, generation 1, 1 problems" {
		t.Errorf("state %s", got)
	}
	restart()

	// Mended.
	eventually(t, "generation 2", func(ctx context.Context) string { return p.publish(ctx, 21) })
	if got := p.state(ctx); got != "CURRENT, generation 2, 0 problems" {
		t.Errorf("state %s", got)
	}
	if strings.Contains(p.log.String(), "secret") {
		t.Errorf("the log has the password:\n%s", p.log)
	}
}
