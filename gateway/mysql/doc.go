// Package mysql speaks the MySQL client/server protocol on both sides of the gateway.
//
// It has three parts. Logins: [Authenticator.Handshake] and [Authenticator.ChangeUser] greet and verify a client and
// leave the final OK or ERR to the caller. Commands: [Conn.ReadCommand] reads the head of one command and
// [Conn.WriteOK], [Conn.WriteError], [Conn.WriteEOF] and [Conn.WriteResultset] answer it locally. Relaying: [Relay] sends
// a command to a backend and walks the response's packet headers in place, so rows are never decoded or copied, and
// [Conn.Exec] does the same for the gateway's own commands, whose response nobody sees.
//
// One goroutine owns a [Conn] at a time and traffic is half duplex: commands that a client sends ahead wait in its
// buffer. Only Close, Peer and the deadlines of [Conn.NetConn] may be used from elsewhere.
//
// The package must not know about routing, configuration or pools, opens no connection and starts no goroutine.
// Backend logins are in gateway/pool; the command loop is in gateway/session.
package mysql
