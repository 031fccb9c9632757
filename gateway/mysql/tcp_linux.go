package mysql

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// UserTimeout sets TCP_USER_TIMEOUT on a socket, as the Control of a dialer or a listener, whose connections have it from it. A
// Unix socket needs none.
func UserTimeout(network, _ string, c syscall.RawConn) error {
	if network == "unix" {
		return nil
	}
	var set error
	err := c.Control(func(fd uintptr) {
		set = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(userTimeout.Milliseconds()))
	})
	if err == nil {
		err = set
	}
	return err
}
