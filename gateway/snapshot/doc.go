// Package snapshot holds what the gateway knows of the current generation: users, servers, settings, the routing guideline
// and the runtime state of servers, as pushed by the decision service over WatchGatewayConfig, with a last good copy on disk
// for starts without it. A View is what the sessions of one listener see of the guideline.
//
// It must not ask for decisions (gateway/route does) and must not talk to etcd. A Snapshot never changes;
// sessions load the current one from the Holder.
package snapshot
