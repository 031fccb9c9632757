package e2e

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	gomysql "github.com/go-mysql-org/go-mysql/mysql"
)

// greeted connects to a gateway and reads its greeting.
func greeted(t *testing.T, address string) (w *wire, greeting []byte) {
	t.Helper()
	nc, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	w = &wire{t: t, nc: nc, r: bufio.NewReader(nc)}
	greeting, err = w.read()
	if err != nil {
		t.Fatalf("no greeting: %v", err)
	}
	return w, greeting
}

// handshake builds a response to the greeting up to the user, and adds the rest.
func handshake(rest ...byte) []byte {
	caps := gomysql.CLIENT_PROTOCOL_41 | gomysql.CLIENT_SECURE_CONNECTION | gomysql.CLIENT_PLUGIN_AUTH |
		gomysql.CLIENT_CONNECT_WITH_DB | gomysql.CLIENT_CONNECT_ATTRS | gomysql.CLIENT_LONG_PASSWORD
	b := binary.LittleEndian.AppendUint32(nil, caps)
	b = binary.LittleEndian.AppendUint32(b, 1<<24)
	return append(append(append(b, 45), make([]byte, 23)...), rest...)
}

// refused reads the end of a login that went wrong: an error and the end, or just the end.
func (w *wire) refused(what string) {
	w.t.Helper()
	payload, err := w.read()
	switch {
	case isTimeout(err):
		w.t.Errorf("%s: no answer: %v", what, err)
	case err != nil:
	case payload[0] != gomysql.ERR_HEADER:
		w.t.Errorf("%s: answered by % x", what, payload[:min(len(payload), 40)])
	default:
		if e := parseError(payload).err; e.Code != gomysql.ER_HANDSHAKE_ERROR && e.Code != gomysql.ER_ACCESS_DENIED_ERROR {
			w.t.Errorf("%s: %v, want error %d", what, e, gomysql.ER_HANDSHAKE_ERROR)
		}
		w.wantEnd()
	}
}

// isTimeout tells a peer that does nothing from one that has gone.
func isTimeout(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}

// go-mysql #1166: texts of the handshake without their end.
func (r *reports) Test01(t *testing.T) {
	other := r.wire(t, appUser)
	long := bytes.Repeat([]byte{'x'}, 300)
	for _, tt := range []struct {
		name string
		rest []byte
	}{
		{"user", []byte("app")},
		{"long user", long},
		{"nothing", nil},
		{"schema", append([]byte("app\x00\x00"), long...)},
		{"answer longer than the packet", []byte("app\x00\xfeabc")},
		{"plugin", []byte("app\x00\x00e2e\x00mysql_native_password")},
		{"attributes longer than the packet", []byte("app\x00\x00e2e\x00mysql_native_password\x00\xfd\xff\xff\xffabc")},
		{"key longer than the attributes", []byte("app\x00\x00e2e\x00mysql_native_password\x00\x05\xfc\xff\xffab")},
	} {
		w, _ := greeted(t, r.gateway.address)
		packet := handshake(tt.rest...)
		if err := w.write(append(header(len(packet), 1), packet...)); err != nil {
			t.Fatal(err)
		}
		w.sequence = 2
		w.refused(tt.name)
		other.want("SELECT @@server_id", "2")
	}
}

// tiproxy #952: a handshake of less than its fixed part.
func (r *reports) Test02(t *testing.T) {
	other := r.wire(t, appUser)
	whole := handshake()
	for n := range whole {
		w, _ := greeted(t, r.gateway.address)
		if err := w.write(append(header(n, 1), whole[:n]...)); err != nil {
			t.Fatal(err)
		}
		w.sequence = 2
		w.refused(fmt.Sprintf("%d bytes", n))
	}
	other.want("SELECT @@server_id", "2")
}

// flood sends fragments of the greatest length that never end, until the other side has had enough.
func flood(t *testing.T, nc net.Conn, code byte) {
	t.Helper()
	if err := nc.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	chunk := make([]byte, maxFragment)
	chunk[0] = code
	for i := range 8 {
		if _, err := nc.Write(append(header(maxFragment, byte(i+1)), chunk...)); err != nil {
			if isTimeout(err) {
				t.Errorf("a flood is neither taken nor refused: %v", err)
			}
			return
		}
	}
	t.Errorf("a flood of 128 MiB was taken")
}

// tiproxy #1089: long packets before the login.
func (r *reports) Test03(t *testing.T) {
	g := r.measured(t)
	g.grows(t, 64, func() {
		for range 100 {
			w, _ := greeted(t, g.address)
			if err := w.write(append(header(maxFragment, 1), handshake(make([]byte, 1<<10)...)...)); err != nil {
				t.Logf("refused at once: %v", err)
			}
		}
		for range 4 {
			w, _ := greeted(t, g.address)
			flood(t, w.nc, 0x85)
		}
		dialWire(t, g.address, appUser).want("SELECT @@server_id", "2")
	})
}

// tiproxy #1197: COM_CHANGE_USER without an end.
func (r *reports) Test04(t *testing.T) {
	g := r.measured(t)
	g.grows(t, 64, func() {
		for range 8 {
			w := dialWire(t, g.address, appUser)
			if err := w.write(header(maxFragment, 0)); err != nil {
				t.Fatal(err)
			}
			chunk := make([]byte, maxFragment)
			chunk[0] = gomysql.COM_CHANGE_USER
			if err := w.write(chunk); err == nil {
				flood(t, w.nc, 0)
			}
		}
		dialWire(t, g.address, appUser).want("SELECT @@server_id", "2")
	})
}

// vitess #20735, MXS-3342, proxysql #2241: clients behind a proxy are who it says they are, each on its own; others wait for nothing.
func (r *reports) Test33(t *testing.T) {
	g := newGateway(t, r.server, append(r.flags, "--proxy-protocol-networks=127.0.0.0/8")...)
	// Rule 1 sends what comes from 203.0.113.7 to the writer. Connections to servers may be those of the sessions before.
	headers := []struct{ name, header, want string }{
		{"version 1", "PROXY TCP4 203.0.113.7 192.0.2.1 4711 3306\r\n", "1"},
		{"another client", "PROXY TCP4 203.0.113.8 192.0.2.1 4711 3306\r\n", "2"},
		{"unknown", "PROXY UNKNOWN\r\n", "2"},
		{"version 2", "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\xcb\x00\x71\x07\xc0\x00\x02\x01\x12\x67\x0c\xea", "1"},
		{"the proxy itself", "\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00", "2"},
	}
	for range 2 {
		for _, tt := range headers {
			w, err := wireBehind(t, g.address, appUser, tt.header)
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			w.want("SELECT @@server_id", tt.want)
			w.want("SELECT @@server_id", tt.want)
			w.send(gomysql.COM_QUIT)
			w.wantEnd()
		}
	}
	for _, bad := range []string{"GET / HTTP/1.1\r\n\r\n", "PROXY TCP4 nobody\r\n", strings.Repeat("x", 5000)} {
		if _, err := wireBehind(t, g.address, appUser, bad); err == nil || isTimeout(err) {
			t.Errorf("header %.20q: %v, want the end", bad, err)
		}
	}
	// The shared gateway has no proxies: nobody waits for a header, and one is not believed.
	if _, err := wireBehind(t, r.gateway.address, appUser, headers[0].header); err == nil {
		t.Error("a header is believed that anybody can send")
	}
	r.wire(t, appUser).want("SELECT @@server_id", "2")
}

// tiproxy #377: the numbers of compressed packets wrap. The gateway offers no compression, and clients that want it do without.
func (r *reports) Test39(t *testing.T) {
	_, greeting := greeted(t, r.gateway.address)
	version := bytes.IndexByte(greeting[1:], 0) + 2
	capabilities := binary.LittleEndian.Uint16(greeting[version+4+8+1:])
	if uint32(capabilities)&gomysql.CLIENT_COMPRESS != 0 {
		t.Error("compression is offered")
	}
	need(t, "the mariadb client", found("mariadb"))
	var script, want strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&script, "SELECT %d;\n", i)
		want.WriteString(strconv.Itoa(i) + "\n")
	}
	host, port, _ := net.SplitHostPort(r.gateway.address)
	stdout, stderr, code := run(t, []byte(script.String()), "mariadb", "--no-defaults", "--compress",
		"--host="+host, "--port="+port, "--protocol=tcp", "--user="+appUser, "--password="+password, "--batch", "--skip-column-names", schema)
	if code != 0 || stdout != want.String() {
		t.Errorf("exit status %d, %d bytes of output, want %d\n%s", code, len(stdout), want.Len(), stderr)
	}
}
