package gateway

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"regexp"
	"strings"

	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/proxyheader"
	"github.com/pointsman/pointsman/gateway/snapshot"
)

// defaultListener is the name of a listener that has none of its own.
const defaultListener = "default"

// listenerName is what a name in --listen may be.
var listenerName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// listener is one place where clients come in.
type listener struct {
	net.Listener
	name    string
	proxies proxyheader.Networks
}

// Accept gives the next connection, of which those of proxies are [proxyheader.Conn].
func (l listener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.proxies.Wrap(nc), nil
}

// listenAll opens what --listen says, all or nothing.
func listenAll(ctx context.Context, texts []string, proxies proxyheader.Networks) ([]listener, error) {
	var all []listener
	open := func(text string) error {
		name, addr, err := splitListen(text)
		if err != nil {
			return err
		}
		for _, other := range all {
			if other.name == name {
				return fmt.Errorf("two listeners are called %q: give each a name of its own, as in ro=127.0.0.1:6447", name)
			}
		}
		l, err := listen(ctx, addr)
		if err == nil {
			all = append(all, listener{l, name, proxies})
		}
		return err
	}
	for _, text := range texts {
		if err := open(text); err != nil {
			closeAll(all)
			return nil, err
		}
	}
	return all, nil
}

func closeAll(all []listener) {
	for _, l := range all {
		_ = l.Close() // nothing is lost with it
	}
}

// splitListen takes "[NAME=]host:port" or "[NAME=]unix:/path" apart.
func splitListen(text string) (name, addr string, err error) {
	name, addr, named := strings.Cut(text, "=")
	if !named || strings.ContainsAny(name, ":/") { // = in an address or a path
		return defaultListener, text, nil
	}
	if !listenerName.MatchString(name) {
		return "", "", fmt.Errorf("%q: the name before = must be of letters, digits, _, . and -", text)
	}
	return name, addr, nil
}

// describe gives the listeners as routing guidelines see them. A Unix socket has neither address nor port.
func describe(all []listener) []snapshot.Listener {
	out := make([]snapshot.Listener, len(all))
	for i, l := range all {
		out[i].Name = l.name
		if tcp, ok := l.Addr().(*net.TCPAddr); ok {
			out[i].Address, out[i].Port = tcp.IP.String(), uint32(tcp.Port)
		}
	}
	return out
}

// addressOf is a listener's address, empty for none.
func addressOf(l net.Listener) string {
	if l == nil {
		return ""
	}
	return l.Addr().String()
}

// listen opens "host:port" or "unix:/path". A socket file that nobody listens on is replaced.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	lc := net.ListenConfig{KeepAliveConfig: mysql.KeepAlive(), Control: mysql.UserTimeout}
	path, isUnix := strings.CutPrefix(addr, "unix:")
	if !isUnix {
		return lc.Listen(ctx, "tcp", addr)
	}
	l, err := lc.Listen(ctx, "unix", path)
	if err == nil {
		return l, nil
	}
	if nc, dialErr := new(net.Dialer).DialContext(ctx, "unix", path); dialErr == nil {
		_ = nc.Close()
		return nil, err // somebody listens
	}
	info, statErr := os.Lstat(path)
	if statErr != nil || info.Mode().Type() != fs.ModeSocket {
		return nil, err
	}
	if rmErr := os.Remove(path); rmErr != nil {
		return nil, errors.Join(err, rmErr)
	}
	return lc.Listen(ctx, "unix", path)
}
