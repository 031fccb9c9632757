package mysql

import "encoding/binary"

// Types of columns in a local result set.
const (
	TypeLongLong  byte = 0x08
	TypeVarString byte = 0xfd
)

// Column is a column of a local result set.
type Column struct {
	Name    string
	Type    byte  // TypeLongLong or TypeVarString; 0 means TypeVarString.
	Charset byte  // Collation id; 0 means utf8mb4_general_ci for text and binary for numbers.
	NotNull bool  // Sets the NOT_NULL flag.
	Length  int32 // Display length in characters; 0 means a default.
}

// WriteResultset answers the current command with a small text result set, in one write. In rows, a nil value is NULL.
// No row may be 16 MiB or larger. Each row has one value for each column.
func (c *Conn) WriteResultset(columns []Column, rows [][][]byte, status, warnings uint16) error {
	if err := c.Drain(); err != nil {
		return err
	}
	b := c.packet(c.out[:0], func(b []byte) []byte { return appendLenenc(b, uint64(len(columns))) })
	for _, col := range columns {
		b = c.packet(b, func(b []byte) []byte { return appendColumn(b, col) })
	}
	if c.Capabilities&CapDeprecateEOF == 0 {
		b = c.packet(b, func(b []byte) []byte { return appendEOF(b, status, 0) })
	}
	for _, row := range rows {
		b = c.packet(b, func(b []byte) []byte { return appendRow(b, row) })
	}
	c.out = c.packet(b, func(b []byte) []byte { return c.appendEnd(b, status, warnings) })
	return c.write(c.out)
}

func appendColumn(b []byte, col Column) []byte {
	const (
		utf8mb4, binaryCharset = 45, 63
		flagNotNull, flagBin   = 1, 128
	)
	kind, charset, length, flags := col.Type, col.Charset, col.Length, uint16(0)
	if kind == 0 {
		kind = TypeVarString
	}
	if kind == TypeLongLong {
		flags |= flagBin
	}
	if charset == 0 {
		charset = utf8mb4
		if kind == TypeLongLong {
			charset = binaryCharset
		}
	}
	if length == 0 {
		length = 1024
		if kind == TypeLongLong {
			length = 21
		}
	}
	if col.NotNull {
		flags |= flagNotNull
	}
	b = appendLenencString(b, "def")
	b = append(b, 0, 0, 0) // Schema, table and original table are unnamed.
	b = appendLenencString(b, col.Name)
	b = append(b, 0)    // Original name.
	b = append(b, 0x0c) // Length of the fixed fields that follow.
	b = append(b, charset, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(length))
	b = append(b, kind)
	b = binary.LittleEndian.AppendUint16(b, flags)
	return append(b, 0, 0, 0) // Decimals and filler.
}

func appendRow(b []byte, row [][]byte) []byte {
	for _, v := range row {
		if v == nil {
			b = append(b, headInfile) // The same byte stands for NULL in rows.
			continue
		}
		b = appendLenencString(b, v)
	}
	return b
}
