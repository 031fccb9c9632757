package pool

import (
	"context"
	"fmt"
	"net"

	"github.com/go-mysql-org/go-mysql/client"

	"github.com/pointsman/pointsman/gateway/mysql"
)

// loginByPassword logs in through go-mysql's client, which knows every plugin that a clear password opens.
func loginByPassword(ctx context.Context, c *mysql.Conn, t Target, w welcome, password string) (_ welcome, err error) {
	g := &guard{Conn: c.NetConn(), packets: c, target: t, welcome: w}
	defer func() {
		// The client takes some bounds of login packets on trust. The guard checks them, and this is its safety net.
		if p := recover(); p != nil {
			err = fmt.Errorf("login packet: %v: %w", p, mysql.ErrMalformedPacket)
		}
	}()
	dialer := func(context.Context, string, string) (net.Conn, error) { return g, nil }
	attrs := func(c *client.Conn) error {
		c.SetAttributes(t.Attrs)
		return nil
	}
	// TLS is begun before the client comes in. To it that is as safe as a Unix socket: it may send the password itself
	// to a plugin that asks for it, and must not do so otherwise.
	network := "tcp"
	if c.Secure() {
		network = "unix"
	}
	_, err = client.ConnectWithDialer(ctx, network, t.Addr, t.User, password, t.DB, dialer, attrs)
	if g.err != nil {
		return g.welcome, g.err // What the server or the network said, before the client wrapped it.
	}
	return g.welcome, err
}

// loginByProof logs in by mysql_native_password with SHA1(password) alone.
func loginByProof(c *mysql.Conn, t Target, w welcome) (welcome, error) {
	auth, ok := t.Secret.NativeAnswer(w.greeting.Salt)
	if !ok {
		return w, ErrNoSecret
	}
	r := mysql.HandshakeResponse{
		Capabilities: t.base() | w.flags,
		MaxPacket:    t.MaxPacket, Charset: t.charset(), User: t.User, Auth: auth, Schema: t.DB,
		Plugin: mysql.PluginNative, Attrs: t.Attrs,
	}
	if c.Encrypted() {
		r.Capabilities |= mysql.CapSSL
	}
	r.Capabilities &= w.greeting.Capabilities | mysql.CapLongPassword // MariaDB does not offer the latter, but takes it.
	err := c.WritePacket(r.Append(nil))
	if err == nil {
		w.status, err = awaitOK(c, t)
	}
	return w, err
}

// awaitOK reads the server's verdict, and answers its request to go by mysql_native_password if it makes one.
func awaitOK(c *mysql.Conn, t Target) (status uint16, err error) {
	for switched := false; ; switched = true {
		payload, err := c.ReadPacket(maxLoginPacket)
		if err != nil {
			return 0, err
		}
		switch {
		case len(payload) == 0:
			return 0, mysql.ErrMalformedPacket
		case payload[0] == headErr:
			return 0, mysql.ParseError(payload)
		case payload[0] == headOK:
			ok, err := mysql.ParseOK(payload)
			return ok.Status, err
		case payload[0] != headSwitch || switched:
			return 0, fmt.Errorf("login packet %#x: %w", payload[0], mysql.ErrMalformedPacket)
		}
		a, err := mysql.ParseAuthSwitch(payload)
		if err != nil {
			return 0, err
		}
		if a.Plugin != mysql.PluginNative {
			return 0, fmt.Errorf("plugin %s: %w", a.Plugin, ErrNeedsPassword)
		}
		answer, _ := t.Secret.NativeAnswer(a.Salt)
		if err := c.WritePacket(answer); err != nil {
			return 0, err
		}
	}
}
