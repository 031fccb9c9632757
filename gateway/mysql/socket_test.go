package mysql

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"testing"
	"time"
)

// echo answers commands with OKs whose info is the command, until the end of the connection.
func echo(c *Conn) error {
	for {
		cmd, err := c.ReadCommand()
		if err != nil {
			return err
		}
		if err := c.Gather(1 << 20); err != nil {
			return err
		}
		if err := c.WriteOK(OK{Info: string(cmd.Arg())}); err != nil {
			return err
		}
	}
}

// Commands that came while an earlier one was worked on must not wait for further bytes, however they are cut.
func TestServePipelined(t *testing.T) {
	near, far := tcpPair(t)
	c := NewConn(near)
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := c.Serve(func() error { return echo(c) }); !errors.Is(err, io.EOF) {
			t.Errorf("Serve ended with %v, want EOF", err)
		}
	})
	defer serving.Wait()
	client := NewConn(far)
	answers := func(texts ...string) {
		t.Helper()
		for _, text := range texts {
			client.seq = 1
			payload, err := client.ReadPacket(64 << 10)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasSuffix(payload, []byte(text)) {
				t.Fatalf("answer %.60q, want %.60q", payload, text)
			}
		}
	}
	long := string(bytes.Repeat([]byte("x"), 40<<10)) // more than a buffer
	write := func(b []byte) {
		t.Helper()
		if _, err := far.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	query := func(text string) []byte { return frame(0, append([]byte{ComQuery}, text...)) }
	write(query("one"))
	answers("one")
	write(bytes.Join([][]byte{query("two"), query("three"), query(long), query("four")}, nil))
	answers("two", "three", long, "four")
	five := query("five")
	write(five[:3])
	write(five[3:7])
	write(append(five[7:], query("six")...))
	answers("five", "six")
	for range 200 { // the next one is sent while the last one is answered
		write(query("a"))
		write(query("b"))
		answers("a", "b")
	}
	if err := far.Close(); err != nil {
		t.Fatal(err)
	}
}

// A deadline wakes the function, which may go on reading afterwards; closing ends it.
func TestServeWoken(t *testing.T) {
	near, far := tcpPair(t)
	c := NewConn(near)
	woken := make(chan error)
	var serving sync.WaitGroup
	serving.Go(func() {
		err := c.Serve(func() error {
			_, err := c.ReadCommand()
			woken <- err
			if err := near.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
				return err
			}
			cmd, err := c.ReadCommand()
			if err == nil && string(cmd.Arg()) != "go" {
				t.Errorf("command %q", cmd.Arg())
			}
			woken <- err
			_, err = c.ReadCommand()
			return err
		})
		if err == nil {
			t.Error("a closed connection was read from")
		}
	})
	if err := near.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := <-woken; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after the deadline: %v", err)
	}
	if _, err := far.Write(frame(0, []byte("\x03go"))); err != nil {
		t.Fatal(err)
	}
	if err := <-woken; err != nil {
		t.Errorf("after the command: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	serving.Wait()
}

// Closing does not wait for what the function does, and the function finds the connection closed.
func TestServeClosed(t *testing.T) {
	near, far := tcpPair(t)
	c := NewConn(near)
	busy, closed := make(chan struct{}), make(chan struct{})
	var serving sync.WaitGroup
	serving.Go(func() {
		_ = c.Serve(func() error {
			if _, err := c.ReadCommand(); err != nil {
				t.Error(err)
			}
			close(busy)
			<-closed
			if err := c.WriteOK(OK{}); err == nil {
				t.Error("a closed connection was written to")
			}
			if _, err := c.ReadCommand(); err == nil {
				t.Error("a closed connection was read from")
			}
			return nil
		})
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := far.Write(frame(0, []byte("\x03go"))); err != nil {
		t.Fatal(err)
	}
	<-busy
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if n, err := far.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the other side reads %d, %v", n, err)
	}
	close(closed)
	serving.Wait()
}

// Questions of all sizes are answered, also when the socket does not take them at once, and what breaks is told.
func TestAsk(t *testing.T) {
	near, far := tcpPair(t)
	backend, server := NewConn(near), NewConn(far)
	var serving sync.WaitGroup
	serving.Go(func() { _ = echo(server) })
	for _, size := range []int{0, 1, 100, 20 << 10, 900 << 10} {
		text := bytes.Repeat([]byte("q"), size)
		backend.grow()
		backend.rewind()
		err := backend.ask(frame(0, append([]byte{ComQuery}, text...)))
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		backend.seq = 1
		if payload, err := backend.ReadPacket(1 << 20); err != nil || !bytes.HasSuffix(payload, text) {
			t.Fatalf("%d bytes: answer %.40q, %v", size, payload, err)
		}
	}
	if err := backend.Within(t.Context(), func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	err := backend.Within(ctx, func() error {
		if err := backend.ask([]byte{5, 0}); err != nil { // half a header: no answer comes
			return err
		}
		return backend.need(1)
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no answer: %v", err)
	}
	if err := far.Close(); err != nil {
		t.Fatal(err)
	}
	serving.Wait()
	if err := near.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if backend.Idle() {
		t.Error("a closed connection counts as idle")
	}
	err = backend.ask([]byte("x"))
	if err == nil {
		err = backend.need(1)
	}
	if err == nil || isTimeout(err) {
		t.Errorf("server gone: %v", err)
	}
	for range 3 { // by now writing fails, too
		if err = backend.ask([]byte("x")); err != nil {
			return
		}
		if err = backend.need(1); err == nil || isTimeout(err) {
			t.Fatalf("server gone: %v", err)
		}
	}
	t.Error("no write to a closed connection fails")
}
