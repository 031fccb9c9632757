// Package session runs one client session of the gateway: it reads commands, has them routed, relays them to the
// session's backend connections, and keeps track of the state that ties the session to one of them.
//
// It must not choose hostgroups (gateway/route asks for that; guided.go asks the routing guideline where nobody else can),
// parse rows, or know how users and servers came here (gateway/snapshot). The wire is in gateway/mysql, logins to servers in
// gateway/pool. What state a statement leaves behind on its connection is found in multiplex.go, and which server of a
// guideline's pool a session has in pools.go.
package session
