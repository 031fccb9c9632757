// Package core measures the decision core against its budgets: `make bench-core`.
//
// Each file is one group of rows. It calls the exported functions that servers and gateways call, checks their answers,
// and takes its baseline in the same turns. Rules, statements and sessions are made from fixed seeds. Start at [Main];
// docs/benchmarks.md explains the rows.
package core
