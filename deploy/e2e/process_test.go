package e2e

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// logTail is how many bytes of a process's log are printed when its test fails.
const logTail = 16 << 10

// process is a running program.
type process struct {
	name  string
	cmd   *exec.Cmd
	log   *logBuffer
	ended chan struct{} // Closed when it has ended.
}

// start starts one of the built programs. It is ended with the test, in good order if nothing has ended it before.
func start(tb testing.TB, name string, args ...string) *process {
	tb.Helper()
	dependOnSources(tb)
	p := &process{name: name, log: &logBuffer{}, ended: make(chan struct{})}
	p.cmd = exec.Command(filepath.Join(bin, name), args...) //nolint:noctx // Built above; the cleanup ends it.
	p.cmd.Env = environment()
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.WaitDelay = patience // A child of a killed process may hold the log open.
	if err := p.cmd.Start(); err != nil {
		tb.Fatalf("start %s: %v", name, err)
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // ProcessState tells.
	}()
	tb.Cleanup(func() {
		if p.running() {
			p.stop(tb)
		}
		if strings.Contains(p.log.String(), "DATA RACE") {
			tb.Errorf("%s has a data race", name)
		}
		if tb.Failed() {
			tb.Logf("%s %s (%v) logged:\n%s", name, strings.Join(args, " "), p.cmd.ProcessState, p.log.tail())
		}
	})
	return p
}

// environment is that of this process without settings of the programs under test.
func environment() []string {
	var out []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "POINTSMAN_") {
			out = append(out, entry)
		}
	}
	return out
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// kill ends the process as kill -9 does.
func (p *process) kill(tb testing.TB) {
	tb.Helper()
	p.signal(tb, syscall.SIGKILL)
	p.wait(tb)
}

// stop ends the process in good order and fails the test if it does not come to that.
func (p *process) stop(tb testing.TB) {
	tb.Helper()
	p.signal(tb, syscall.SIGTERM)
	if code := p.wait(tb); code != 0 {
		tb.Errorf("%s after SIGTERM: exit status %d, want 0", p.name, code)
	}
}

func (p *process) signal(tb testing.TB, sig os.Signal) {
	tb.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		tb.Errorf("%v to %s: %v", sig, p.name, err)
	}
}

// wait waits for the end and gives the exit status, -1 after a signal.
func (p *process) wait(tb testing.TB) int {
	tb.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		tb.Errorf("%s does not end within %v", p.name, patience)
		<-p.ended
	}
	return p.cmd.ProcessState.ExitCode()
}

// children gives the processes that another one has started and that live.
func children(tb testing.TB, parent int) []int {
	tb.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		tb.Skip("no /proc to find processes in")
	}
	var pids []int
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // It has ended meanwhile.
		}
		// PID (NAME) STATE PARENT ...; the name may hold anything.
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(fields) < 2 || fields[0] == "Z" || fields[1] != strconv.Itoa(parent) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			tb.Fatalf("%s: %v", path, err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// alive says whether there is such a process.
func alive(pid int) bool {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && !bytes.Contains(text, []byte(") Z "))
}

// run runs a command to its end. Further programs than the built ones are found on PATH.
func run(tb testing.TB, stdin []byte, name string, args ...string) (stdout, stderr string, code int) {
	tb.Helper()
	if built := filepath.Join(bin, name); fileExists(built) {
		dependOnSources(tb)
		name = built
	}
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = environment()
	cmd.Stdin = bytes.NewReader(stdin)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || ctx.Err() != nil) {
		tb.Fatalf("%v: %v\n%s", cmd, err, errOut.String())
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// logBuffer keeps what a process writes.
type logBuffer struct {
	mu   sync.Mutex
	text []byte
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	return len(p), nil
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}

// tail gives the end of the log.
func (b *logBuffer) tail() string {
	text := b.String()
	if cut := len(text) - logTail; cut > 0 {
		return "... " + text[cut:]
	}
	return text
}

var givenAddresses sync.Map

// freeAddress finds a loopback port that is free now and was not given before.
func freeAddress(tb testing.TB) string {
	tb.Helper()
	for {
		l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			tb.Fatalf("find a free port: %v", err)
		}
		address := l.Addr().String()
		if err := l.Close(); err != nil {
			tb.Fatal(err)
		}
		if _, given := givenAddresses.LoadOrStore(address, true); !given {
			return address
		}
	}
}
