package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	gomysql "github.com/go-mysql-org/go-mysql/mysql"
)

// measured starts a gateway that one test has for itself.
func (r *reports) measured(t *testing.T) *gateway {
	t.Helper()
	if !fileExists("/proc/self/clear_refs") {
		t.Skip("no /proc to read a process's memory in")
	}
	g := newGateway(t, r.server, r.flags...)
	dialWire(t, g.address, appUser).want("SELECT @@server_id", "2")
	return g
}

// grows checks that a process needs at most so many MiB more for something, at any moment.
func (g *gateway) grows(t *testing.T, most int, something func()) {
	t.Helper()
	if raceDetector {
		most *= 3 // The detector keeps its own books.
	}
	if err := os.WriteFile(g.proc("clear_refs"), []byte("5"), 0); err != nil { // Resets VmHWM.
		t.Fatal(err)
	}
	before := g.memory(t, "VmRSS")
	something()
	grown := g.memory(t, "VmHWM") - before
	t.Logf("the gateway grew by at most %d MiB, from %d", grown, before)
	if grown > most {
		t.Errorf("the gateway grew by %d MiB, want at most %d", grown, most)
	}
}

func (g *gateway) proc(name string) string {
	return filepath.Join("/proc", strconv.Itoa(g.pid()), name)
}

// memory reads a line of /proc/PID/status in MiB.
func (g *gateway) memory(t *testing.T, name string) int {
	t.Helper()
	return g.procNumber(t, "status", name) >> 10
}

// procNumber reads the number of a line "name: number".
func (g *gateway) procNumber(t *testing.T, file, name string) int {
	t.Helper()
	text, err := os.ReadFile(g.proc(file))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("%s has no line %s", g.proc(file), name)
	return 0
}

// tiproxy #1148: 16 clients send 20 MB each, and wait for each other just before the end.
func (r *reports) Test05(t *testing.T) {
	const clients, size = 16, 20_000_000
	text := fmt.Appendf(nil, "SELECT LENGTH('%s')", bytes.Repeat([]byte{'x'}, size))
	g := r.measured(t)
	g.grows(t, 64, func() {
		var sending, ended sync.WaitGroup
		sending.Add(clients)
		for range clients {
			w := dialWire(t, g.address, appUser)
			w.want("SELECT @@server_id", "2")
			ended.Go(func() {
				first := append(header(maxFragment, 0), gomysql.COM_QUERY)
				rest := text[maxFragment-1:]
				second := append(header(len(rest), 1), rest...)
				almost := len(second) - 1
				err := w.write(first)
				for _, part := range [][]byte{text[:maxFragment-1], second[:almost]} {
					if err == nil {
						err = w.write(part)
					}
				}
				sending.Done()
				sending.Wait()
				if err == nil {
					err = w.write(second[almost:])
				}
				w.sequence = 2
				res, readErr := w.tryResult()
				if got := res.value(); err != nil || readErr != nil || got != strconv.Itoa(size) {
					t.Errorf("%s (%v, %v), want %d", got, err, readErr, size)
				}
			})
		}
		ended.Wait()
	})
}

// proxysql #1232: a client that reads slowly what a server sends fast.
func (r *reports) Test06(t *testing.T) {
	const rows, size, slow = 200, 1_000_000, 50
	g := r.measured(t)
	g.grows(t, 32, func() {
		w := dialWire(t, g.address, appUser)
		w.query(fmt.Sprintf("SELECT REPEAT('x', %d) FROM seq_1_to_%d", size, rows))
		pace := time.NewTicker(10 * time.Millisecond)
		defer pace.Stop()
		for range 3 { // Number of columns, column, end of columns.
			if _, err := w.read(); err != nil {
				t.Fatal(err)
			}
		}
		for i := range rows {
			if i < slow {
				<-pace.C
			}
			if row, err := w.read(); err != nil || len(row) != size+4 {
				t.Fatalf("row %d: %d bytes, %v", i, len(row), err)
			}
		}
		if end, err := w.read(); err != nil || end[0] != gomysql.EOF_HEADER {
			t.Errorf("% x, %v, want the end of the rows", end, err)
		}
	})
}

// tiproxy #381, matrixone #24077: what a row costs. A proxy that takes rows one by one reads or writes at least once a row.
func (r *reports) Test40(t *testing.T) {
	g := r.measured(t)
	if !fileExists(g.proc("io")) {
		t.Skip("no /proc/PID/io to count system calls in")
	}
	w := dialWire(t, g.address, appUser)
	calls := func(rows int) int {
		before := g.procNumber(t, "io", "syscw") + g.procNumber(t, "io", "syscr")
		if res := w.run(fmt.Sprintf("SELECT seq, REPEAT('x', 180) FROM seq_1_to_%d", rows)); len(res.rows) != rows {
			t.Fatalf("%d rows: %v", rows, res)
		}
		return g.procNumber(t, "io", "syscw") + g.procNumber(t, "io", "syscr") - before
	}
	calls(10)
	few, many := calls(10), calls(10_000)
	t.Logf("system calls: %d for 10 rows, %d for 10,000", few, many)
	if many > 2000 {
		t.Errorf("%d system calls for 10,000 rows, %d for 10", many, few)
	}
}
