package pool

import (
	"context"
	"time"

	"github.com/pointsman/pointsman/gateway/mysql"
)

// quitWait limits the goodbye to a server, which reads it at once if it reads at all.
const quitWait = time.Second

// BackendConn is a connection to a server, logged in and owned by one session.
type BackendConn struct {
	// Conn carries the traffic; Conn.Capabilities are those in force.
	Conn *mysql.Conn
	// Addr is the server's address as dialled.
	Addr string
	// ThreadID is the server's name of the connection, for [Kill].
	ThreadID uint32
	// ServerVersion is the greeting's.
	ServerVersion string
	// ServerCapabilities are all that the server offers.
	ServerCapabilities uint32
	// ServerCharset is the low byte of the server's default collation id.
	ServerCharset byte
	// Status are the status flags after the login.
	Status uint16
}

// Alive reports whether the connection is fit for a next command: open, and without unexpected bytes. It does not wait.
func (b *BackendConn) Alive() bool { return b.Conn.Idle() }

// Exec runs a statement of the gateway's own within ctx and drops its rows. An [*mysql.Error] leaves the connection
// usable, any other error does not.
func (b *BackendConn) Exec(ctx context.Context, query string) (mysql.Outcome, error) {
	return b.command(ctx, mysql.ComQuery, []byte(query))
}

// InitDB changes the default schema. Errors are as with Exec.
func (b *BackendConn) InitDB(ctx context.Context, schema string) (mysql.Outcome, error) {
	return b.command(ctx, mysql.ComInitDB, []byte(schema))
}

// Ping asks for the true status flags, which an error leaves unknown. Errors are as with Exec.
func (b *BackendConn) Ping(ctx context.Context) (mysql.Outcome, error) {
	return b.command(ctx, mysql.ComPing, nil)
}

// ResetConnection ends transactions and drops all session state but the login itself; servers differ in whether the
// schema goes too. Errors are as with Exec.
func (b *BackendConn) ResetConnection(ctx context.Context) (mysql.Outcome, error) {
	return b.command(ctx, mysql.ComResetConnection, nil)
}

func (b *BackendConn) command(ctx context.Context, code byte, arg []byte) (mysql.Outcome, error) {
	var out mysql.Outcome
	err := b.Conn.Within(ctx, func() error {
		var err error
		out, err = b.Conn.Exec(code, arg)
		return err
	})
	return out, err
}

// Close says goodbye, so that the server does not count an aborted client, and closes. For a connection in the middle of
// a response use [mysql.Conn.Close].
func (b *BackendConn) Close() error {
	if err := b.Conn.NetConn().SetWriteDeadline(time.Now().Add(quitWait)); err == nil {
		_, _ = b.Conn.Exec(mysql.ComQuit, nil) // The connection goes in any case.
	}
	return b.Conn.Close()
}
