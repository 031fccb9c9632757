package mysql

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// saltSize is the size of a login's challenge in bytes.
const saltSize = 20

// Greeting is a server's first packet.
type Greeting struct {
	// ServerVersion is what clients see, for instance "8.0.36" or "10.11.6-MariaDB".
	ServerVersion string
	// ConnectionID is what CONNECTION_ID() would give, and what KILL takes.
	ConnectionID uint32
	// Capabilities are those offered.
	Capabilities uint32
	// Charset is the low byte of the default collation's id.
	Charset byte
	// Status is the server's status; [StatusAutocommit] as a rule.
	Status uint16
	// Plugin is the default authentication plugin. Ignored by Handshake, which offers [PluginNative].
	Plugin string
	// Salt is the 20-byte challenge. Handshake makes its own.
	Salt []byte
}

// Append appends the payload as a MySQL server of version 8 forms it: all reserved bytes are zero, so that no MariaDB
// client believes in extended capabilities.
func (g Greeting) Append(b []byte) []byte {
	b = append(b, 10) // Protocol version.
	b = append(b, strings.ReplaceAll(g.ServerVersion, "\x00", "")...)
	b = append(b, 0)
	b = binary.LittleEndian.AppendUint32(b, g.ConnectionID)
	b = append(b, g.Salt[:8]...)
	b = append(b, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(g.Capabilities&0xffff))
	b = append(b, g.Charset)
	b = binary.LittleEndian.AppendUint16(b, g.Status)
	b = binary.LittleEndian.AppendUint16(b, uint16(g.Capabilities>>16))
	b = append(b, saltSize+1)
	b = append(b, make([]byte, 10)...)
	b = append(b, g.Salt[8:saltSize]...)
	b = append(b, 0)
	b = append(b, g.Plugin...)
	return append(b, 0)
}

// ParseGreeting reads a server's first packet, in which every field is checked. An ERR packet there, such as "Too many
// connections", is returned as an [*Error].
func ParseGreeting(payload []byte) (Greeting, error) {
	f := fields{b: payload}
	switch version := f.u8(); {
	case f.bad:
		return Greeting{}, fmt.Errorf("greeting: %w", ErrMalformedPacket)
	case version == headErr:
		return Greeting{}, ParseError(payload)
	case version != 10:
		return Greeting{}, fmt.Errorf("greeting of protocol version %d, not 10: %w", version, ErrMalformedPacket)
	}
	g := Greeting{ServerVersion: string(f.bytesNUL()), ConnectionID: f.u32()}
	g.Salt = append(g.Salt, f.take(8)...)
	f.u8()
	g.Capabilities = uint32(f.u16())
	g.Charset = f.u8()
	g.Status = f.u16()
	g.Capabilities |= uint32(f.u16()) << 16
	saltLen := f.u8()
	f.take(10)
	if f.bad {
		return Greeting{}, fmt.Errorf("greeting: %w", ErrMalformedPacket)
	}
	if g.Capabilities&(CapProtocol41|CapSecureConnection) != CapProtocol41|CapSecureConnection {
		return Greeting{}, fmt.Errorf("greeting of a server before MySQL 4.1: %w", ErrMalformedPacket)
	}
	// The second part has its own closing NUL, and at least 13 bytes whatever the length says.
	rest := f.take(max(13, uint64(saltLen)-min(8, uint64(saltLen))))
	if f.bad {
		return Greeting{}, fmt.Errorf("greeting: %w", ErrMalformedPacket)
	}
	g.Salt = append(g.Salt, rest[:saltSize-8]...)
	g.Plugin = PluginNative
	if g.Capabilities&CapPluginAuth != 0 {
		// Some servers forget the NUL at the end.
		g.Plugin = string(CutNUL(f.rest()))
	}
	return g, nil
}

// AuthSwitch is a server's request to answer by another plugin.
type AuthSwitch struct {
	Plugin string
	Salt   []byte // Without the NUL that closes it.
}

// ParseAuthSwitch reads such a request, whose first byte is 0xFE.
func ParseAuthSwitch(payload []byte) (AuthSwitch, error) {
	f := fields{b: payload}
	head := f.u8()
	a := AuthSwitch{Plugin: string(f.bytesNUL()), Salt: f.rest()}
	if f.bad || head != headEOF {
		return AuthSwitch{}, fmt.Errorf("authentication switch: %w", ErrMalformedPacket)
	}
	if len(a.Salt) == saltSize+1 && a.Salt[saltSize] == 0 {
		a.Salt = a.Salt[:saltSize]
	}
	return a, nil
}

// Append appends the payload, without a NUL after the salt.
func (a AuthSwitch) Append(b []byte) []byte {
	b = append(append(b, headEOF), a.Plugin...)
	return append(append(b, 0), a.Salt...)
}
