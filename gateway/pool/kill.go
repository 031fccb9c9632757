package pool

import (
	"context"
	"errors"
	"strconv"

	"github.com/pointsman/pointsman/gateway/mysql"
)

// Kill ends the statement that a thread of the server is running, or the whole thread unless query, by a second
// connection to t. t needs no more than Addr, User and Secret. A thread that is gone already is no error.
func Kill(ctx context.Context, t Target, threadID uint32, query bool) error {
	t.DB, t.ClientFlags, t.SessionTrack = "", 0, false
	b, err := Dial(ctx, t)
	if err != nil {
		return err
	}
	verb := "KILL CONNECTION "
	if query {
		verb = "KILL QUERY "
	}
	_, err = b.Exec(ctx, verb+strconv.FormatUint(uint64(threadID), 10))
	const noSuchThread = 1094
	var told *mysql.Error
	if errors.As(err, &told) && told.Code == noSuchThread {
		err = nil
	}
	if err != nil {
		_ = b.Conn.Close()
		return &DialError{Addr: t.Addr, User: t.User, Err: err}
	}
	return b.Close()
}

// ServerInfo is what the greeting of a listener depends on.
type ServerInfo struct {
	Version      string
	Capabilities uint32
	Charset      byte // The low byte of the default collation id.
}

// Probe logs in to a server, so that it does not count a broken connection, and returns what it said of itself.
func Probe(ctx context.Context, t Target) (ServerInfo, error) {
	t.ClientFlags, t.SessionTrack = 0, false
	b, err := Dial(ctx, t)
	if err != nil {
		return ServerInfo{}, err
	}
	return b.Info(), b.Close()
}

// Info is what the server said of itself.
func (b *BackendConn) Info() ServerInfo {
	return ServerInfo{Version: b.ServerVersion, Capabilities: b.ServerCapabilities, Charset: b.ServerCharset}
}
