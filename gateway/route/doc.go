// Package route answers the gateway's question "where does this statement go": from its cache by (cookie, command,
// digest or text), else by asking a Decider, else by the last good answer or the user's default hostgroup. A service
// that answers nothing for a time budget is down for all; a question that is only slow is given up alone, and later.
// An answer from the cache takes no lock and no memory.
//
// It must not evaluate rules, and knows nothing of packets or servers. The session (gateway/session) obeys
// the answers; clients/go is the Decider of production.
package route
