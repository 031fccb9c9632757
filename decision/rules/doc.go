// Package rules holds ProxySQL's query rules in compiled form and walks them: predicates, flagIN/flagOUT chains,
// weighted flags, rewrites, and the annotations of a statement's first comment.
//
// It checks nothing: package decision validates a configuration and builds a [Set] from it. It has no clock and
// no randomness of its own; both come in with the question. A Set never changes to its users, so any number of goroutines
// may walk it, each with its own [Walk].
//
// There are two evaluators that must always agree. WalkPlain (plain.go) tests one rule after the other and is the
// reference; [Set.Walk] (course.go) goes straight to the rules that fit, so that 10,000 rules cost what 10 cost:
//
//   - All expressions on the digest text are one automaton, those on the text another. Each searches its text once, and
//     only when a walk comes to a rule that depends on it (expression.go). Expressions that no automaton takes, or that
//     have no outcome on a text that is too much for it, are matched by themselves where the walk meets them, each within
//     its share of the walk's steps. Walk.TooComplex tells that one was left without an outcome.
//   - Username, schemaname, addresses and port are the same for all statements of a session. [Set.Resolve] looks them up
//     once: a [Session] has the lists of the rules that it fits (profile.go, address_index.go, session.go).
//   - Rules with a digest or a positive expression are found by it (index.go): a few are tested one by one, many are
//     looked up by what the session fits.
//   - What is left are ascending lists of places, one place a rule. The walk takes the lowest place from where it is, and
//     starts over in each list when the flag changes (places.go).
//
// Go on with walk.go.
package rules
