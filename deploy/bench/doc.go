// Package bench measures by CPU time and compares with baselines of the same run, so that its figures hold on machines
// that are busy with other things, and on others than the one where the budgets were set.
//
// Package core, below it, has the rows of `make bench-core`; package hostile has the program of `make bench-hostile`,
// package gateway that of `make bench-gateway`, which goes by the clock where it must. docs/benchmarks.md says what they mean. Nothing of this is part of a server or client. Start at [Meter.Measure] and
// [Report].
package bench
