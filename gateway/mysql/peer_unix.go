//go:build unix

package mysql

import (
	"errors"
	"net"
	"syscall"
)

func peek(nc net.Conn) glance {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return glance{}
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return glance{state: PeerGone}
	}
	g := glance{state: PeerGone}
	err = raw.Control(func(fd uintptr) {
		n, _, err := syscall.Recvfrom(int(fd), g.head[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		switch {
		case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EINTR):
			g.state = PeerQuiet
		case err == nil && n > 0:
			g.state, g.n = PeerReadable, n
		}
	})
	if err != nil {
		return glance{state: PeerGone}
	}
	return g
}
