// Package loaded turns a stored configuration into a generation that a server can run: compiled for decisions, and
// cut into the parts that gateways are told.
//
// It is what the live pointer of a decision server points at. It must not read the store or the disk; server/feed
// does, and server/api uses what is loaded.
package loaded
