// Package pool logs in to MySQL servers on behalf of sessions.
//
// [Dial] opens one connection for one session and one server: with the session's user, client flags, collation and
// attributes, so that the server sees what it would see of the client itself. [Shared] counts connections by row of the
// configuration, keeps those that nobody uses for the next session with the same login, and queues those who find no place.
// [BackendConn.Renew] makes a used one as good as new. [Kill] ends a statement by a second connection and [Probe] learns what a server can do.
//
// Clear passwords go through go-mysql's client, behind a guard that checks every login packet; a user of whom only
// SHA1(password) is known is logged in by mysql_native_password here.
//
// The package must not choose servers or retry: the caller holds the candidates, and [DialError] says whether another
// one is worth a try. What a session has left on a connection is for its owner to say. The wire protocol is in gateway/mysql.
package pool
