// Package selection draws one server of a hostgroup, as ProxySQL 2.7 does: of the servers that may be used now, each
// wins in proportion to its weight.
//
// Everything here is a pure function. The caller owns the servers' state, the clock and the seed; where a draw brings
// a shunned server back, [Recover] says so and the caller writes it down. One function decides for all callers, be it
// a hostgroup with its live state or a bare list of candidates: what a caller doesn't know stays at a value that
// passes.
//
// It must not open connections, count them, or know names of servers: a server is a place in a list. Go on with
// candidate.go (what is looked at), check.go (who may be drawn) and pick.go (the draw).
package selection
