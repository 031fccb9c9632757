//go:build unix

package mysql

import (
	"errors"
	"net"
	"syscall"
)

func peek(nc net.Conn) PeerState {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return PeerQuiet
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return PeerGone
	}
	state := PeerGone
	err = raw.Control(func(fd uintptr) {
		var one [1]byte
		n, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		switch {
		case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EINTR):
			state = PeerQuiet
		case err == nil && n > 0:
			state = PeerReadable
		}
	})
	if err != nil {
		return PeerGone
	}
	return state
}
