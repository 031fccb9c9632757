package embedded

import "syscall"

// childAttributes keep a Ctrl-C meant for the parent away from the child, and end the child with its parent.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
