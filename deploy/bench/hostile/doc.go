// Package hostile measures what one hostile caller does to the others: `make bench-hostile`.
//
// It starts a real decision server, publishes 10,000 expressions that are expensive to match, and compares the latency
// of ordinary callers with and without a caller that sends statements made for these expressions. Start at
// [Main]; docs/benchmarks.md explains the rows.
package hostile
