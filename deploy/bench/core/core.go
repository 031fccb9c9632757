package core

import (
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pointsman/pointsman/deploy/bench"
)

// suite is one run.
type suite struct {
	meter  bench.Meter
	report *bench.Report
}

// group is some rows that are measured together.
type group struct {
	name    string
	measure func(*suite) error
}

var groups = []group{
	{"pattern", (*suite).pattern},
	{"exact", (*suite).exact},
	{"fastroute", (*suite).fastroute},
	{"select", (*suite).selection},
	{"guideline", (*suite).guideline},
	{"digest", (*suite).digest},
	{"route", (*suite).routeUncached},
	{"cached", (*suite).routeCached},
	{"rpc", (*suite).rpc},
	{"compile", (*suite).compileLarge},
}

// Main measures everything, or the groups that args name, and returns the exit status: 0 when every budget holds, 1
// when one is missed or was not measured, 2 when it could not be measured.
func Main(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("bench-core", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("out", filepath.Join("bench", "core.json"), "`file` for the rows")
	flags.Usage = func() {
		var names []string
		for _, g := range groups {
			names = append(names, g.name)
		}
		fmt.Fprintf(stderr, "Usage: bench-core [-out FILE] [GROUP...]\nGroups: %s\n", strings.Join(names, ", "))
	}
	if err := flags.Parse(args); err != nil {
		return 2
	}
	wanted := flags.Args()
	for _, name := range wanted {
		if !slices.ContainsFunc(groups, func(g group) bool { return g.name == name }) {
			fmt.Fprintf(stderr, "bench-core: there is no group %q\n", name)
			flags.Usage()
			return 2
		}
	}
	fmt.Fprintf(stdout, "%s %s/%s, GOMAXPROCS %d; CPU time, median of %d\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), bench.Standard.Rounds)
	s := &suite{meter: bench.Standard, report: bench.NewReport(stdout, budgets)}
	for _, g := range groups {
		if len(wanted) > 0 && !slices.Contains(wanted, g.name) {
			continue
		}
		if err := g.measure(s); err != nil {
			fmt.Fprintf(stderr, "bench-core: %s: %v\n", g.name, err)
			return 2
		}
		runtime.GC()
	}
	ok, err := s.report.Finish(*out)
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "bench-core: %v\n", err)
		return 2
	case !ok:
		return 1
	}
	return 0
}

// allocs counts the allocations of an operation; less than one in a thousand calls is none of its own.
func (s *suite) allocs(op bench.Op) float64 {
	const calls = 1000
	op.Run()
	rounds := max(calls/op.Per, 2)
	total := bench.Allocations(func() {
		for range rounds {
			op.Run()
		}
	})
	each := float64(total) / float64(rounds*op.Per)
	if each < 0.001 {
		return 0
	}
	return each
}
