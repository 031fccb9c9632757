package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// listen opens host:port or unix:/path.
func listen(ctx context.Context, address string) (net.Listener, error) {
	path, isSocket := strings.CutPrefix(address, "unix:")
	if isSocket {
		return listenSocket(ctx, path)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("listen on %s: the port is taken; stop the other program, or choose another address", address)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return l, nil
}

// listenSocket takes the place of a socket that a killed server left behind, but not of a living one.
func listenSocket(ctx context.Context, path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSocket != 0 {
		dialCtx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		c, err := new(net.Dialer).DialContext(dialCtx, "unix", path)
		if err == nil {
			_ = c.Close()
			return nil, fmt.Errorf("listen on unix:%s: the socket is taken; stop the other program, or choose another path", path)
		}
		if errors.Is(err, syscall.ECONNREFUSED) {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("listen on unix:%s: %w", path, err)
			}
		}
	}
	l, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen on unix:%s: %w", path, err)
	}
	return l, nil
}

// listenAll opens all addresses or none.
func listenAll(ctx context.Context, addresses []string) (listeners []net.Listener, err error) {
	for _, a := range addresses {
		l, err := listen(ctx, a)
		if err != nil {
			for _, opened := range listeners {
				_ = opened.Close()
			}
			return nil, err
		}
		listeners = append(listeners, l)
	}
	return listeners, nil
}
