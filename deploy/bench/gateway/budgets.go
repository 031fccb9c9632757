package gateway

import "github.com/pointsman/pointsman/deploy/bench"

// budgets are the rows of `make bench-gateway`, in the order they are printed and written.
var budgets = []bench.Budget{
	{Name: "qps_vs_haproxy", Unit: "queries/s", Op: bench.AtLeast, Limit: 0.88, Baseline: "HAProxy: text point select, 8 threads"},
	{Name: "cpu_per_query_vs_haproxy", Unit: "us/query", Op: bench.AtMost, Limit: 1.20, Baseline: "HAProxy: text point select, 8 threads"},
	{Name: "prepared_qps_vs_haproxy", Unit: "queries/s", Op: bench.AtLeast, Limit: 0.88, Baseline: "HAProxy: prepared point select, 8 threads"},
	{Name: "read_only_cpu_vs_haproxy", Unit: "us/query", Op: bench.AtMost, Limit: 1.30, Baseline: "HAProxy: oltp_read_only, 8 threads"},
	{Name: "rows_10000_cpu_vs_haproxy", Unit: "us/query", Op: bench.AtMost, Limit: 1.10, Baseline: "HAProxy: SELECT of 10,000 rows, 2 threads"},
	{Name: "added_latency_vs_haproxy", Unit: "us", Op: bench.AtMost, Limit: 1.7, Baseline: "what HAProxy adds: median of text point selects, 1 thread"},
	{Name: "connect_rate_vs_haproxy", Unit: "sessions/s", Op: bench.AtLeast, Limit: 1.0, Baseline: "HAProxy: connect, select, quit, 8 threads"},
	{Name: "rss_1000_sessions_idle", Unit: "MiB", Op: bench.AtMost, Limit: 64, Baseline: "none: MiB of the gateway's resident memory"},
	{Name: "allocs_per_statement", Unit: "objects", Op: bench.AtMost, Limit: 2, Baseline: "none: objects allocated for a statement whose answer is cached"},
}
