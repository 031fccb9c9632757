// Package metrics holds what a decision server counts and measures, in a registry of its own.
//
// Observing a decision allocates nothing. It must not know where the numbers are shown; server/admin shows them.
package metrics
