// Package selection draws one server of a hostgroup, as ProxySQL 2.7 does: of the servers that may be used now, each
// wins in proportion to its weight.
//
// Everything here is a pure function. The caller owns the servers' state, the clock and the seed; where a draw brings
// a shunned server back, [Recover] says so and the caller writes it down. What a caller doesn't know stays at a value
// that passes.
//
// All draws are made from a [List], be it that of a hostgroup, prepared once and drawn from with live connections, or one of
// candidates that came with a question. A list of up to 3 usable servers is looked at as a whole. From a longer one a
// server is drawn at once and then looked at, which is faster from 4 servers on; if it may not be used just now, another
// one is drawn. After a few of these all are looked at. The chances are the same in any case. Draws that need more than that (servers that may come back, a demand on the lag of an Aurora cluster,
// latency awareness) go the long way of [Pick], which says what every draw must come to.
//
// The tiers of a routing guideline are drawn from in their order instead, by a [Ring]: who may be drawn is the same.
//
// It must not open connections, count them, or know names of servers: a server is a place in a list. Go on with
// candidate.go (what is looked at), check.go (who may be drawn), pick.go (the long way), list.go (the short ones) and ring.go
// (in order).
package selection
