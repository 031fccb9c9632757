package proxyheader

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dial gives both ends of a loopback connection.
func dial(tb testing.TB) (server, client *net.TCPConn) {
	tb.Helper()
	l, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	nc, err := (&net.Dialer{}).DialContext(tb.Context(), "tcp", l.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _, _ = nc.Close(), accepted.Close() })
	return accepted.(*net.TCPConn), nc.(*net.TCPConn)
}

// v2 makes a header of version 2.
func v2(command, family byte, block string) string {
	return "\r\n\r\n\x00\r\nQUIT\n" + string([]byte{0x20 | command, family, byte(len(block) >> 8), byte(len(block))}) + block
}

const v4Block = "\xc0\x00\x02\x07\x0a\x00\x00\x01\xb0\x01\x0c\xea" // 192.0.2.7:45057 to 10.0.0.1:3306

func TestReadHeader(t *testing.T) {
	for _, tt := range []struct {
		name, send string
		want       string // the client's address; empty: an error
	}{
		{"v1", "PROXY TCP4 192.0.2.7 10.0.0.1 45057 3306\r\n", "192.0.2.7:45057"},
		{"v1 IPv6", "PROXY TCP6 2001:db8::7 2001:db8::1 45057 3306\r\n", "[2001:db8::7]:45057"},
		{"v1 unknown", "PROXY UNKNOWN\r\n", "socket"},
		{"v1 unknown with addresses", "PROXY UNKNOWN 1.2.3.4 5.6.7.8 1 2\r\n", "socket"},
		{"v2", v2(1, 0x11, v4Block), "192.0.2.7:45057"},
		{"v2 with extensions", v2(1, 0x11, v4Block+"\x04\x00\x01x"), "192.0.2.7:45057"},
		{"v2 IPv6", v2(1, 0x21, strings.Repeat("\x20\x01\x0d\xb8", 8)+"\xb0\x01\x0c\xea"), "[2001:db8:2001:db8:2001:db8:2001:db8]:45057"},
		{"v2 local", v2(0, 0, ""), "socket"},
		{"v2 local with an address", v2(0, 0x11, v4Block), "socket"},
		{"v2 of a Unix socket", v2(1, 0x31, strings.Repeat("\x00", 216)), "socket"},
		{"v2 of no family", v2(1, 0x0f, v4Block), ""},
		{"v2 too long", v2(1, 0x11, v4Block+strings.Repeat("x", 5000)), ""},
		{"v2 cut", v2(1, 0x11, v4Block)[:20], ""},
		{"v2 of version 3", strings.Replace(v2(1, 0x11, v4Block), "\x21", "\x31", 1), ""},
		{"v1 cut", "PROXY TCP4 192.0.2.7", ""},
		{"v1 without end", "PROXY TCP4 " + strings.Repeat("x", 200), ""},
		{"v1 of no address", "PROXY TCP4 nobody 10.0.0.1 1 2\r\n", ""},
		{"a login", "\x20\x00\x00\x01\x85\xa6\xff\x01", ""},
		{"header and more", "PROXY TCP4 192.0.2.7 10.0.0.1 45057 3306\r\n\x20\x00\x00\x01", ""},
	} {
		server, client := dial(t)
		c := Networks{must(t, "127.0.0.0/8")[0]}.Wrap(server).(*Conn)
		if _, err := client.Write([]byte(tt.send)); err != nil {
			t.Fatal(err)
		}
		_ = client.CloseWrite()
		want := tt.want
		if want == "socket" {
			want = server.RemoteAddr().String()
		}
		_ = server.SetDeadline(time.Now().Add(10 * time.Second))
		if err := c.ReadHeader(); (err == nil) != (want != "") || err == nil && c.RemoteAddr().String() != want {
			t.Errorf("%s: %v, %v, want %s", tt.name, c.RemoteAddr(), err, want)
		}
	}
	server, client := dial(t)
	_ = client.Close()
	if err := (&Conn{TCPConn: server}).ReadHeader(); !errors.Is(err, io.EOF) {
		t.Errorf("nothing at all: %v", err)
	}
}

func must(tb testing.TB, texts ...string) Networks {
	tb.Helper()
	n, err := ParseNetworks(texts)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

func TestNetworks(t *testing.T) {
	server, _ := dial(t)
	for text, in := range map[string]bool{"127.0.0.0/8": true, "127.0.0.1": true, "127.0.0.2": false, "10.0.0.0/8": false, "::/0": false, "0.0.0.0/0": true} {
		if _, wrapped := must(t, text).Wrap(server).(*Conn); wrapped != in {
			t.Errorf("%s: %v", text, wrapped)
		}
	}
	if Networks(nil).Wrap(server) != net.Conn(server) {
		t.Error("wrapped without networks")
	}
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if must(t, "0.0.0.0/0").Wrap(a) != a {
		t.Error("wrapped, but it is not TCP")
	}
	for _, text := range []string{"", "10.0.0.0/33", "10.0.0.1/8", "proxy.example", "10.0.0.0/8/8"} {
		if n, err := ParseNetworks([]string{text}); err == nil {
			t.Errorf("%q is %v", text, n)
		}
	}
}

func FuzzReadHeader(f *testing.F) {
	f.Add([]byte("PROXY TCP4 192.0.2.7 10.0.0.1 45057 3306\r\n"))
	f.Add([]byte(v2(1, 0x11, v4Block)))
	f.Add([]byte(v2(0, 0, "")))
	f.Fuzz(func(t *testing.T, sent []byte) {
		if len(sent) > 10_000 {
			return
		}
		server, client := dial(t)
		if _, err := client.Write(sent); err != nil {
			t.Fatal(err)
		}
		_ = client.CloseWrite()
		c := &Conn{TCPConn: server}
		err := c.ReadHeader()
		if c.RemoteAddr() == nil || c.RemoteAddr().String() == "" {
			t.Error("no address")
		}
		if err == nil && !bytes.HasPrefix(sent, []byte("PROXY ")) && !bytes.HasPrefix(sent, []byte("\r\n\r\n\x00\r\nQUIT\n")) {
			t.Errorf("%q is a header", sent)
		}
	})
}
