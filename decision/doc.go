// Package decision is the routing brain: [Compile] turns a configuration into an immutable [Generation], whose Route
// says where a MySQL statement goes, whose Explain tells how that comes about, and whose Select draws a server of a
// hostgroup. Where a routing guideline is in force ([Guide]) it may send a statement to a pool of its own tiers instead
// ([Pools]), from which SelectPool draws.
//
// Everything here is a pure function of its arguments: no I/O, no clock, no logger, no randomness, no API messages.
// Time and seeds come in with the question, so a decision can be replayed exactly. Any number of goroutines may use a
// Generation, each with its own [Answer].
//
// Go on with config.go (what is compiled), compile.go (what is refused and why), route.go (one statement's way),
// explain.go (the same, told step by step), package rules (the walk itself), and for guidelines route_guideline.go, pools.go
// and package guideline (the language). The problems that Compile reports are listed in docs/problems.md.
package decision
