// Package casefile reads and runs case files: statements of sessions under a configuration, and the answers that are
// wanted. docs/testing.md describes the form.
//
// It must not decide anything itself: decision.Compile and Generation.Route do. Start with [Parse] and [Runner.Run].
package casefile
