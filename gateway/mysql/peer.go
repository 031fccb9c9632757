package mysql

// PeerState is what a glance at an idle connection shows.
type PeerState int

// What the other side of a connection has done.
const (
	PeerQuiet    PeerState = iota // Open, and nothing to read. Also said of connections that can't be looked at.
	PeerReadable                  // Bytes wait: the next command of a client, the farewell of a backend.
	PeerGone                      // Closed or broken.
)

// glance is what was seen of a socket: its state, and the first bytes that wait there.
type glance struct {
	state PeerState
	n     int
	head  [recordHeader]byte
}

// Peer looks at the connection without blocking and without taking anything from it. It may be called while another
// goroutine uses the Conn, to notice a client that gave up during a statement; what is buffered is then not looked at.
// The farewell of TLS counts as gone: it comes before the socket's end, and may stay unread for long.
func (c *Conn) Peer() PeerState {
	g := peek(c.raw)
	if g.state == PeerReadable && c.secure.Load() != nil && isAlert(g.head[:g.n]) {
		return PeerGone
	}
	return g.state
}

// Idle reports whether the connection is open and has nothing to read, in its buffer or on the network, as is right
// for a backend between two commands. Only the owning goroutine may ask. The tickets of TLS 1.3 do not disturb: servers
// send them before they read the login, so they were read with its answer.
func (c *Conn) Idle() bool { return c.r == c.w && c.silent() }
