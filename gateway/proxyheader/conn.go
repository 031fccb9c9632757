package proxyheader

import (
	"bufio"
	"errors"
	"fmt"
	"net"

	"github.com/pires/go-proxyproto"
)

// bufferSize holds every header without extensions, in bytes.
const bufferSize = 256

// errMore says that a client spoke before it was greeted.
var errMore = errors.New("PROXY protocol header: more bytes follow before the greeting")

// Conn is a connection from a proxy. It must begin with a header.
type Conn struct {
	*net.TCPConn
	client net.Addr // nil: the proxy speaks for itself
}

// ReadHeader reads the header, within the connection's deadline and before anything else is read. An error leaves the
// connection unusable; it is io.EOF when the proxy left without a word.
func (c *Conn) ReadHeader() error {
	r := bufio.NewReaderSize(c.TCPConn, bufferSize)
	if _, err := r.Peek(1); err != nil {
		return err
	}
	h, err := proxyproto.Read(r)
	if err != nil {
		return fmt.Errorf("PROXY protocol header: %w", err)
	}
	if r.Buffered() > 0 {
		return errMore
	}
	if client, ok := h.SourceAddr.(*net.TCPAddr); ok && !h.Command.IsLocal() && !h.TransportProtocol.IsUnspec() {
		c.client = client
	}
	return nil
}

// RemoteAddr is the address of the client that the proxy speaks for, once the header was read; that of the proxy when it
// named none.
func (c *Conn) RemoteAddr() net.Addr {
	if c.client != nil {
		return c.client
	}
	return c.TCPConn.RemoteAddr()
}
