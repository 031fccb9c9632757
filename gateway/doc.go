// Package gateway is the program pointsman-gateway: it puts the parts together, listens, serves the admin endpoint and
// drains at the end.
//
// It must not import the server or etcd. The wire protocol is in gateway/mysql, logins to servers in gateway/pool,
// decisions and their cache in gateway/route, the pushed configuration in gateway/snapshot, and one client's session
// in gateway/session. The reference for operators is docs/gateway.md.
package gateway
