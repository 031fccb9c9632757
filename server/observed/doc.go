// Package observed holds what a decision server has observed of the world outside of its configuration: the roles and the
// health of servers, and the addresses of names.
//
// Observers (server/monitor, server/resolve) say what they see; decisions, server pools and gateways are given the whole as
// one immutable value. It must not observe anything itself.
package observed
