// Package gateway measures the MySQL gateway against HAProxy on the same machine in the same run: `make bench-gateway`.
//
// It starts a MariaDB, an HAProxy in TCP mode, a decision server and a gateway of its own, loads each way to the server
// with sysbench in turns, and ends all of them. Start at [Main]; docs/benchmarks.md explains the rows. Linux only, as it
// reads the CPU time of processes from /proc.
package gateway
