// Package fastroute is the table mysql_query_rules_fast_routing: it leads from (username, schemaname, flagIN) to a
// destination hostgroup.
//
// A table is built once and never changes. It is made for a million entries and costs the same few probes at any size.
// When it is asked, and what its answer overrides, is decided in package decision; checking columns is not its business
// either. Start at [Build] and [Table.Lookup].
package fastroute
