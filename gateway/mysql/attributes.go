package mysql

import "fmt"

// maxAttributes is the largest block of query attributes that is taken, in bytes.
const maxAttributes = 1 << 20

// QueryText gives the text of the client's current COM_QUERY, as far as it is in memory. Under QUERY_ATTRIBUTES a block of
// attributes comes before it, which must be in memory whole: else the error is [ErrMalformedPacket].
func (c *Conn) QueryText() ([]byte, error) {
	n, err := c.attributes()
	if err != nil {
		return nil, err
	}
	return c.cmd.Arg()[n:], nil
}

// attributes gives the length of the block before the text of the current command.
func (c *Conn) attributes() (int, error) {
	if c.Capabilities&CapQueryAttributes == 0 || c.cmd.Code != ComQuery {
		return 0, nil
	}
	arg := c.cmd.Arg()
	f := fields{b: arg}
	count, sets := f.lenenc(), f.lenenc()
	if count > 0 {
		f.values(count)
	}
	n := len(arg) - len(f.b)
	if f.bad || sets != 1 || n > maxAttributes {
		return 0, fmt.Errorf("query attributes: %w", ErrMalformedPacket)
	}
	return n, nil
}

// values reads parameters as COM_QUERY has them: which are NULL, types with names, and the values.
func (f *fields) values(count uint64) {
	if count > uint64(len(f.b)) { // each takes more than a byte
		f.bad = true
		return
	}
	nulls := f.take((count + 7) / 8)
	if f.u8() != 1 { // types are there: there is no earlier time to have sent them
		f.bad = true
	}
	types := f.b
	for range count {
		f.u16()
		f.bytesLenenc()
	}
	if f.bad {
		return
	}
	t := fields{b: types[:len(types)-len(f.b)]}
	for i := range count {
		kind := byte(t.u16())
		t.bytesLenenc()
		if nulls[i/8]&(1<<(i%8)) == 0 {
			f.value(kind)
		}
	}
}

// value reads one value of the binary protocol.
func (f *fields) value(kind byte) {
	switch kind {
	case 0x06: // NULL
	case 0x01: // TINY
		f.take(1)
	case 0x02, 0x0d: // SHORT, YEAR
		f.take(2)
	case 0x03, 0x04, 0x09: // LONG, FLOAT, INT24
		f.take(4)
	case 0x05, TypeLongLong: // DOUBLE
		f.take(8)
	case 0x07, 0x0a, 0x0b, 0x0c, 0x0e, 0x11, 0x12, 0x13: // dates and times, with their length before them
		f.take(uint64(f.u8()))
	default: // texts, blobs, decimals
		f.bytesLenenc()
	}
}
