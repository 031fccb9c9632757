package mysql

import (
	"bytes"
	"io"
	"net"
	"time"
)

// memConn is a connection whose incoming bytes are given and whose outgoing ones are kept.
type memConn struct {
	in         []byte
	chunk      int // Most bytes for one Read; 0 means all.
	out        bytes.Buffer
	discard    bool
	writes     int
	writeErr   error // From the write after goodWrites on.
	goodWrites int
}

func (m *memConn) Read(p []byte) (int, error) {
	if len(m.in) == 0 {
		return 0, io.EOF
	}
	n := len(p)
	if m.chunk > 0 {
		n = min(n, m.chunk)
	}
	n = copy(p[:n], m.in)
	m.in = m.in[n:]
	return n, nil
}

func (m *memConn) Write(p []byte) (int, error) {
	m.writes++
	if m.writeErr != nil && m.writes > m.goodWrites {
		return 0, m.writeErr
	}
	if m.discard {
		return len(p), nil
	}
	return m.out.Write(p)
}

func (*memConn) Close() error        { return nil }
func (*memConn) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (*memConn) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 2} }
func (*memConn) SetDeadline(time.Time) error      { return nil }
func (*memConn) SetReadDeadline(time.Time) error  { return nil }
func (*memConn) SetWriteDeadline(time.Time) error { return nil }

// frame splits payloads into packets numbered from seq on.
func frame(seq byte, payloads ...[]byte) []byte {
	var b []byte
	for _, p := range payloads {
		for {
			n := min(len(p), MaxFragment)
			b = append(appendHeader(b, n, seq), p[:n]...)
			seq++
			p = p[n:]
			if n < MaxFragment {
				break
			}
		}
	}
	return b
}

func column(name string) []byte { return appendColumn(nil, Column{Name: name}) }

func row(values ...string) []byte {
	b := []byte{}
	for _, v := range values {
		b = appendLenencString(b, v)
	}
	return b
}
