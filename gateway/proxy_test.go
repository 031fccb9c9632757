package gateway

import (
	"context"
	"database/sql"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"
)

// TestProxyProtocol has clients come through a proxy, which says who they are. The others of its network are turned away.
func TestProxyProtocol(t *testing.T) {
	d := &decisions{server: startDatabase(t)}
	d.generation.Store(1)
	addr, _ := startDecisions(t, d)
	p := start(t, "--decision="+addr, "--proxy-protocol-networks=10.0.0.0/8,127.0.0.1")
	p.expectReady(t, http.StatusOK, "ready")
	connect := func(header string) net.Conn {
		nc, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.listen)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(nc, header); err != nil {
			t.Fatal(err)
		}
		return nc
	}
	for header, want := range map[string]string{
		"PROXY TCP4 192.0.2.7 10.0.0.1 45057 3306\r\n":      "192.0.2.7:45057",
		"PROXY TCP6 2001:db8::7 2001:db8::1 45058 3306\r\n": "[2001:db8::7]:45058",
		"PROXY UNKNOWN\r\n":                      "127.0.0.1:",
		"\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00": "127.0.0.1:",
		"\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\xc0\x00\x02\x07\x0a\x00\x00\x01\xb0\x03\x0c\xea": "192.0.2.7:45059",
	} {
		c := driver.NewConfig()
		c.Net, c.Addr, c.User, c.Passwd = "tcp", p.listen, "app", "secret"
		c.DialFunc = func(context.Context, string, string) (net.Conn, error) { return connect(header), nil }
		connector, err := driver.NewConnector(c)
		if err != nil {
			t.Fatal(err)
		}
		db := sql.OpenDB(connector)
		if err := db.PingContext(t.Context()); err != nil {
			t.Errorf("%q: %v", header, err)
		}
		if _, page := p.get(t, "/sessions"); !strings.Contains(page, want) {
			t.Errorf("%q: %s is not in\n%s", header, want, page)
		}
		_ = db.Close()
		eventually(t, "session ends", func() bool {
			_, page := p.get(t, "/metrics")
			return strings.Contains(page, "pointsman_gateway_sessions 0")
		})
	}
	for _, header := range []string{"GET / HTTP/1.1\r\n\r\n", "PROXY TCP4 nobody\r\n"} {
		nc := connect(header)
		_ = nc.SetDeadline(time.Now().Add(wait))
		if said, err := io.ReadAll(nc); len(said) > 0 || err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%q is answered by %q, %v", header, said, err)
		}
		_ = nc.Close()
	}
}
