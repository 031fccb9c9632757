// Package rules holds ProxySQL's query rules in compiled form and walks them: predicates, flagIN/flagOUT chains,
// weighted flags, rewrites, and the annotations of a statement's first comment.
//
// It checks nothing: package decision validates a configuration and builds a [Set] from it. It has no clock and
// no randomness of its own; both come in with the question. A Set never changes, so any number of goroutines may
// walk it, each with its own [Walk]. Go on with walk.go.
package rules
