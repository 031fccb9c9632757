package pool

import (
	"encoding/binary"
	"fmt"
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
// checked, so that the client neither trips over a malformed one nor reads ahead; it hides that TLS was begun, which the
// client would do again; it puts into the client's response what the client can't be told (exact flags, collation id, packet
// size); and it takes the NUL off a challenge's end, with which the client would spoil the fast way of
// caching_sha2_password.
type guard struct {
	net.Conn // For its addresses and deadlines.
	packets  *mysql.Conn
	target   Target
	welcome  welcome
	err      error  // The first thing that went wrong, as the server or the network said it.
	greeted  bool   // The greeting was handed on.
	answered bool   // The response to it was sent.
	seq      byte   // The next packet's number, as the client counts.
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
	payload, err := g.payload()
	if err != nil {
		return err
	}
	n := len(payload)
	g.pending = append([]byte{byte(n), byte(n >> 8), byte(n >> 16), g.seq}, payload...)
	g.seq++
	return nil
}

// payload gives the next payload for the client: the greeting, which came already, or what the server sends now.
func (g *guard) payload() ([]byte, error) {
	if !g.greeted {
		g.greeted = true
		greeting := g.welcome.greeting
		greeting.Capabilities &^= mysql.CapSSL
		return greeting.Append(nil), nil
	}
	payload, err := g.packets.ReadPacket(maxLoginPacket)
	if err != nil {
		return nil, err
	}
	if len(payload) == 0 {
		return nil, fmt.Errorf("empty login packet: %w", mysql.ErrMalformedPacket)
	}
	return g.check(payload)
}

// check reads a payload and returns the one for the client.
func (g *guard) check(payload []byte) ([]byte, error) {
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

// Write passes the client's packets on, each of which comes in one piece. The first is the response to the greeting: 4 bytes
// of flags, 4 of the largest packet's size, and the collation id.
func (g *guard) Write(p []byte) (int, error) {
	const sizeAt, charsetAt = 4, 8
	if len(p) < headerSize {
		return 0, fmt.Errorf("client wrote %d bytes: %w", len(p), mysql.ErrMalformedPacket)
	}
	payload := append([]byte(nil), p[headerSize:]...)
	if !g.answered && len(payload) > charsetAt {
		g.answered = true
		const stream = mysql.MirroredCapabilities | mysql.CapSessionTrack | mysql.CapQueryAttributes
		flags := binary.LittleEndian.Uint32(payload)&^stream | g.welcome.flags
		if g.packets.Encrypted() {
			flags |= mysql.CapSSL
		}
		binary.LittleEndian.PutUint32(payload, flags)
		binary.LittleEndian.PutUint32(payload[sizeAt:], g.target.MaxPacket)
		payload[charsetAt] = g.target.charset()
	}
	g.seq++
	return len(p), g.packets.WritePacket(payload)
}
