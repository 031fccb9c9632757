//go:build !linux

package mysql

import "syscall"

// UserTimeout does nothing here: only Linux has it. Keep-alive finds idle connections that are dead.
func UserTimeout(_, _ string, _ syscall.RawConn) error { return nil }
