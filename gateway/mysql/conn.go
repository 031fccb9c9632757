package mysql

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// bufferSize is the size of a connection's read buffer in bytes. Rows flow through it, so it is also the largest write.
const bufferSize = 32 << 10

// loginBuffer is its size in bytes while a connection is not logged in yet or waits for a command, so that idle ones cost
// little.
const loginBuffer = 1 << 10

// buffers are those of connections that wait.
var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// headerSize is the size of a packet header: a 3-byte length and the sequence number.
const headerSize = 4

// Conn is a network connection that carries MySQL packets, to a client or to a backend.
type Conn struct {
	// Capabilities are the negotiated ones. Set by Handshake and by gateway/pool.
	Capabilities uint32

	raw     net.Conn                 // The socket.
	secure  atomic.Pointer[tls.Conn] // TLS upon it, once begun. Close and Peer are called by other goroutines too.
	nc      net.Conn                 // What packets go through: one of the two.
	buf     []byte
	small   []byte // What buf is while little is read.
	r, w    int    // Bytes that were read and not used yet are buf[r:w].
	seq     byte   // Sequence number of the next packet in either direction.
	out     []byte // Scratch for packets built here.
	cmd     Command
	scan    scan
	outcome Outcome // Of the scan under way; here so that it needs no allocation.

	socket socket

	tlsOffer     *tls.Config // What a client may ask for; nil: nothing.
	tlsRequired  bool
	salt         []byte // The challenge sent to a client; COM_CHANGE_USER is answered with it too.
	writeTimeout time.Duration
	writeUntil   time.Time

	received, sent atomic.Uint64 // bytes; one goroutine counts, others look
}

// NewConn wraps a connection from which nothing was read yet, or nothing beyond a whole packet.
func NewConn(nc net.Conn) *Conn {
	c := &Conn{raw: nc, nc: nc, small: make([]byte, loginBuffer)}
	c.buf = c.small
	c.initSocket(nc)
	return c
}

// Received and Sent give the bytes read and written so far. Any goroutine may ask.
func (c *Conn) Received() uint64 { return c.received.Load() }

// Sent is explained at Received.
func (c *Conn) Sent() uint64 { return c.sent.Load() }

// NetConn returns the socket, for its addresses and deadlines. Reading or writing it breaks the Conn.
func (c *Conn) NetConn() net.Conn { return c.raw }

// Close closes the connection at once, with no more than the farewell of TLS.
func (c *Conn) Close() error {
	if c.shut() {
		return nil
	}
	if secure := c.secure.Load(); secure != nil {
		return secure.Close()
	}
	return c.raw.Close()
}

// grow makes the read buffer fit for commands and rows.
func (c *Conn) grow() {
	if len(c.buf) < bufferSize {
		buf := buffers.Get().(*[bufferSize]byte)[:]
		c.r, c.w = 0, copy(buf, c.buf[c.r:c.w])
		c.buf = buf
	}
}

// shrink gives the large buffer back, unless something in it was not used yet.
func (c *Conn) shrink() {
	if len(c.buf) == bufferSize && c.r == c.w {
		buffers.Put((*[bufferSize]byte)(c.buf))
		c.buf, c.r, c.w = c.small, 0, 0
	}
}

// SetWriteTimeout limits how long the other side may leave written bytes unread, so that a stuck client frees its
// backend. The limit is between once and twice d. 0 means no limit.
func (c *Conn) SetWriteTimeout(d time.Duration) { c.writeTimeout = 2 * d }

// Within runs f with ctx's deadline and cancellation on the connection, and takes both off again. When ctx ends first,
// f's reads and writes fail and Within returns ctx's error.
func (c *Conn) Within(ctx context.Context, f func() error) error {
	nc := c.raw
	c.writeUntil = time.Time{} // Its deadline is lost here.
	if err := ctx.Err(); err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok {
		if err := nc.SetDeadline(deadline); err != nil {
			return fmt.Errorf("set deadline: %w", err)
		}
	}
	cut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(cut)
		_ = nc.SetDeadline(time.Unix(1, 0)) // A closed connection needs no cutting.
	})
	err := f()
	if !stop() {
		<-cut
	}
	_ = nc.SetDeadline(time.Time{}) // A closed connection shows at its next use.
	if cerr := ctx.Err(); cerr != nil && err != nil {
		return errors.Join(cerr, err)
	}
	if err != nil && isTimeout(err) {
		return errors.Join(context.DeadlineExceeded, err) // The connection's timer was faster than the context's.
	}
	return err
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

// rewind begins the buffer anew when all of it was used.
func (c *Conn) rewind() {
	if c.r == c.w {
		c.r, c.w = 0, 0
	}
}

// need makes n bytes, at most the buffer's size, available at buf[r:]. io.EOF means that not one byte came.
func (c *Conn) need(n int) error {
	c.rewind()
	if c.r+n > len(c.buf) {
		c.w = copy(c.buf, c.buf[c.r:c.w])
		c.r = 0
	}
	for c.w-c.r < n {
		m, err := c.read(c.buf[c.w:])
		c.w += m
		c.received.Add(uint64(m))
		if err != nil && c.w-c.r < n {
			if errors.Is(err, io.EOF) && c.w > c.r {
				return io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// readFull fills b from the buffer and then from the network.
func (c *Conn) readFull(b []byte) error {
	n := copy(b, c.buf[c.r:c.w])
	c.r += n
	for n < len(b) {
		m, err := c.read(b[n:])
		c.received.Add(uint64(m))
		if n += m; err != nil && n < len(b) {
			return unexpected(err)
		}
	}
	return nil
}

// ReadPacket reads one packet of the connection phase with at most limit payload bytes, which must be below
// [MaxFragment]. The payload is valid until the next read. A larger one is [ErrPacketTooLarge] and is not read; nor is one with
// a wrong number, [ErrOutOfOrder]. What is written then answers that packet: clients take no other number.
func (c *Conn) ReadPacket(limit int) ([]byte, error) {
	if err := c.need(headerSize); err != nil {
		return nil, err
	}
	length, want := packetLength(c.buf[c.r:]), c.seq
	c.seq = c.buf[c.r+3] + 1
	if length > limit || length >= MaxFragment {
		return nil, ErrPacketTooLarge
	}
	if c.seq != want+1 {
		return nil, ErrOutOfOrder
	}
	if headerSize+length <= len(c.buf) {
		if err := c.need(headerSize + length); err != nil {
			return nil, unexpected(err)
		}
		payload := c.buf[c.r+headerSize : c.r+headerSize+length]
		c.r += headerSize + length
		return payload, nil
	}
	c.r += headerSize
	return c.readGrowing(length)
}

// readGrowing reads n bytes into memory that grows with what has come, not with what was announced.
func (c *Conn) readGrowing(n int) ([]byte, error) {
	b := make([]byte, 0, min(n, 4*loginBuffer))
	for {
		from := len(b)
		b = b[:min(n, cap(b))]
		if err := c.readFull(b[from:]); err != nil {
			return nil, unexpected(err)
		}
		if len(b) == n {
			return b, nil
		}
		b = slices.Grow(b, len(b))
	}
}

// WritePacket writes one payload of any size, split where the protocol says so.
func (c *Conn) WritePacket(payload []byte) error {
	n, err := c.writeFragments(nil, payload, c.seq)
	c.seq += n
	return err
}

// writeFragments writes head and payload as one payload, whose first packet has number seq. It returns how many packets
// that took. head is of at most maxAttributes bytes and a few.
func (c *Conn) writeFragments(head, payload []byte, seq byte) (packets byte, err error) {
	total := len(head) + len(payload)
	if headerSize+total <= bufferSize {
		c.out = appendHeader(c.out[:0], total, seq)
		c.out = append(append(c.out, head...), payload...)
		return 1, c.write(c.out)
	}
	defer func() {
		if cap(c.out) > bufferSize {
			c.out = nil // had a large head
		}
	}()
	for {
		length := min(len(head)+len(payload), MaxFragment)
		c.out = append(appendHeader(c.out[:0], length, seq+packets), head...)
		n := length - len(head)
		if err := c.write(c.out); err != nil {
			return packets, err
		}
		if n > 0 {
			if err := c.write(payload[:n]); err != nil {
				return packets, err
			}
		}
		packets++
		head, payload = nil, payload[n:]
		if length < MaxFragment {
			return packets, nil
		}
	}
}

// write writes b whole, under the write timeout.
func (c *Conn) write(b []byte) error {
	if c.writeTimeout > 0 {
		// Moving the deadline costs more than reading the clock, so it moves when half of it is used up.
		if now := time.Now(); c.writeUntil.Sub(now) < c.writeTimeout/2 {
			c.writeUntil = now.Add(c.writeTimeout)
			if err := c.raw.SetWriteDeadline(c.writeUntil); err != nil {
				return err
			}
		}
	}
	n, err := c.send(b)
	c.sent.Add(uint64(n))
	return err
}

func packetLength(header []byte) int {
	return int(header[0]) | int(header[1])<<8 | int(header[2])<<16
}

func appendHeader(b []byte, length int, seq byte) []byte {
	return append(b, byte(length), byte(length>>8), byte(length>>16), seq)
}

// unexpected turns the end of a stream inside a packet into io.ErrUnexpectedEOF.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
