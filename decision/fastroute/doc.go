// Package fastroute is the table mysql_query_rules_fast_routing: it leads from (username, schemaname, flagIN) to a
// destination hostgroup.
//
// A table is built once and never changes. It is made for a million entries: names become numbers, each key has the only
// slot that it can be in, about 19 bytes an entry and no pointers, so that neither lookups nor the garbage collector feel
// its size. Whoever asks for the same session again keeps its numbers ([Table.UserID], [Table.SchemaID]) and asks by them
// ([Table.LookupIDs]).
//
// When it is asked, and what its answer overrides, is decided in package decision; checking columns is not its business
// either. Start at [Build] and [Table.Lookup]; perfect.go is how keys and names find their slots.
package fastroute
