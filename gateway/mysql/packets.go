package mysql

import (
	"encoding/binary"
	"fmt"
)

// OK is the content of an OK packet.
type OK struct {
	AffectedRows uint64
	LastInsertID uint64
	Status       uint16
	Warnings     uint16
	Info         string
}

// appendOK appends an OK packet's payload as a client without SESSION_TRACK reads it. head is headOK, or headEOF for
// the end of rows under DEPRECATE_EOF. Servers put a length before the info text in any case, whatever the protocol's
// description says, and the C client libraries look for it.
func appendOK(b []byte, head byte, ok OK) []byte {
	b = append(b, head)
	b = appendLenenc(b, ok.AffectedRows)
	b = appendLenenc(b, ok.LastInsertID)
	b = binary.LittleEndian.AppendUint16(b, ok.Status&^StatusSessionStateChanged)
	b = binary.LittleEndian.AppendUint16(b, ok.Warnings)
	if ok.Info == "" {
		return b
	}
	return appendLenencString(b, ok.Info)
}

// appendEOF appends a classic EOF packet's payload.
func appendEOF(b []byte, status, warnings uint16) []byte {
	b = append(b, headEOF)
	b = binary.LittleEndian.AppendUint16(b, warnings)
	return binary.LittleEndian.AppendUint16(b, status)
}

// appendErr appends an ERR packet's payload. SQLSTATE is HY000 unless given with its 5 characters.
func appendErr(b []byte, e *Error) []byte {
	b = append(b, headErr)
	b = binary.LittleEndian.AppendUint16(b, e.Code)
	b = append(b, '#')
	if len(e.State) == 5 {
		b = append(b, e.State...)
	} else {
		b = append(b, "HY000"...)
	}
	return append(b, e.Message[:min(len(e.Message), maxErrorText)]...)
}

// maxErrorText is how much of an error text clients have room for, in bytes.
const maxErrorText = 512

// ParseOK reads the payload of an OK packet as a login ends with. The info text is left out.
func ParseOK(payload []byte) (OK, error) {
	f := fields{b: payload}
	head := f.u8()
	ok := OK{AffectedRows: f.lenenc(), LastInsertID: f.lenenc(), Status: f.u16(), Warnings: f.u16()}
	if f.bad || head != headOK {
		return OK{}, fmt.Errorf("OK: %w", ErrMalformedPacket)
	}
	return ok, nil
}

// ParseError reads the payload of an ERR packet, with or without SQLSTATE. It is lenient: what is missing is empty.
func ParseError(payload []byte) *Error {
	f := fields{b: payload}
	f.u8()
	e := &Error{Code: f.u16()}
	if len(f.b) >= 6 && f.b[0] == '#' {
		f.u8()
		e.State = string(f.take(5))
	}
	e.Message = string(f.rest())
	return e
}

// WriteOK answers the current command, or ends a login, with an OK packet.
func (c *Conn) WriteOK(ok OK) error {
	return c.reply(func(b []byte) []byte { return appendOK(b, headOK, ok) })
}

// WriteError answers the current command or login with an ERR packet. Before the greeting it refuses the client, with
// [CodeTooManyConnections] for instance.
func (c *Conn) WriteError(e *Error) error {
	return c.reply(func(b []byte) []byte { return appendErr(b, e) })
}

// WriteFarewell tells a client that waits, and has asked nothing, why its connection ends. It bears the number that the answer
// to the next command would, as which clients read it.
func (c *Conn) WriteFarewell(e *Error) error {
	c.seq = 1
	return c.WriteError(e)
}

// WriteEOF answers the current command with the end of rows: a classic EOF or, under DEPRECATE_EOF, its OK form.
func (c *Conn) WriteEOF(status, warnings uint16) error {
	return c.reply(func(b []byte) []byte { return c.appendEnd(b, status, warnings) })
}

func (c *Conn) appendEnd(b []byte, status, warnings uint16) []byte {
	if c.Capabilities&CapDeprecateEOF != 0 {
		return appendOK(b, headEOF, OK{Status: status, Warnings: warnings})
	}
	return appendEOF(b, status, warnings)
}

// reply writes one packet made by build.
func (c *Conn) reply(build func([]byte) []byte) error {
	if err := c.Drain(); err != nil {
		return err
	}
	c.out = c.packet(c.out[:0], build)
	return c.write(c.out)
}

// packet appends one packet made by build, of at most MaxFragment-1 bytes.
func (c *Conn) packet(b []byte, build func([]byte) []byte) []byte {
	at := len(b)
	b = build(appendHeader(b, 0, c.seq))
	appendHeader(b[:at], len(b)-at-headerSize, c.seq)
	c.seq++
	return b
}
