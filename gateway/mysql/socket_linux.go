package mysql

import (
	"io"
	"iter"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// A read of a net.Conn that finds nothing costs two system calls, as it tries before it waits. What is read here is known
// to come later: the answer after the question, and a client's next command after the last one, when the socket was
// found empty before. The runtime tells of each arrival once, and keeps it for a wait that begins later, from the moment a
// RawConn's Read begins until it ends.

// socket sends and receives by the socket itself.
type socket struct {
	nc      net.Conn        // the one that sock belongs to
	sock    syscall.RawConn // nil: there is none
	out     []byte          // what is left to be sent
	sendErr error           // of the last write
	asked   bool            // a question was sent whole
	err     error           // of the last read, told by the next one

	// Steps of RawConn's methods, kept because they cost allocations.
	asking, sending func(fd uintptr) bool
	looking         func(fd uintptr)
	quiet           bool // found by looking
	peeked          byte

	serving atomic.Bool // Serve runs, which keeps the socket from being closed

	into  []byte // where Serve's function wants bytes
	n     int    // that it got
	yield func(struct{}) bool
}

func (c *Conn) initSocket(nc net.Conn) {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return
	}
	sock, err := sc.SyscallConn()
	if err != nil {
		return // a closed one shows at its use
	}
	c.socket.nc, c.socket.sock = nc, sock
	c.socket.asking, c.socket.sending, c.socket.looking = c.stepOfAsk, c.stepOfSend, c.stepOfLook
}

// direct tells whether packets go through the socket as they are.
func (c *Conn) direct() bool { return c.socket.sock != nil && c.socket.nc == c.nc }

// ask writes b whole and waits for the first bytes of the answer, which the next read finds in the buffer. An error is that of
// the write.
func (c *Conn) ask(b []byte) error {
	x := &c.socket
	if !c.direct() || c.r != c.w || x.yield != nil {
		return c.write(b)
	}
	x.out, x.asked, x.err = b, false, nil
	err := x.sock.Read(x.asking)
	rest := x.out
	x.out = nil
	c.sent.Add(uint64(len(b) - len(rest)))
	switch {
	case x.asked:
		x.err = err
		return nil
	case err == nil:
		err, x.sendErr = x.sendErr, nil
	}
	if err != nil {
		return err
	}
	return c.write(rest) // more than the socket takes at once
}

// stepOfAsk is called at once and then each time that something has come. True ends the waiting.
func (c *Conn) stepOfAsk(fd uintptr) bool {
	x := &c.socket
	if !x.asked {
		n, errno := call(syscall.SYS_WRITE, fd, x.out)
		if errno != 0 && errno != syscall.EAGAIN {
			x.sendErr = os.NewSyscallError("write", errno)
			return true
		}
		x.out = x.out[n:]
		x.asked = len(x.out) == 0
		return !x.asked
	}
	n, come, err := receive(fd, c.buf[c.w:])
	if !come {
		return false
	}
	c.w, x.err = c.w+n, err
	c.received.Add(uint64(n))
	return true
}

// send writes b whole.
func (c *Conn) send(b []byte) (n int, err error) {
	if !c.direct() {
		return c.nc.Write(b)
	}
	x := &c.socket
	x.out = b
	err = x.sock.Write(x.sending)
	n = len(b) - len(x.out)
	x.out = nil
	if err == nil {
		err, x.sendErr = x.sendErr, nil
	}
	return n, err
}

// stepOfSend is called at once and then each time that there is room. True ends the waiting.
func (c *Conn) stepOfSend(fd uintptr) bool {
	x := &c.socket
	for len(x.out) > 0 {
		n, errno := call(syscall.SYS_WRITE, fd, x.out)
		switch errno {
		case 0:
			x.out = x.out[n:]
		case syscall.EAGAIN:
			return false
		default:
			x.sendErr = os.NewSyscallError("write", errno)
			return true
		}
	}
	return true
}

// receive reads what has come, unless nothing has. io.EOF: the other side has closed.
func receive(fd uintptr, b []byte) (n int, come bool, err error) {
	n, errno := call(syscall.SYS_READ, fd, b)
	switch {
	case errno == syscall.EAGAIN:
		return 0, false, nil
	case errno != 0:
		return 0, true, os.NewSyscallError("read", errno)
	case n == 0 && len(b) > 0:
		return 0, true, io.EOF
	}
	return n, true, nil
}

// read reads some bytes.
func (c *Conn) read(b []byte) (int, error) {
	x := &c.socket
	if err := x.err; err != nil {
		x.err = nil
		return 0, err
	}
	if x.yield == nil {
		return c.nc.Read(b)
	}
	x.into = b
	x.yield(struct{}{})
	x.into = nil
	n, err := x.n, x.err
	x.n, x.err = 0, nil
	return n, err
}

// Serve runs f, which owns the connection, and returns its error. It saves system calls while f reads commands and
// answers them: f is stopped where it reads, and goes on when bytes have come.
func (c *Conn) Serve(f func() error) (err error) {
	if !c.direct() {
		return f()
	}
	x := &c.socket
	x.serving.Store(true)
	defer x.serving.Store(false)
	resume, stop := iter.Pull(func(yield func(struct{}) bool) {
		x.yield = yield
		err = f()
		x.yield = nil
	})
	defer stop()
	_, reading := resume()
	step := func(fd uintptr) bool {
		for {
			n, come, err := receive(fd, x.into)
			if !come {
				return false
			}
			drained := err == nil && n < len(x.into)
			x.n, x.err = n, err
			if _, reading = resume(); !reading {
				return true
			}
			if drained {
				return false // what comes from now on is told
			}
		}
	}
	for reading {
		if werr := x.sock.Read(step); werr != nil { // a deadline, or closed
			x.n, x.err = 0, werr
			_, reading = resume()
		}
	}
	return err
}

// silent tells whether the socket is open and has nothing to read.
func (c *Conn) silent() bool {
	x := &c.socket
	if x.sock == nil {
		return peek(c.raw).state == PeerQuiet
	}
	x.quiet = false
	err := x.sock.Control(x.looking)
	return err == nil && x.quiet
}

func (c *Conn) stepOfLook(fd uintptr) {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&c.socket.peeked)), 1, syscall.MSG_PEEK|syscall.MSG_DONTWAIT, 0, 0) //nolint:gosec // as in call
	c.socket.quiet = errno == syscall.EAGAIN || errno == syscall.EINTR
}

// shut ends the connection both ways while Serve runs, whose caller closes it afterwards: closing would wait for that. False:
// Serve does not run.
func (c *Conn) shut() bool {
	if !c.socket.serving.Load() {
		return false
	}
	_ = c.socket.sock.Control(func(fd uintptr) {
		_ = syscall.Shutdown(int(fd), syscall.SHUT_RDWR) // the other side may have done so
	})
	_ = c.raw.SetDeadline(time.Unix(1, 0)) // wakes whoever waits
	return true
}
