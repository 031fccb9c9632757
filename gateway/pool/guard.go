package pool

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"

	"github.com/pointsman/pointsman/gateway/mysql"
)

// maxLoginPacket is the largest packet accepted from a server that has not accepted the login yet.
const maxLoginPacket = 64 << 10

// First bytes of a server's packets during a login.
const (
	headOK     byte = 0x00
	headSwitch byte = 0xfe
	headErr    byte = 0xff
)

const headerSize = 4

// guard stands between go-mysql's client and a server during the login. It hands packets on one by one, whole and
// checked, so that the client neither trips over a malformed one nor reads ahead; it puts into the client's response what
// the client can't be told (exact flags, collation id, packet size); and it takes the NUL off a challenge's end, with
// which the client would spoil the fast way of caching_sha2_password.
type guard struct {
	net.Conn
	target   Target
	welcome  welcome
	err      error  // The first thing that went wrong, as the server or the network said it.
	greeted  bool   // The greeting was seen.
	answered bool   // The response to it was sent.
	pending  []byte // A packet that was checked and not handed on yet.
}

// Read hands on the server's next packet, or what is left of one.
func (g *guard) Read(p []byte) (int, error) {
	if len(g.pending) == 0 {
		if err := g.next(); err != nil {
			if g.err == nil {
				g.err = err
			}
			return 0, err
		}
	}
	n := copy(p, g.pending)
	g.pending = g.pending[n:]
	return n, nil
}

// next reads and checks one packet.
func (g *guard) next() error {
	var header [headerSize]byte
	if _, err := io.ReadFull(g.Conn, header[:]); err != nil {
		return err
	}
	length := int(header[0]) | int(header[1])<<8 | int(header[2])<<16
	if length == 0 || length > maxLoginPacket {
		return fmt.Errorf("login packet of %d bytes: %w", length, mysql.ErrMalformedPacket)
	}
	payload := make([]byte, length)
	if _, err := io.ReadFull(g.Conn, payload); err != nil {
		return err
	}
	payload, err := g.check(payload)
	if err != nil {
		return err
	}
	n := len(payload)
	g.pending = append([]byte{byte(n), byte(n >> 8), byte(n >> 16), header[3]}, payload...)
	return nil
}

// check reads a payload and returns the one for the client.
func (g *guard) check(payload []byte) ([]byte, error) {
	if !g.greeted {
		greeting, err := mysql.ParseGreeting(payload)
		if err != nil {
			return nil, err
		}
		if greeting.Plugin == pluginClear {
			return nil, ErrWantsClearText
		}
		flags, err := g.target.flags(greeting.Capabilities)
		if err != nil {
			return nil, err
		}
		g.greeted, g.welcome = true, welcome{greeting: greeting, flags: flags}
		return payload, nil
	}
	switch payload[0] {
	case headErr:
		return nil, mysql.ParseError(payload)
	case headOK:
		ok, err := mysql.ParseOK(payload)
		g.welcome.status = ok.Status
		return payload, err
	case headSwitch:
		a, err := mysql.ParseAuthSwitch(payload)
		if err != nil {
			return nil, err
		}
		if a.Plugin == pluginClear {
			return nil, ErrWantsClearText
		}
		return a.Append(nil), nil
	}
	return payload, nil
}

// Write passes the client's packets on. The first is the response to the greeting: 4 bytes of flags, 4 of the largest
// packet's size, and the collation id.
func (g *guard) Write(p []byte) (int, error) {
	const flagsAt, sizeAt, charsetAt = headerSize, headerSize + 4, headerSize + 8
	if g.answered || len(p) <= charsetAt {
		return g.Conn.Write(p)
	}
	g.answered = true
	const stream = mysql.MirroredCapabilities | mysql.CapSessionTrack | mysql.CapQueryAttributes
	b := append([]byte(nil), p...)
	flags := binary.LittleEndian.Uint32(b[flagsAt:])&^stream | g.welcome.flags
	binary.LittleEndian.PutUint32(b[flagsAt:], flags)
	binary.LittleEndian.PutUint32(b[sizeAt:], g.target.MaxPacket)
	b[charsetAt] = g.target.charset()
	return g.Conn.Write(b)
}
