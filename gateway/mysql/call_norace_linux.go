//go:build !race

package mysql

import (
	"syscall"
	"unsafe"
)

// call reads or writes. The socket does not block, so the scheduler need not know: telling it costs more than the rest of the
// call when the process is often idle, as its monitor is woken each time.
func call(number, fd uintptr, b []byte) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall(number, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b))) //nolint:gosec // as package syscall does
		switch errno {
		case 0:
			return int(n), 0
		case syscall.EINTR:
		default:
			return 0, errno
		}
	}
}
