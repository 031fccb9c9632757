// Package mirror runs copies of statements on servers of their own hostgroups and drops the results: bounded in what waits
// and in what runs at once, so that no client's statement waits for a copy or fails with it.
//
// It must not decide what is copied or where it goes; gateway/session/mirrored.go does. Logins are gateway/pool's.
package mirror
