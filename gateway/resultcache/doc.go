// Package resultcache keeps responses of servers, as bytes of the protocol, for statements whose rule has cache_ttl: bounded in
// memory, each for its time.
//
// It must not decide what may be kept, and knows nothing of packets. gateway/session/cached.go does and looks, gateway/mysql
// records and replays.
package resultcache
