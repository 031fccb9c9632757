//go:build race

package mysql

import (
	"errors"
	"syscall"
)

// call reads or writes, by the functions that tell the race detector what comes before what.
func call(number, fd uintptr, b []byte) (int, syscall.Errno) {
	do := syscall.Read
	if number == syscall.SYS_WRITE {
		do = syscall.Write
	}
	for {
		n, err := do(int(fd), b)
		var errno syscall.Errno
		switch {
		case err == nil:
			return n, 0
		case errors.As(err, &errno) && errno != syscall.EINTR:
			return 0, errno
		}
	}
}
