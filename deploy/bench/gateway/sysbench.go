package gateway

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tableSize is the rows of the table; also what the load rows selects each time.
const tableSize = 10_000

// load is something that sysbench does.
type load struct {
	name    string
	threads int
	script  string   // one of sysbench's own, or Lua text
	flags   []string // of sysbench's own scripts
}

var (
	//go:embed rows.lua
	rowsLua string
	//go:embed connect.lua
	connectLua string
)

var (
	pointText     = load{name: "point select, text", threads: 8, script: "oltp_point_select", flags: tableFlags("disable")}
	pointPrepared = load{name: "point select, prepared", threads: 8, script: "oltp_point_select", flags: tableFlags("auto")}
	pointOne      = load{name: "point select, 1 thread", threads: 1, script: "oltp_point_select", flags: tableFlags("disable")}
	readOnly      = load{name: "oltp_read_only", threads: 8, script: "oltp_read_only", flags: tableFlags("disable")}
	rows          = load{name: "10,000 rows", threads: 2, script: rowsLua}
	connects      = load{name: "connect, select, quit", threads: 8, script: connectLua}
)

func tableFlags(prepare string) []string {
	return []string{"--tables=1", "--table-size=" + strconv.Itoa(tableSize), "--db-ps-mode=" + prepare}
}

// outcome is what sysbench counted.
type outcome struct {
	queries float64
	seconds float64
	median  float64 // of an event's time, us
}

// sysbench runs a script's command against a port.
func (s *stand) sysbench(ctx context.Context, port int, l load, command string, flags ...string) (string, error) {
	script := l.script
	if len(l.flags) == 0 {
		script = filepath.Join(s.dir, "script.lua")
		if err := os.WriteFile(script, []byte(l.script), 0o600); err != nil {
			return "", fmt.Errorf("write sysbench's script: %w", err)
		}
	}
	args := []string{
		script, "--db-driver=mysql", "--mysql-host=127.0.0.1", "--mysql-port=" + strconv.Itoa(port), "--mysql-user=" + user,
		"--mysql-password=" + password, "--mysql-db=" + schema, "--threads=" + strconv.Itoa(l.threads),
	}
	args = append(append(append(args, l.flags...), flags...), command)
	cmd := exec.CommandContext(ctx, "sysbench", args...) //nolint:gosec // fixed arguments
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("sysbench, %s on port %d: %w\n%s", l.name, port, err, out.Bytes())
	}
	return out.String(), nil
}

// prepare fills the table.
func (s *stand) prepare(ctx context.Context) error {
	_, err := s.sysbench(ctx, s.database, load{name: "prepare", threads: 1, script: "oltp_read_only", flags: tableFlags("disable")}, "prepare")
	return err
}

// run runs a load for a time.
func (s *stand) run(ctx context.Context, port int, l load, d time.Duration) (outcome, error) {
	text, err := s.sysbench(ctx, port, l, "run", "--time="+strconv.Itoa(int(d.Seconds())), "--histogram=on")
	if err != nil {
		return outcome{}, err
	}
	out, err := parseSysbench(text)
	if err != nil {
		return outcome{}, fmt.Errorf("%s on port %d: %w; sysbench printed:\n%s", l.name, port, err, text)
	}
	return out, nil
}

var (
	errNoFigures = errors.New("sysbench printed no figures")
	errErrors    = errors.New("statements failed")
)

// parseSysbench reads what sysbench prints at the end.
func parseSysbench(text string) (outcome, error) {
	var out outcome
	var ignored float64
	var h histogram
	for line := range strings.Lines(text) {
		if at, count, ok := strings.Cut(line, "|"); ok {
			if err := h.add(at, count); err != nil {
				return outcome{}, err
			}
			continue
		}
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		into := map[string]*float64{"queries": &out.queries, "total time": &out.seconds, "ignored errors": &ignored}[name]
		fields := strings.Fields(value)
		if into == nil || len(fields) == 0 {
			continue
		}
		number, err := strconv.ParseFloat(strings.TrimSuffix(fields[0], "s"), 64)
		if err != nil {
			return outcome{}, fmt.Errorf("%q: %w", line, err)
		}
		*into = number
	}
	switch {
	case ignored > 0:
		return outcome{}, fmt.Errorf("%.0f %w", ignored, errErrors)
	case out.queries == 0 || out.seconds == 0 || h.total == 0:
		return outcome{}, errNoFigures
	}
	out.median = 1000 * h.median()
	return out, nil
}

// histogram is sysbench's: counts of events that took no more than a time, in ms.
type histogram struct {
	values, counts []float64
	total          float64
}

// add takes a line apart at its |: the time, and stars that end in the count.
func (h *histogram) add(at, count string) error {
	value, err := strconv.ParseFloat(strings.TrimSpace(at), 64)
	if err != nil {
		return fmt.Errorf("histogram: %w", err)
	}
	n, err := strconv.ParseFloat(strings.Trim(count, "* \n"), 64)
	if err != nil {
		return fmt.Errorf("histogram: %w", err)
	}
	h.values, h.counts, h.total = append(h.values, value), append(h.counts, n), h.total+n
	return nil
}

// median goes by the straight line through a bucket, which is finer than sysbench's own percentiles.
func (h *histogram) median() float64 {
	left, before := h.total/2, h.values[0]
	for i, n := range h.counts {
		if left <= n {
			return before + (h.values[i]-before)*left/n
		}
		left, before = left-n, h.values[i]
	}
	return before
}
