// Package state is the one place that tells how the configuration in force relates to what was published last: whether it
// is current, stale, invalid or empty.
//
// The feed tells it what it reads and loads; the API, the admin pages and the metrics show what it says. It must not read
// the store itself, and decides nothing.
package state
