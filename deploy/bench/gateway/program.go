package gateway

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	startTime = 60 * time.Second  // a program's time to become ready
	endTime   = 20 * time.Second  // and to end in order
	tick      = time.Second / 100 // of the CPU times in /proc, the same on every Linux
)

// program is a running one that the benchmark has started.
type program struct {
	name  string
	cmd   *exec.Cmd
	log   tail
	ended chan struct{} // closed when it has ended
}

// startProgram starts a program without any settings of ours in its environment.
func startProgram(environ []string, name string, args ...string) (*program, error) {
	p := &program{name: name, ended: make(chan struct{})}
	p.cmd = exec.Command(name, args...) //nolint:gosec,noctx // the benchmark's own programs; end ends them in order
	p.cmd.Env = slices.DeleteFunc(slices.Clone(environ), func(entry string) bool { return strings.HasPrefix(entry, "POINTSMAN_") })
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	p.cmd.WaitDelay = endTime // a child may hold the log open
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // ProcessState tells
	}()
	return p, nil
}

// end ends the program in order, by force if that takes too long.
func (p *program) end() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.ended:
	case <-time.After(endTime):
		_ = p.cmd.Process.Kill() // the same
		<-p.ended
	}
}

// await polls until ready is true.
func (p *program) await(ctx context.Context, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-poll.C:
		case <-p.ended:
			return fmt.Errorf("%s ended (%v): it logged:\n%s", p.name, p.cmd.ProcessState, p.log.String())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w: it logged:\n%s", p.name, err, p.log.String())
		}
	}
}

// cpu gives the CPU time of the program so far, user and system, in steps of a [tick].
func (p *program) cpu() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("CPU time of %s: %w", p.name, err)
	}
	return parseStat(string(text))
}

// parseStat reads PID (NAME) STATE and so on; the name may hold anything.
func parseStat(text string) (time.Duration, error) {
	const utime, stime = 11, 12 // after the name
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) <= stime {
		return 0, fmt.Errorf("/proc/PID/stat %q: too few fields", text)
	}
	user, err := strconv.ParseInt(fields[utime], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("/proc/PID/stat %q: %w", text, err)
	}
	system, err := strconv.ParseInt(fields[stime], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("/proc/PID/stat %q: %w", text, err)
	}
	return time.Duration(user+system) * tick, nil
}

// rss gives the program's resident memory in MiB.
func (p *program) rss() (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("memory of %s: %w", p.name, err)
	}
	return parseRSS(string(text))
}

func parseRSS(text string) (float64, error) {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, "VmRSS:")
		if !ok {
			continue
		}
		var kib float64
		if _, err := fmt.Sscanf(rest, "%f kB", &kib); err != nil {
			return 0, fmt.Errorf("/proc/PID/status %q: %w", line, err)
		}
		return kib / 1024, nil
	}
	return 0, fmt.Errorf("/proc/PID/status has no VmRSS:\n%s", text)
}

// tail keeps the end of what a program writes.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailSize = 8 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if extra := len(t.text) - tailSize; extra > 0 {
		t.text = append([]byte(nil), t.text[extra:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.text))
}

// freePorts finds loopback ports that nobody listens on.
func freePorts(ctx context.Context, n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer l.Close() //nolint:errcheck // it was never used; all are held until all are found
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
