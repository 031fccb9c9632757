// Package snapshot holds what the gateway knows of the current generation: users, servers and settings, as pushed
// by the decision service over WatchGatewayConfig, with a last good copy on disk for starts without it.
//
// It must not ask for decisions (gateway/route does) and must not talk to etcd. A Snapshot never changes;
// sessions load the current one from the Holder.
package snapshot
