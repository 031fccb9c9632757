package core

import "github.com/pointsman/pointsman/deploy/bench"

// budgets are the rows of `make bench-core`, in the order they are printed and written.
var budgets = []bench.Budget{
	{Name: "pattern_warm_1000", Unit: "ns/text", Op: bench.AtMost, Limit: 1.25, Baseline: "S: serially dependent table scan of the same text"},
	{Name: "pattern_flat", Unit: "ns/text", Op: bench.AtMost, Limit: 1.25, Baseline: "the same search with 10 rules in place of 10,000"},
	{Name: "pattern_vs_linear_100", Unit: "ns/text", Op: bench.AtLeast, Limit: 200, Baseline: "R: the same rules one by one with Go's regexp"},
	{Name: "pattern_vs_linear_1000", Unit: "ns/text", Op: bench.AtLeast, Limit: 2500, Baseline: "R: the same rules one by one with Go's regexp"},
	{Name: "pattern_fresh_first", Unit: "ns/text", Op: bench.AtMost, Limit: 10, Baseline: "the search of pattern_warm_1000"},
	{Name: "pattern_fresh_later", Unit: "ns/text", Op: bench.AtMost, Limit: 3, Baseline: "the search of pattern_warm_1000"},
	{Name: "pattern_hostile", Unit: "ns/text", Op: bench.AtMost, Limit: 2, Baseline: "own NFA: FindSlow over the same texts"},
	{Name: "pattern_hostile_vs_linear", Unit: "ns/text", Op: bench.AtMost, Limit: 0.2, Baseline: "R: the same 1,000 rules one by one with Go's regexp"},
	{Name: "pattern_build_10000", Unit: "ms", Op: bench.AtMost, Limit: 4, Baseline: "compiling the same rules with Go's regexp"},
	{Name: "pattern_memory_10000", Unit: "MB", Op: bench.AtMost, Limit: 0.5, Baseline: "heap of the same rules compiled with Go's regexp"},
	{Name: "exact_10000", Unit: "ns/walk", Op: bench.AtMost, Limit: 10, Baseline: "M: one lookup in a Go map[uint64]", NoAllocs: true},
	{Name: "fastroute_1e5_interned", Unit: "ns/lookup", Op: bench.AtMost, Limit: 1.5, Baseline: "M: one lookup in a Go map[uint64]", NoAllocs: true},
	{Name: "fastroute_1e5_strings", Unit: "ns/lookup", Op: bench.AtMost, Limit: 6, Baseline: "M: one lookup in a Go map[uint64]", NoAllocs: true},
	{Name: "fastroute_bytes_1e6", Unit: "B/entry", Op: bench.AtMost, Limit: 48, Baseline: "none: bytes of heap an entry"},
	{Name: "select_3", Unit: "ns/draw", Op: bench.AtMost, Limit: 2.5, Baseline: "M: one lookup in a Go map[uint64]", NoAllocs: true},
	{Name: "select_20", Unit: "ns/draw", Op: bench.AtMost, Limit: 6, Baseline: "M: one lookup in a Go map[uint64]", NoAllocs: true},
	{Name: "select_200", Unit: "ns/draw", Op: bench.AtMost, Limit: 3, Baseline: "M: one lookup in a Go map[uint64]", NoAllocs: true},
	{Name: "guideline_10_routes", Unit: "ns/session", Op: bench.AtMost, Limit: 9, Baseline: "M: one lookup in a Go map[uint64]", NoAllocs: true},
	{Name: "guideline_vs_walk", Unit: "ns/session", Op: bench.AtMost, Limit: 0.2, Baseline: "the same rules walked as trees: Expression.Eval", NoAllocs: true},
	{Name: "digest", Unit: "ns/text", Op: bench.AtMost, Limit: 5, Baseline: "B: byte sum of the same text", NoAllocs: true},
	{Name: "route_uncached", Unit: "ns/route", Op: bench.AtMost, Limit: 3, Baseline: "P: digest of the same statements", NoAllocs: true},
	{Name: "route_cached_digest", Unit: "ns/route", Op: bench.AtMost, Limit: 1.4, Baseline: "P: digest of the same statements", NoAllocs: true},
	{Name: "route_cached_hash", Unit: "ns/route", Op: bench.AtMost, Limit: 7, Baseline: "M: one lookup in a Go map[uint64]", NoAllocs: true},
	{Name: "rpc_stream_vs_unary", Unit: "ns/call", Op: bench.AtMost, Limit: 0.65, Baseline: "RouteStatement, one caller; CPU of both ends"},
	{Name: "rpc_pipelined_vs_unary", Unit: "ns/call", Op: bench.AtMost, Limit: 0.3, Baseline: "RouteStatement, one caller; CPU of both ends"},
}
