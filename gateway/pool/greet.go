package pool

import (
	"crypto/tls"
	"net"

	"github.com/pointsman/pointsman/gateway/mysql"
)

// greet reads the server's greeting, and begins TLS if the target wants it: then nothing of the login is sent before it is
// encrypted, and nothing at all to a server that does not offer it.
func greet(c *mysql.Conn, t Target) (welcome, error) {
	payload, err := c.ReadPacket(maxLoginPacket)
	if err != nil {
		return welcome{}, err
	}
	g, err := mysql.ParseGreeting(payload)
	if err != nil {
		return welcome{}, err
	}
	w := welcome{greeting: g}
	if g.Plugin == pluginClear {
		return w, ErrWantsClearText
	}
	if w.flags, err = t.flags(g.Capabilities); err != nil {
		return w, err
	}
	if !t.encrypted() {
		return w, nil
	}
	if g.Capabilities&mysql.CapSSL == 0 {
		return w, ErrNoTLS
	}
	r := mysql.HandshakeResponse{Capabilities: t.base() | mysql.CapSSL | w.flags, MaxPacket: t.MaxPacket, Charset: t.charset()}
	r.Capabilities &= g.Capabilities | mysql.CapLongPassword
	if err := c.WritePacket(r.AppendTLSRequest(nil)); err != nil {
		return w, err
	}
	return w, c.StartTLS(t.tlsConfig())
}

// encrypted says whether the target's connection is to be TLS. What goes through a Unix socket stays on the machine.
func (t Target) encrypted() bool { return t.TLS != nil && t.network() == "tcp" }

// tlsConfig is the configuration for this server's name.
func (t Target) tlsConfig() *tls.Config {
	if t.TLS.ServerName != "" {
		return t.TLS
	}
	config := t.TLS.Clone()
	if host, _, err := net.SplitHostPort(t.Addr); err == nil {
		config.ServerName = host
	}
	return config
}

// base are the capabilities for the login itself.
func (t Target) base() uint32 {
	flags := mysql.BaseCapabilities &^ (mysql.CapConnectWithDB | mysql.CapConnectAttrs)
	if t.DB != "" {
		flags |= mysql.CapConnectWithDB
	}
	if len(t.Attrs) > 0 {
		flags |= mysql.CapConnectAttrs
	}
	return flags
}
