package clients

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/pointsman/pointsman/gateway/mysqltest"
)

const (
	user      = "script"
	otherUser = "other"
	password  = "Secret-1"
	schema    = "play"
	other     = "play_other"
)

// configuration sends everything of one listener to the writer; of the other one reads go to the reader, which is the
// same server under another name, so that a session uses two connections and takes its state along.
const configuration = `
servers:
  - {hostgroup_id: 10, hostname: 127.0.0.1, port: %[1]d}
  - {hostgroup_id: 20, hostname: localhost, port: %[1]d}
users:
  - {username: script, password: Secret-1, default_hostgroup: 10}
  - {username: other, password: Secret-1, default_hostgroup: 10}
query_rules:
  - {rule_id: 1, proxy_port: %[2]d, match_digest: '^SELECT.* (FOR UPDATE|LOCK IN SHARE MODE)', destination_hostgroup: 10, apply: true}
  - {rule_id: 2, proxy_port: %[2]d, match_digest: '^\(*SELECT', destination_hostgroup: 20, apply: true}
`

// fleet is a server, and a gateway in front of it with two listeners.
type fleet struct {
	server        *mysqltest.Server
	writer, split string // Addresses of the listeners.
	admin         string
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	need(t, "MariaDB", mysqltest.Installed())
	f := &fleet{
		server: mysqltest.Start(t, "--local-infile=1", "--lock-wait-timeout=10", "--innodb-lock-wait-timeout=10", "--secure-file-priv=/dev/null",
			"--innodb-log-file-size=96M"), // A tenth of it bounds a value.
		writer: freeAddress(t), split: freeAddress(t), admin: freeAddress(t),
	}
	for _, name := range []string{user, otherUser} {
		f.server.Exec(t,
			fmt.Sprintf("CREATE USER %s@'127.0.0.1' IDENTIFIED BY '%s'", name, password),
			fmt.Sprintf("GRANT ALL ON `play%%`.* TO %s@'127.0.0.1'", name))
	}
	decision := freeAddress(t)
	start(t, "pointsman", "serve", "--listen", decision, "--admin", freeAddress(t), "--data-dir", t.TempDir())
	_, port, _ := net.SplitHostPort(f.split)
	splitPort, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, configuration, f.server.Port, splitPort), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the configuration is published", func(ctx context.Context) error {
		out, err := exec.CommandContext(ctx, filepath.Join(bin, "pointsmanctl"), "--server", decision, "publish", file).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	})
	start(t, "pointsman-gateway", "--listen", f.writer, "--listen", "split="+f.split, "--admin", f.admin, "--decision", decision)
	eventually(t, "the gateway is ready", func(ctx context.Context) error { return ready(ctx, f.admin) })
	return f
}

type listener struct{ name, address string }

// listeners are the gateway's two, in the short form the one where sessions use two connections.
func (f *fleet) listeners() []listener {
	all := []listener{{"reads apart", f.split}, {"one server", f.writer}}
	if !*full {
		return all[:1]
	}
	return all
}

// clean makes the schemas anew.
func (f *fleet) clean(t *testing.T) {
	t.Helper()
	for _, name := range []string{schema, other} {
		f.server.Exec(t, "DROP DATABASE IF EXISTS "+name, "CREATE DATABASE "+name)
	}
}

// start starts a built program, which is ended with the test.
func start(t *testing.T, name string, args ...string) {
	t.Helper()
	var log bytes.Buffer
	cmd := exec.Command(filepath.Join(bin, name), args...) //nolint:noctx // Built above; the cleanup ends it.
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.WaitDelay = patience
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", name, err)
	}
	t.Cleanup(func() {
		kill := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if t.Failed() {
			t.Logf("%s logged:\n%s", name, log.Bytes()[max(0, log.Len()-8<<10):])
		}
	})
}

// eventually repeats something until it succeeds.
func eventually(t *testing.T, what string, try func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for {
		err := try(ctx)
		if err == nil {
			return
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			t.Fatalf("%s: not within %v: %v", what, patience, err)
		}
	}
}

// ready asks the admin pages of a gateway.
func ready(ctx context.Context, admin string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+admin+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("/readyz: %s", resp.Status)
	}
	return nil
}

// run runs a program in a folder to its end and gives what it writes, see shortLines. Another exit status than 0 fails the test.
func run(t *testing.T, dir string, stdin []byte, name string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.WaitDelay = time.Second
	var out shortLines
	var errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s\n%s", cmd, err, tail(out.Bytes()), tail(errOut.Bytes()))
	}
	return append(out.Bytes(), errOut.Bytes()...)
}

func tail(text []byte) []byte { return text[max(0, len(text)-2000):] }

// freeAddress finds a loopback port that is free now.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("find a free port: %v", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
