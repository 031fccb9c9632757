// Package feed brings generations from the store into force: follow, fetch, compile, swap, save.
//
// A generation that can't be compiled never replaces one that could: it is reported and left alone until the store
// offers another one. The copy of the last good generation on disk lets a server decide before, and without, the store.
// The package must not answer requests; server/api does.
package feed
