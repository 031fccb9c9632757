// Package pointsman is the root of the module. It holds no code, only the test of who may import whom.
//
// Start with docs/architecture.md for the map, decision for the pure core, server for the decision service,
// gateway for the MySQL gateway, store for generations in etcd and clients/go for the client.
package pointsman
