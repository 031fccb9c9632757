//go:build unix && !linux

package embedded

import "syscall"

// childAttributes keep a Ctrl-C meant for the parent away from the child. The end of standard input ends it.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
