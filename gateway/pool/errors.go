package pool

import (
	"errors"
	"fmt"

	"github.com/pointsman/pointsman/gateway/mysql"
)

// ErrNeedsPassword says that a server wants an authentication plugin for which the gateway would have to know the clear
// password, while it has only a native hash's proof.
var ErrNeedsPassword = errors.New("server needs the clear password")

// ErrWantsClearText says that a server asks for the password itself, over a connection that anybody may read. Whoever can
// take a server's place would have it.
var ErrWantsClearText = errors.New("server asks for the password in clear text, which is never sent")

// pluginClear is the plugin by which a server asks for it.
const pluginClear = "mysql_clear_password"

// ErrIncompatible says that a server can't form its responses as the session's client was promised.
var ErrIncompatible = errors.New("server lacks a capability that the client negotiated")

// ErrNoTLS says that a server that is to be spoken to over TLS does not offer it. Nothing of the login was sent.
var ErrNoTLS = errors.New("server does not offer TLS, which use_ssl demands: give it a certificate, or set use_ssl to false")

// ErrNoSecret says that nothing is known of the user's password.
var ErrNoSecret = errors.New("no password known for the login")

// CodeUnreachable is the code of the error that clients get when no server answers. ProxySQL uses it for the same.
const CodeUnreachable uint16 = 9001

// DialError says why there is no connection to a server.
type DialError struct {
	Addr string
	User string
	// Server is what the server said of itself before; nil when it did not get that far.
	Server *ServerInfo
	// Err is an [*mysql.Error] when the server refused the login, one of this package's errors, or an I/O error.
	Err error
}

// Error names server, user and cause.
func (e *DialError) Error() string {
	return fmt.Sprintf("connect to %s as %s: %v", e.Addr, e.User, e.Err)
}

// Unwrap returns the cause.
func (e *DialError) Unwrap() error { return e.Err }

// TryElsewhere says whether another server may well accept the session: this one can't be reached, is full or shuts
// down. It is false where the login itself is at fault.
func (e *DialError) TryElsewhere() bool {
	if errors.Is(e.Err, ErrNoSecret) {
		return false
	}
	var refusal *mysql.Error
	if !errors.As(e.Err, &refusal) {
		return true
	}
	const (
		hostNotPrivileged, userLimit, resourceLimit = 1130, 1203, 1226
	)
	switch refusal.Code {
	case mysql.CodeTooManyConnections, mysql.CodeHostBlocked, mysql.CodeServerShutdown, hostNotPrivileged, userLimit, resourceLimit:
		return true
	}
	return false
}

// ClientError turns an error of [Dial] into the one that the client gets. Refusals that name a schema come through as
// the server said them; SQLSTATE 08S01 makes drivers drop the connection.
func ClientError(err error) *mysql.Error {
	var dial *DialError
	if !errors.As(err, &dial) {
		return mysql.NewError(CodeUnreachable, "08S01", "No connection to a server: %v", err)
	}
	var refusal *mysql.Error
	switch {
	case errors.Is(err, ErrNeedsPassword), errors.Is(err, ErrNoSecret):
		return mysql.NewError(mysql.CodeAccessDenied, "28000",
			"Access denied for user '%s' at server %s: %v", dial.User, dial.Addr, dial.Err)
	case errors.As(err, &refusal) && refusal.Code == mysql.CodeAccessDenied:
		return mysql.NewError(mysql.CodeAccessDenied, "28000",
			"Access denied for user '%s' at server %s, which refused the gateway's login", dial.User, dial.Addr)
	case errors.As(err, &refusal):
		return refusal
	}
	return mysql.NewError(CodeUnreachable, "08S01", "No connection to server %s: %v", dial.Addr, dial.Err)
}
