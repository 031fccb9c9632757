//go:build !linux

package mysql

import "net"

// socket is for systems whose sockets can be read without waiting.
type socket struct{}

func (*Conn) initSocket(net.Conn) {}

// ask writes b whole; the answer is read later.
func (c *Conn) ask(b []byte) error { return c.write(b) }

func (c *Conn) read(b []byte) (int, error) { return c.nc.Read(b) }

// Serve runs f, which owns the connection, and returns its error.
func (*Conn) Serve(f func() error) error { return f() }

func (c *Conn) send(b []byte) (int, error) { return c.nc.Write(b) }

func (c *Conn) silent() bool { return peek(c.raw).state == PeerQuiet }

func (*Conn) shut() bool { return false }
