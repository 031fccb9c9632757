// Command bench-core measures the decision core against its budgets; docs/benchmarks.md explains the rows.
package main

import (
	"os"

	"github.com/pointsman/pointsman/deploy/bench/core"
)

func main() { os.Exit(core.Main(os.Args[1:], os.Stdout, os.Stderr)) }
