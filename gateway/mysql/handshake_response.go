package mysql

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// HandshakeResponse is a client's answer to the greeting.
type HandshakeResponse struct {
	// Capabilities are what the client asks for, as sent.
	Capabilities uint32
	// MaxPacket is the largest packet that the client would send, in bytes; 0 when it does not say.
	MaxPacket uint32
	// Charset is the low byte of the client's collation id.
	Charset byte
	User    string
	// Auth is the answer to the challenge.
	Auth   []byte
	Schema string
	Plugin string
	Attrs  map[string]string
}

// tlsRequestSize is the size in bytes of a request for TLS: the fixed part of a handshake response, alone.
const tlsRequestSize = 32

// isTLSRequest tells a request for TLS from a handshake response.
func isTLSRequest(payload []byte) bool {
	f := fields{b: payload}
	const wanted = CapSSL | CapProtocol41
	return len(payload) == tlsRequestSize && f.u32()&wanted == wanted
}

// AppendTLSRequest appends the request for TLS that comes before the response itself. Its Capabilities must have CapSSL.
func (r HandshakeResponse) AppendTLSRequest(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, r.Capabilities)
	b = binary.LittleEndian.AppendUint32(b, r.MaxPacket)
	b = append(b, r.Charset)
	return append(b, make([]byte, 23)...)
}

// ParseHandshakeResponse reads a payload. offered are the capabilities of the greeting: what was not offered is not
// there, whatever the client says. Every error is an [ErrMalformedPacket].
func ParseHandshakeResponse(payload []byte, offered uint32) (HandshakeResponse, error) {
	f := fields{b: payload}
	r := HandshakeResponse{Capabilities: f.u32(), MaxPacket: f.u32(), Charset: f.u8()}
	f.take(23)
	if f.bad || r.Capabilities&CapProtocol41 == 0 {
		return HandshakeResponse{}, fmt.Errorf("handshake response before MySQL 4.1: %w", ErrMalformedPacket)
	}
	if r.Capabilities&CapSSL != 0 && offered&CapSSL == 0 {
		return HandshakeResponse{}, fmt.Errorf("handshake response asks for TLS, which was not offered: %w", ErrMalformedPacket)
	}
	caps := r.Capabilities & offered
	r.User = string(f.bytesNUL())
	switch {
	case caps&CapLenencAuth != 0:
		r.Auth = f.bytesLenenc()
	case caps&CapSecureConnection != 0:
		r.Auth = f.take(uint64(f.u8()))
	default:
		r.Auth = f.bytesNUL()
	}
	if caps&CapConnectWithDB != 0 {
		r.Schema = string(f.bytesNUL())
	}
	if caps&CapPluginAuth != 0 {
		r.Plugin = string(f.bytesNUL())
	}
	if caps&CapConnectAttrs != 0 && len(f.b) > 0 {
		r.Attrs = f.attrs()
	}
	if f.bad {
		return HandshakeResponse{}, fmt.Errorf("handshake response: %w", ErrMalformedPacket)
	}
	return r, nil
}

// attrs reads connection attributes: pairs of length-encoded strings under one length.
func (f *fields) attrs() map[string]string {
	block := fields{b: f.bytesLenenc()}
	attrs := map[string]string{}
	for len(block.b) > 0 && !block.bad {
		key := string(block.bytesLenenc())
		attrs[key] = string(block.bytesLenenc())
	}
	f.bad = f.bad || block.bad
	return attrs
}

// Append appends the payload. The fields that Capabilities allow are written, in the order of the attributes' names.
func (r HandshakeResponse) Append(b []byte) []byte {
	b = append(append(r.AppendTLSRequest(b), r.User...), 0)
	switch {
	case r.Capabilities&CapLenencAuth != 0:
		b = appendLenencString(b, r.Auth)
	case r.Capabilities&CapSecureConnection != 0:
		b = append(append(b, byte(len(r.Auth))), r.Auth...)
	default:
		b = append(append(b, r.Auth...), 0)
	}
	if r.Capabilities&CapConnectWithDB != 0 {
		b = append(append(b, r.Schema...), 0)
	}
	if r.Capabilities&CapPluginAuth != 0 {
		b = append(append(b, r.Plugin...), 0)
	}
	if r.Capabilities&CapConnectAttrs != 0 {
		var block []byte
		for _, key := range slices.Sorted(maps.Keys(r.Attrs)) {
			block = appendLenencString(block, key)
			block = appendLenencString(block, r.Attrs[key])
		}
		b = appendLenencString(b, block)
	}
	return b
}
