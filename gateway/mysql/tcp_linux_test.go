package mysql

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// TestTCPOptions looks at the sockets of both sides of a connection.
func TestTCPOptions(t *testing.T) {
	l, err := (&net.ListenConfig{Control: UserTimeout, KeepAliveConfig: KeepAlive()}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	dialed, err := (&net.Dialer{Control: UserTimeout, KeepAliveConfig: KeepAlive()}).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	for name, nc := range map[string]net.Conn{"dialed": dialed, "accepted": accepted} {
		defer func() { _ = nc.Close() }()
		raw, err := nc.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		for option, want := range map[int]int{
			unix.TCP_USER_TIMEOUT: int(userTimeout.Milliseconds()), unix.TCP_KEEPIDLE: 60, unix.TCP_KEEPINTVL: 3, unix.TCP_KEEPCNT: 5,
		} {
			var got int
			err := raw.Control(func(fd uintptr) { got, _ = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, option) })
			if err != nil || got != want {
				t.Errorf("%s: option %d is %d, want %d, %v", name, option, got, want, err)
			}
		}
	}
}
