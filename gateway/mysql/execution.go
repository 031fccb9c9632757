package mysql

import "fmt"

// executionHead is the part of a COM_STMT_EXECUTE that every one has: command, statement id, flags and iterations.
const executionHead = 1 + 4 + 1 + 4

// parametersCounted is the flag of a COM_STMT_EXECUTE whose count of parameters includes query attributes.
const parametersCounted = 0x08

// Execution says where a COM_STMT_EXECUTE has what concerns its parameters' types, which clients may leave out when they
// have not changed.
type Execution struct {
	// Params counts the parameters, query attributes included; without any there are no types and no flag.
	Params int
	// Flag is the place in the payload of the byte that says whether types follow: 1 if they do.
	Flag int
	// Bound says that types follow.
	Bound bool
	// Types are the types, with names under QUERY_ATTRIBUTES, as sent. They are part of the payload.
	Types []byte
}

// Execution reads the client's current COM_STMT_EXECUTE of a statement with so many parameters. The error is
// [ErrMalformedPacket], also when what is in memory of the command ends before the types do.
func (c *Conn) Execution(params int) (Execution, error) {
	f := fields{b: c.cmd.Payload}
	flags := byte(0)
	if head := f.take(executionHead); head != nil {
		flags = head[5]
	}
	named := c.Capabilities&CapQueryAttributes != 0
	count := uint64(params)
	switch {
	case params == 0 && (!named || flags&parametersCounted == 0):
		count = 0
	case named:
		count = f.lenenc()
	}
	if f.bad || count > 1<<16 {
		return Execution{}, fmt.Errorf("execute: %w", ErrMalformedPacket)
	}
	if count == 0 {
		return Execution{}, nil
	}
	f.take((count + 7) / 8) // which are NULL
	e := Execution{Params: int(count), Flag: len(c.cmd.Payload) - len(f.b)}
	e.Bound = f.u8() == 1
	if e.Bound {
		types := f.b
		for range count {
			f.u16()
			if named {
				f.bytesLenenc()
			}
		}
		e.Types = types[:len(types)-len(f.b)]
	}
	if f.bad {
		return Execution{}, fmt.Errorf("execute: %w", ErrMalformedPacket)
	}
	return e, nil
}
