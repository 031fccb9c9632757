package mysql

import (
	"bytes"
	"fmt"
	"slices"
)

// Command is one command of a client. It is valid until the next [Conn.ReadCommand].
type Command struct {
	// Code is the command byte; an empty packet counts as [ComSleep].
	Code byte
	// Payload begins with the command byte and holds the command as far as it is in memory: whole if Complete, else
	// its first part. It may be changed in place, to put in a server's statement id for instance.
	Payload []byte
	// Complete says that Payload is the whole command.
	Complete bool

	raw       []byte // The first packet with its header, as far as it is in the buffer; nil once gathered.
	gathered  []byte // Room for a header and then Payload.
	lastLen   int    // Length of the last packet whose header was read.
	left      int    // Bytes of that packet that were not read yet.
	more      bool   // Another packet follows it.
	fragments int    // Headers read.
	sent      bool   // The part that is not in Payload went to some backend: it can't be sent again.
}

// Arg returns what follows the command byte in Payload.
func (cmd *Command) Arg() []byte {
	if len(cmd.Payload) == 0 {
		return nil
	}
	return cmd.Payload[1:]
}

// Replayable says whether the command can be sent to another backend after a first one failed.
func (cmd *Command) Replayable() bool { return cmd.Complete || !cmd.sent }

// ReadCommand waits for the next command. What is left of an earlier one is read and dropped. Commands up to the buffer's
// size, 32 KiB with header, come complete; of larger ones the first part comes, [Conn.Gather] reads on, and [Relay] streams
// the rest. io.EOF means that the client closed the connection between two commands. After any error the connection
// can't be used for reading again.
func (c *Conn) ReadCommand() (*Command, error) {
	if err := c.Drain(); err != nil {
		return nil, err
	}
	c.cmd = Command{} // A session that waits holds no statement in memory.
	c.shrink()
	if err := c.need(headerSize); err != nil {
		return nil, err
	}
	if c.buf[c.r+3] != 0 {
		return nil, ErrOutOfOrder
	}
	length := packetLength(c.buf[c.r:])
	inline := min(headerSize+length, bufferSize)
	if inline > len(c.buf) {
		c.grow()
	}
	if err := c.need(inline); err != nil {
		return nil, unexpected(err)
	}
	raw := c.buf[c.r : c.r+inline]
	c.r += inline
	c.cmd = Command{
		Code: ComSleep, Payload: raw[headerSize:], raw: raw,
		lastLen: length, left: headerSize + length - inline, more: length == MaxFragment, fragments: 1,
	}
	c.cmd.Complete = c.cmd.left == 0 && !c.cmd.more
	if length > 0 {
		c.cmd.Code = raw[headerSize]
	}
	c.seq = 1
	return &c.cmd, nil
}

// Gather reads on until the payload of the current command is complete or holds limit bytes. Memory grows with what
// has come, not with what the client announced.
func (c *Conn) Gather(limit int) error {
	cmd := &c.cmd
	for !cmd.Complete && len(cmd.Payload) < limit {
		if cmd.gathered == nil {
			cmd.gathered = slices.Clone(cmd.raw)
			cmd.raw = nil
		}
		if cmd.left == 0 {
			if err := c.nextFragment(); err != nil {
				return err
			}
		}
		n := min(cmd.left, limit-len(cmd.Payload), max(len(cmd.gathered), bufferSize))
		old := len(cmd.gathered)
		cmd.gathered = slices.Grow(cmd.gathered, n)[:old+n]
		if err := c.readFull(cmd.gathered[old:]); err != nil {
			return unexpected(err)
		}
		cmd.left -= n
		cmd.Payload = cmd.gathered[headerSize:]
		cmd.Complete = cmd.left == 0 && !cmd.more
	}
	return nil
}

// nextFragment reads the header of the command's next packet.
func (c *Conn) nextFragment() error {
	if err := c.need(headerSize); err != nil {
		return unexpected(err)
	}
	cmd := &c.cmd
	if c.buf[c.r+3] != byte(cmd.fragments) {
		return ErrOutOfOrder
	}
	cmd.lastLen = packetLength(c.buf[c.r:])
	cmd.left, cmd.more = cmd.lastLen, cmd.lastLen == MaxFragment
	cmd.fragments++
	c.seq = byte(cmd.fragments)
	c.r += headerSize
	return nil
}

// Drain reads and drops what was not read of the current command, so that it can be answered. The writers of local
// answers do so themselves. Payload is lost when the command was neither complete nor gathered.
func (c *Conn) Drain() error {
	return c.streamRest(nil)
}

// streamRest sends what was not read of the current command to a backend, packet headers included, or drops it when dst is nil.
func (c *Conn) streamRest(dst *Conn) error {
	cmd := &c.cmd
	for cmd.left > 0 || cmd.more {
		cmd.sent = true
		if cmd.left == 0 {
			if err := c.nextFragment(); err != nil {
				return &SideError{Side: SideClient, Op: "read", Err: err}
			}
			if dst != nil {
				if err := dst.write(c.buf[c.r-headerSize : c.r]); err != nil {
					return &SideError{Side: SideBackend, Op: "write", Err: err}
				}
			}
			continue
		}
		if c.r == c.w {
			if err := c.need(1); err != nil {
				return &SideError{Side: SideClient, Op: "read", Err: unexpected(err)}
			}
		}
		n := min(cmd.left, c.w-c.r)
		if dst != nil {
			if err := dst.write(c.buf[c.r : c.r+n]); err != nil {
				return &SideError{Side: SideBackend, Op: "write", Err: err}
			}
		}
		c.r += n
		cmd.left -= n
	}
	return nil
}

// sendCommand sends the current command to a backend as it came. answered: it has an answer.
func (c *Conn) sendCommand(dst *Conn, answered bool) error {
	cmd := &c.cmd
	if cmd.sent {
		return fmt.Errorf("send a command whose end is gone: %w", ErrUnsupported)
	}
	if cmd.raw != nil && cmd.Complete && answered {
		if err := dst.ask(cmd.raw); err != nil {
			return &SideError{Side: SideBackend, Op: "write", Err: err}
		}
		return nil
	}
	if cmd.raw != nil {
		if err := dst.write(cmd.raw); err != nil {
			return &SideError{Side: SideBackend, Op: "write", Err: err}
		}
		return c.streamRest(dst)
	}
	payload := cmd.Payload
	for i := range cmd.fragments {
		length := MaxFragment
		if i == cmd.fragments-1 {
			length = cmd.lastLen
		}
		part := payload[:min(len(payload), MaxFragment)]
		dst.out = appendHeader(dst.out[:0], length, byte(i))
		if i == 0 {
			part = cmd.gathered[:headerSize+len(part)]
			copy(part, dst.out)
			payload = payload[len(part)-headerSize:]
		} else {
			if err := dst.write(dst.out); err != nil {
				return &SideError{Side: SideBackend, Op: "write", Err: err}
			}
			payload = payload[len(part):]
		}
		if len(part) > 0 {
			if err := dst.write(part); err != nil {
				return &SideError{Side: SideBackend, Op: "write", Err: err}
			}
		}
	}
	return c.streamRest(dst)
}

// CutNUL returns b up to its first NUL, as commands with a name in them are read.
func CutNUL(b []byte) []byte {
	name, _, _ := bytes.Cut(b, []byte{0})
	return name
}
