package pool

import (
	"context"
	"fmt"
	"net"

	"github.com/go-mysql-org/go-mysql/client"

	"github.com/pointsman/pointsman/gateway/mysql"
)

// loginByPassword logs in through go-mysql's client, which knows every plugin that a clear password opens.
func loginByPassword(ctx context.Context, nc net.Conn, t Target, password string) (w welcome, err error) {
	g := &guard{Conn: nc, target: t}
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
	_, err = client.ConnectWithDialer(ctx, t.network(), t.Addr, t.User, password, t.DB, dialer, attrs)
	if g.err != nil {
		return welcome{}, g.err // What the server or the network said, before the client wrapped it.
	}
	if err != nil {
		return welcome{}, err
	}
	return g.welcome, nil
}

// loginByProof logs in by mysql_native_password with SHA1(password) alone.
func loginByProof(c *mysql.Conn, t Target) (welcome, error) {
	payload, err := c.ReadPacket(maxLoginPacket)
	if err != nil {
		return welcome{}, err
	}
	g, err := mysql.ParseGreeting(payload)
	if err != nil {
		return welcome{}, err
	}
	flags, err := t.flags(g.Capabilities)
	if err != nil {
		return welcome{}, err
	}
	auth, ok := t.Secret.NativeAnswer(g.Salt)
	if !ok {
		return welcome{}, ErrNoSecret
	}
	r := mysql.HandshakeResponse{
		Capabilities: mysql.BaseCapabilities&^(mysql.CapConnectWithDB|mysql.CapConnectAttrs) | flags,
		MaxPacket:    t.MaxPacket, Charset: t.charset(), User: t.User, Auth: auth, Schema: t.DB,
		Plugin: mysql.PluginNative, Attrs: t.Attrs,
	}
	if t.DB != "" {
		r.Capabilities |= mysql.CapConnectWithDB
	}
	if len(t.Attrs) > 0 {
		r.Capabilities |= mysql.CapConnectAttrs
	}
	r.Capabilities &= g.Capabilities | mysql.CapLongPassword // MariaDB does not offer the latter, but takes it.
	if err := c.WritePacket(r.Append(nil)); err != nil {
		return welcome{}, err
	}
	status, err := awaitOK(c, t)
	return welcome{greeting: g, flags: flags, status: status}, err
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
