package mysql

import (
	"crypto/tls"
	"fmt"
	"net"
)

// OfferTLS makes Handshake offer TLS by this configuration. required: a client that goes on without it is refused with
// error 3159, but for one on a Unix socket.
func (c *Conn) OfferTLS(config *tls.Config, required bool) {
	c.tlsOffer, c.tlsRequired = config, required
}

// Secure says whether nobody on the way can read or change what is sent: it is encrypted, or never leaves the machine.
func (c *Conn) Secure() bool { return c.secure.Load() != nil || isUnix(c.raw) }

// Encrypted says whether the connection speaks TLS.
func (c *Conn) Encrypted() bool { return c.secure.Load() != nil }

// StartTLS speaks TLS from here on, as the client. The server was asked for it in a packet of
// [HandshakeResponse.AppendTLSRequest], to which it answers nothing in plain text.
func (c *Conn) StartTLS(config *tls.Config) error {
	if c.r != c.w {
		return fmt.Errorf("start TLS: the server sent more than its greeting: %w", ErrMalformedPacket)
	}
	return c.encrypt(tls.Client(c.raw, config))
}

// acceptTLS speaks TLS from here on, as the server that was just asked for it. What the client has sent behind its request
// can only be the beginning of TLS: no byte of it is ever taken for a packet, or anybody on the way could put packets of
// his own before the client's.
func (c *Conn) acceptTLS() error {
	begun := append([]byte(nil), c.buf[c.r:c.w]...)
	c.r, c.w = 0, 0
	return c.encrypt(tls.Server(&prefixed{c.raw, begun}, c.tlsOffer))
}

// encrypt goes through the handshake of TLS. Deadlines are those of the socket.
func (c *Conn) encrypt(conn *tls.Conn) error {
	if err := conn.Handshake(); err != nil { //nolint:noctx // Within has put its context's end on the socket.
		return fmt.Errorf("TLS: %w", err)
	}
	c.nc = conn
	c.secure.Store(conn)
	return nil
}

// prefixed is a connection of which some bytes were read already.
type prefixed struct {
	net.Conn
	begun []byte
}

func (p *prefixed) Read(b []byte) (int, error) {
	if len(p.begun) == 0 {
		return p.Conn.Read(b)
	}
	n := copy(b, p.begun)
	if p.begun = p.begun[n:]; len(p.begun) == 0 {
		p.begun = nil
	}
	return n, nil
}

func isUnix(nc net.Conn) bool {
	addr := nc.LocalAddr()
	return addr != nil && addr.Network() == "unix"
}

// recordHeader is the size of a TLS record's header in bytes: type, version and length of what follows.
const recordHeader = 5

// isAlert says whether a TLS record is an alert, by which a peer says that it closes the connection. TLS 1.3 hides its
// type, but its size is no other record's: two bytes, the hidden type and 16 bytes of tag, while a packet has at
// least four bytes.
func isAlert(header []byte) bool {
	const alert, applicationData, hiddenAlert = 21, 23, 2 + 1 + 16
	if len(header) < recordHeader {
		return false
	}
	return header[0] == alert || header[0] == applicationData && int(header[3])<<8|int(header[4]) == hiddenAlert
}
