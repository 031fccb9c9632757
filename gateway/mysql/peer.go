package mysql

// PeerState is what a glance at an idle connection shows.
type PeerState int

// What the other side of a connection has done.
const (
	PeerQuiet    PeerState = iota // Open, and nothing to read. Also said of connections that can't be looked at.
	PeerReadable                  // Bytes wait: the next command of a client, the farewell of a backend.
	PeerGone                      // Closed or broken.
)

// Peer looks at the connection without blocking and without taking anything from it. It may be called while another
// goroutine uses the Conn, to notice a client that gave up during a statement; what is buffered is then not looked at.
func (c *Conn) Peer() PeerState { return peek(c.nc) }

// Idle reports whether the connection is open and has nothing to read, in its buffer or on the network, as is right
// for a backend between two commands. Only the owning goroutine may ask.
func (c *Conn) Idle() bool { return c.r == c.w && peek(c.nc) == PeerQuiet }
