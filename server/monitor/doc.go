// Package monitor looks at the servers of the configuration while a routing guideline is in force: whether they answer, and
// whether they are read-only, which makes a server a SECONDARY and else a PRIMARY.
//
// One connection to each server is kept open and asked at every interval. Three failures in a row make a server
// unavailable, one success makes it available. A server that answers with an error, such as a refused login, is up: only
// its role is not known. It changes nothing on servers and needs a user with no privileges beyond USAGE.
//
// The package must not choose servers; it tells package observed what it sees.
package monitor
