package decision

import "github.com/pointsman/pointsman/decision/guideline"

// Runtime is what is known at run time. It is a value that somebody else found out, and must not be changed after it was
// handed in. A nil Runtime knows nothing.
type Runtime struct {
	Servers map[string]ServerState // by Server.Address; absent: unknown
	Names   guideline.Names        // of the hosts that the guideline resolves
}

// ServerState is what is known of one server.
type ServerState struct {
	MemberRole  string // PRIMARY, SECONDARY or READ_REPLICA; empty: unknown
	Unavailable string // why it can't be used, e.g. "connect: connection refused"; empty: it can, as far as is known
}

// state gives a server's state, the zero state when none is known.
func (rt *Runtime) state(address string) ServerState {
	if rt == nil {
		return ServerState{}
	}
	return rt.Servers[address]
}

// names gives the resolved names, nil when none are known.
func (rt *Runtime) names() guideline.Names {
	if rt == nil {
		return nil
	}
	return rt.Names
}
