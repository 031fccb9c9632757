package deploy

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql" // The driver of the demo's connections.
)

// The quick start's ports without a shift.
const (
	gatewayPort  = 6033
	decisionPort = 7080
)

var demoPorts = []int{gatewayPort, gatewayPort + 1, decisionPort, decisionPort + 1, 6101, 6102}

const (
	readyWait = 8 * time.Minute // A first build on a busy machine is slow.
	shortWait = 30 * time.Second
)

// demo is a running quick start.
type demo struct {
	shift int
	dir   string
	cmd   *exec.Cmd
	lines chan string // What it prints; closed at its end.
	text  strings.Builder
}

// startDemo runs the quick start on shifted ports, with its data in dir.
func startDemo(t *testing.T, dir string, shift int, backends string) *demo {
	t.Helper()
	d := &demo{shift: shift, dir: dir, lines: make(chan string, 1000)}
	d.cmd = exec.CommandContext(t.Context(), "quickstart/run.sh")
	d.cmd.Cancel = func() error { return d.cmd.Process.Signal(syscall.SIGTERM) }
	d.cmd.Env = append(os.Environ(), "POINTSMAN_DEMO_DIR="+dir, "POINTSMAN_DEMO_BACKENDS="+backends,
		"POINTSMAN_DEMO_PORT_SHIFT="+strconv.Itoa(shift))
	out, in := io.Pipe()
	d.cmd.Stdout, d.cmd.Stderr = in, in
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = d.cmd.Wait() // ProcessState has the status.
		_ = in.Close()
	}()
	go func() {
		defer close(d.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			d.lines <- lines.Text()
		}
	}()
	t.Cleanup(func() { <-ended })
	return d
}

// await reads until a line begins with prefix.
func (d *demo) await(t *testing.T, prefix string) {
	t.Helper()
	tooLong := time.After(readyWait)
	for {
		select {
		case line, ok := <-d.lines:
			if !ok {
				t.Fatalf("the quick start ended without %q:\n%s", prefix, d.text.String())
			}
			d.text.WriteString(line + "\n")
			if strings.HasPrefix(line, prefix) {
				return
			}
		case <-tooLong:
			t.Fatalf("no %q after %v:\n%s", prefix, readyWait, d.text.String())
		}
	}
}

// end waits for the end and checks that it has this status and that nothing is left.
func (d *demo) end(t *testing.T, status int) {
	t.Helper()
	for tooLong := time.After(2 * time.Minute); ; {
		select {
		case line, ok := <-d.lines:
			d.text.WriteString(line + "\n")
			if ok {
				continue
			}
		case <-tooLong:
			t.Fatalf("it does not end:\n%s", d.text.String())
		}
		break
	}
	if got := d.cmd.ProcessState.ExitCode(); got != status {
		t.Errorf("exit status is %d, want %d:\n%s", got, status, d.text.String())
	}
	eventually(t, "all processes are gone", func() error {
		if left := processesWith(t, d.dir); len(left) > 0 {
			return fmt.Errorf("left are %q", left)
		}
		return nil
	})
	for _, port := range demoPorts {
		if accepts(t, port+d.shift) {
			t.Errorf("port %d is still in use", port+d.shift)
		}
	}
}

func (d *demo) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := d.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// connect gives one connection through the gateway, which stays open.
func (d *demo) connect(t *testing.T) *sql.Conn {
	t.Helper()
	db, err := sql.Open("mysql", fmt.Sprintf("demo:demo@tcp(127.0.0.1:%d)/demo", gatewayPort+d.shift))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// pointsmanctl runs the built tool with input and gives its output.
func (d *demo) pointsmanctl(t *testing.T, input []byte, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), shortWait)
	defer cancel()
	args = append([]string{"--server", fmt.Sprintf("127.0.0.1:%d", decisionPort+d.shift)}, args...)
	cmd := exec.CommandContext(ctx, "../bin/pointsmanctl", args...)
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("pointsmanctl %q: %v\n%s", args, err, out)
	}
	return out
}

// eventually tries until check gives no error, but not for ever.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	tooLong := time.After(shortWait)
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-tooLong:
			t.Fatalf("%s: not after %v: %v", what, shortWait, err)
		case <-poll.C:
		}
	}
}

// processesWith finds processes by a part of their command line, where the system shows it.
func processesWith(t *testing.T, part string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err == nil && bytes.Contains(raw, []byte(part)) {
			found = append(found, string(bytes.ReplaceAll(raw, []byte{0}, []byte{' '})))
		}
	}
	return found
}

func accepts(t *testing.T, port int) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), shortWait)
	defer cancel()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", address(port))
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// freeShift finds a shift whose ports are all free.
func freeShift(t *testing.T) int {
	t.Helper()
	for range 100 {
		shift := 2000 + rand.IntN(22_000)
		if !slices.ContainsFunc(demoPorts, func(port int) bool { return accepts(t, port+shift) }) {
			return shift
		}
	}
	t.Fatal("no free ports")
	return 0
}

// serverOf says which server answers a query for its id.
func serverOf(t *testing.T, query func(context.Context, string, ...any) *sql.Row, text string) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), shortWait)
	defer cancel()
	var id int
	if err := query(ctx, text).Scan(&id); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return id
}

const (
	readID  = "SELECT @@server_id"
	lockID  = "SELECT @@server_id FOR UPDATE"
	primary = 1
	replica = 2
)

func TestQuickStart(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and starts everything")
	}
	for _, backends := range []string{"mariadb", "memory"} {
		t.Run(backends, func(t *testing.T) {
			if _, err := exec.LookPath("mariadbd"); backends == "mariadb" && err != nil {
				t.Skip("mariadbd is not installed: needs Debian's mariadb-server")
			}
			dir := filepath.Join(t.TempDir(), "with space")
			shift := freeShift(t)

			d := startDemo(t, dir, shift, backends)
			d.await(t, "READY")
			c := d.connect(t)
			tryDemo(t, d, c)
			d.signal(t, os.Interrupt)
			d.end(t, 0)

			// The second run finds the first one's changes.
			d = startDemo(t, dir, shift, backends)
			d.await(t, "READY")
			c = d.connect(t)
			if got := serverOf(t, c.QueryRowContext, readID); got != primary {
				t.Errorf("%s on %d after the second start, want the published change to stay", readID, got)
			}
			var notes int
			if err := c.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM notes").Scan(&notes); err != nil {
				t.Error(err)
			}
			if want := map[string]int{"mariadb": 1}[backends]; notes != want {
				t.Errorf("%d notes after the second start, want %d", notes, want)
			}
			// A program that dies takes nothing else with it.
			killProcess(t, dir, "serve")
			d.await(t, "quickstart: decision has ended")
			if got := serverOf(t, c.QueryRowContext, readID); got != primary {
				t.Errorf("%s on %d without the decision server, want %d", readID, got, primary)
			}
			d.signal(t, syscall.SIGTERM)
			d.end(t, 0)
		})
	}
}

// killProcess kills the program that has both a word and a part of its command line.
func killProcess(t *testing.T, part, word string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil || !bytes.Contains(raw, []byte(part)) || !bytes.Contains(raw, []byte("\x00"+word+"\x00")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		if err == nil {
			err = syscall.Kill(pid, syscall.SIGKILL)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Skip("its processes can't be found: needs /proc")
}

// tryDemo does what the quick start suggests.
func tryDemo(t *testing.T, d *demo, c *sql.Conn) {
	t.Helper()
	if got := serverOf(t, c.QueryRowContext, readID); got != replica {
		t.Errorf("%s on %d, want %d", readID, got, replica)
	}
	if got := serverOf(t, c.QueryRowContext, lockID); got != primary {
		t.Errorf("%s on %d, want %d", lockID, got, primary)
	}
	if _, err := c.ExecContext(t.Context(), "INSERT INTO notes (text, written_by) VALUES ('hello', @@server_id)"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the note is on the replica", func() error {
		var by int
		err := c.QueryRowContext(t.Context(), "SELECT written_by FROM notes").Scan(&by)
		if err == nil && by != primary {
			t.Errorf("the note was written by %d, want %d", by, primary)
		}
		return err
	})
	tx, err := c.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := serverOf(t, tx.QueryRowContext, readID); got != primary {
		t.Errorf("%s in a transaction on %d, want %d", readID, got, primary)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}

	config := d.pointsmanctl(t, nil, "get")
	changed := bytes.ReplaceAll(config, []byte("destination_hostgroup: 20"), []byte("destination_hostgroup: 10"))
	if bytes.Equal(config, changed) {
		t.Fatalf("the configuration has no destination_hostgroup 20:\n%s", config)
	}
	d.pointsmanctl(t, changed, "publish", "-")
	eventually(t, "the connected session follows the changed rule", func() error {
		if got := serverOf(t, c.QueryRowContext, readID); got != primary {
			return fmt.Errorf("%s on %d", readID, got)
		}
		return nil
	})
}

func TestQuickStartStoppedEarly(t *testing.T) {
	if testing.Short() {
		t.Skip("it begins to build everything")
	}
	d := startDemo(t, t.TempDir(), freeShift(t), "memory")
	d.await(t, "Building")
	d.signal(t, syscall.SIGTERM)
	d.end(t, 128+int(syscall.SIGTERM))
}

func TestQuickStartRefusals(t *testing.T) {
	shift := freeShift(t)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address(decisionPort+shift))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct {
		name, variable, value string
		want                  []string
	}{
		{"taken port", "POINTSMAN_DEMO_PORT_SHIFT", strconv.Itoa(shift), []string{
			fmt.Sprintf("port %d (decision server)", decisionPort+shift),
			fmt.Sprintf("POINTSMAN_DEMO_PORT_SHIFT=%d make run", shift+1000),
		}},
		{"no number", "POINTSMAN_DEMO_PORT_SHIFT", "1k", []string{"POINTSMAN_DEMO_PORT_SHIFT", `"1k"`}},
		{"beyond all ports", "POINTSMAN_DEMO_PORT_SHIFT", "60000", []string{"POINTSMAN_DEMO_PORT_SHIFT", "65535"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), shortWait)
			defer cancel()
			cmd := exec.CommandContext(ctx, "quickstart/run.sh")
			cmd.Env = append(os.Environ(), "POINTSMAN_DEMO_DIR="+t.TempDir(), c.variable+"="+c.value)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 2 {
				t.Errorf("%v, want exit status 2", err)
			}
			for _, want := range c.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("it says %q, want %q in it", out, want)
				}
			}
		})
	}
}
