package pool

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/pointsman/pointsman/gateway/mysql"
)

// defaultConnectTimeout is ProxySQL's for one try.
const defaultConnectTimeout = time.Second

// defaultCharset is utf8mb4_general_ci, known to MySQL and MariaDB alike.
const defaultCharset = 45

// Target says where and as whom to log in.
type Target struct {
	// Addr is host:port, or the path of a Unix socket.
	Addr string
	User string
	// Secret is what is known of the user's password: that of the client's login, or the configuration's own for servers.
	Secret mysql.Secret
	// DB is the default schema; empty for none.
	DB string
	// ClientFlags are the capabilities negotiated with the client. Those of [mysql.MirroredCapabilities] are asked of
	// the server, and no others.
	ClientFlags uint32
	// SessionTrack asks for reports of session changes, see [mysql.Outcome]. Servers without it are accepted.
	SessionTrack bool
	// Charset is the low byte of the client's collation id; 0 means utf8mb4_general_ci.
	Charset byte
	// MaxPacket is what the client said of its largest packet, in bytes.
	MaxPacket uint32
	// Attrs are the connection attributes to forward.
	Attrs map[string]string
	// TLS is how to speak TLS to the server, nil for plain text. Without a ServerName it is the host of Addr. It does not count
	// for Unix sockets.
	TLS *tls.Config
	// ConnectTimeout limits dialling and login together; 0 means 1 s. The context's deadline holds as well.
	ConnectTimeout time.Duration
}

// network tells a socket's path from host:port.
func (t Target) network() string {
	if strings.Contains(t.Addr, "/") {
		return "unix"
	}
	return "tcp"
}

// flags returns the capabilities to ask of a server that offers these.
func (t Target) flags(offered uint32) (uint32, error) {
	wanted := t.ClientFlags & mysql.MirroredCapabilities
	if missing := wanted &^ offered; missing&mysql.CapDeprecateEOF != 0 {
		return 0, fmt.Errorf("DEPRECATE_EOF: %w", ErrIncompatible)
	}
	if t.SessionTrack {
		wanted |= mysql.CapSessionTrack
	}
	return wanted & offered, nil
}

func (t Target) charset() byte {
	if t.Charset == 0 {
		return defaultCharset
	}
	return t.Charset
}

// welcome is what a server told during a login that succeeded.
type welcome struct {
	greeting mysql.Greeting
	flags    uint32
	status   uint16
}

// Dial connects and logs in. Its errors are [*DialError].
func Dial(ctx context.Context, t Target) (*BackendConn, error) {
	if t.ConnectTimeout == 0 {
		t.ConnectTimeout = defaultConnectTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, t.ConnectTimeout)
	defer cancel()
	b, w, err := dial(ctx, t)
	if err != nil {
		e := &DialError{Addr: t.Addr, User: t.User, Err: err}
		if w.greeting.Capabilities != 0 {
			e.Server = &ServerInfo{Version: w.greeting.ServerVersion, Capabilities: w.greeting.Capabilities, Charset: w.greeting.Charset}
		}
		return nil, e
	}
	return b, nil
}

// dial also gives what it has learnt when it fails.
func dial(ctx context.Context, t Target) (*BackendConn, welcome, error) {
	if !t.Secret.Known() {
		return nil, welcome{}, ErrNoSecret
	}
	dialer := net.Dialer{KeepAliveConfig: mysql.KeepAlive(), Control: mysql.UserTimeout}
	nc, err := dialer.DialContext(ctx, t.network(), t.Addr)
	if err != nil {
		return nil, welcome{}, err
	}
	c := mysql.NewConn(nc)
	var w welcome
	err = c.Within(ctx, func() error {
		var err error
		if w, err = greet(c, t); err != nil {
			return err
		}
		if password, ok := t.Secret.Password(); ok {
			w, err = loginByPassword(ctx, c, t, w, password)
		} else {
			w, err = loginByProof(c, t, w)
		}
		return err
	})
	if err != nil {
		_ = c.Close()
		return nil, w, err
	}
	c.Capabilities = w.flags
	return &BackendConn{
		Conn: c, Addr: t.Addr, ThreadID: w.greeting.ConnectionID, ServerVersion: w.greeting.ServerVersion,
		ServerCapabilities: w.greeting.Capabilities, ServerCharset: w.greeting.Charset, Status: w.status,
	}, w, nil
}
