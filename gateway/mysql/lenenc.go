package mysql

import (
	"bytes"
	"encoding/binary"
)

// fields reads the fields of a payload in order. After the first field that exceeds the payload everything reads as
// zero and bad is set, so that callers check once.
type fields struct {
	b   []byte
	bad bool
}

func (f *fields) take(n uint64) []byte {
	if f.bad || n > uint64(len(f.b)) {
		f.bad = true
		return nil
	}
	v := f.b[:n:n]
	f.b = f.b[n:]
	return v
}

func (f *fields) u8() byte {
	if v := f.take(1); v != nil {
		return v[0]
	}
	return 0
}

func (f *fields) u16() uint16 {
	if v := f.take(2); v != nil {
		return binary.LittleEndian.Uint16(v)
	}
	return 0
}

func (f *fields) u32() uint32 {
	if v := f.take(4); v != nil {
		return binary.LittleEndian.Uint32(v)
	}
	return 0
}

// lenenc reads a length-encoded integer. The NULL mark 0xFB and 0xFF are bad.
func (f *fields) lenenc() uint64 {
	switch head := f.u8(); head {
	case 0xfb, 0xff:
		f.bad = true
		return 0
	case 0xfc:
		return uint64(f.u16())
	case 0xfd:
		if v := f.take(3); v != nil {
			return uint64(v[0]) | uint64(v[1])<<8 | uint64(v[2])<<16
		}
		return 0
	case 0xfe:
		if v := f.take(8); v != nil {
			return binary.LittleEndian.Uint64(v)
		}
		return 0
	default:
		return uint64(head)
	}
}

// bytesLenenc reads a length-encoded string.
func (f *fields) bytesLenenc() []byte { return f.take(f.lenenc()) }

// bytesNUL reads a string that ends with a NUL, which must be there.
func (f *fields) bytesNUL() []byte {
	i := bytes.IndexByte(f.b, 0)
	if i < 0 {
		f.bad = true
		return nil
	}
	v := f.take(uint64(i))
	f.take(1)
	return v
}

// rest reads all that is left.
func (f *fields) rest() []byte { return f.take(uint64(len(f.b))) }

// appendLenenc appends a length-encoded integer.
func appendLenenc(b []byte, v uint64) []byte {
	switch {
	case v < 0xfb:
		return append(b, byte(v))
	case v < 1<<16:
		return binary.LittleEndian.AppendUint16(append(b, 0xfc), uint16(v))
	case v < 1<<24:
		return append(b, 0xfd, byte(v), byte(v>>8), byte(v>>16))
	default:
		return binary.LittleEndian.AppendUint64(append(b, 0xfe), v)
	}
}

// appendLenencString appends a length-encoded string.
func appendLenencString[T string | []byte](b []byte, s T) []byte {
	return append(appendLenenc(b, uint64(len(s))), s...)
}
