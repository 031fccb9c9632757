package gateway

import (
	"context"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pointsman/pointsman/deploy/bench"
)

// printed is what sysbench prints, shortened.
const printed = `
Threads started!

Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
       0.040 |*************************************    30
       0.050 |**************************************** 60
       0.060 |                                         10
 
SQL statistics:
    queries performed:
        read:                            90
        write:                           0
        other:                           10
        total:                           100
    transactions:                        50  (17273.52 per sec.)
    queries:                             100 (34547.04 per sec.)
    ignored errors:                      0      (0.00 per sec.)

General statistics:
    total time:                          2.5000s
    total number of events:              50
`

func TestParseSysbench(t *testing.T) {
	got, err := parseSysbench(printed)
	if err != nil {
		t.Fatal(err)
	}
	// 20 of the 60 events of the second bucket make the half.
	if got.queries != 100 || got.seconds != 2.5 || math.Abs(got.median-(40+10./3)) > 0.001 {
		t.Errorf("got %+v", got)
	}
	for _, tt := range []struct {
		old, new string
		want     error
	}{
		{"queries:                             100", "queries:                             0", errNoFigures},
		{"2.5000s", "0.0000s", errNoFigures},
		{"ignored errors:                      0", "ignored errors:                      3", errErrors},
	} {
		if _, err := parseSysbench(strings.Replace(printed, tt.old, tt.new, 1)); !errors.Is(err, tt.want) {
			t.Errorf("with %q: %v, want %v", tt.new, err, tt.want)
		}
	}
	for _, broken := range []string{"0.040 | x 3", "ms | 3", "queries: many"} {
		if _, err := parseSysbench(broken); err == nil || errors.Is(err, errNoFigures) {
			t.Errorf("%q: %v", broken, err)
		}
	}
}

func TestParseProc(t *testing.T) {
	if got, err := parseStat("12 (a) b) S 1 12 12 0 -1 4194560 1 2 3 4 150 75 0 0 20 0"); err != nil || got != 2250*time.Millisecond {
		t.Errorf("CPU time %v, %v", got, err)
	}
	for _, text := range []string{"", "12 (a) S 1 2", "12 (a) S 1 12 12 0 -1 4194560 1 2 3 4 x 75 0"} {
		if _, err := parseStat(text); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
	if got, err := parseRSS("Name:\tx\nVmRSS:\t   66560 kB\nVmSize: 1 kB\n"); err != nil || got != 65 {
		t.Errorf("memory %v, %v", got, err)
	}
	for _, text := range []string{"", "VmRSS: many kB\n"} {
		if _, err := parseRSS(text); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

func TestParseMetric(t *testing.T) {
	const text = "# HELP a b\na_total 3\na{x=\"y\"} 1\na 1.5e+06\n"
	if got, err := parseMetric(text, "a"); err != nil || got != 1.5e6 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := parseMetric(text, "b"); !errors.Is(err, errNoMetric) {
		t.Errorf("absent: %v", err)
	}
}

func TestOwnProgram(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc to read CPU times from")
	}
	p, err := startProgram([]string{"POINTSMAN_X=1", "PATH=/bin"}, "sh", "-c", "env; echo ready; exec sleep 60")
	if err != nil {
		t.Fatal(err)
	}
	defer p.end()
	err = p.await(t.Context(), func(context.Context) error {
		if !strings.Contains(p.log.String(), "ready") {
			return errors.New("not yet")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(p.log.String(), "POINTSMAN_X") {
		t.Errorf("it has settings of ours:\n%s", p.log.String())
	}
	if mib, err := p.rss(); err != nil || mib <= 0 || mib > 100 {
		t.Errorf("memory %v MiB, %v", mib, err)
	}
	if _, err := p.cpu(); err != nil {
		t.Error(err)
	}
	p.end()
	if p.cmd.ProcessState == nil {
		t.Error("it has not ended")
	}
	if err := p.await(t.Context(), func(context.Context) error { return errors.New("never") }); err == nil || !strings.Contains(err.Error(), "ready") {
		t.Errorf("an ended program: %v, want its log", err)
	}
}

func TestLatencyRatio(t *testing.T) {
	c := comparison{
		direct:  measured{median: bench.Series{40, 42, 41}},
		haproxy: measured{median: bench.Series{61, 60, 90}},
		gateway: measured{median: bench.Series{71, 30, 99}},
	}
	var out strings.Builder
	report := bench.NewReport(&out, budgets)
	c.addLatency(report, "added_latency_vs_haproxy")
	if row := report.Rows()[0]; row.Value != 30 || row.Ratio != 1.5 || !row.OK {
		t.Errorf("row %+v", row)
	}
}
