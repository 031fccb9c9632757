package session

import (
	"net"
	"testing"

	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/route"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// newSession gives a session without a client.
func newSession(t *testing.T, g *testGateway) *session {
	t.Helper()
	s := &session{
		Gateway: g.Gateway, log: g.Log, kinds: map[string]kind{},
		login: &mysql.Login{User: "app", Secret: mysql.ClearSecret("secret"), Charset: defaultCharset},
		route: route.Session{Username: "app", Schemaname: "shop", DefaultHostgroup: writer},
		state: state{schema: "shop"},
	}
	t.Cleanup(s.backends.closeAll)
	return s
}

// TestPlacementAllocs looks at statements whose answers are known and whose connection is there: without a guideline none costs
// more than it did before there were any.
func TestPlacementAllocs(t *testing.T) {
	one := startFake(t, "one")
	g := startGateway(t, gatewayOptions{servers: []*configv1.Server{server(writer, one.addr), server(reader, one.addr)}})
	s := newSession(t, g)
	for _, text := range []string{ask, change} {
		sql := []byte(text)
		n := testing.AllocsPerRun(200, func() {
			st := s.examine(sql)
			s.decide(t.Context(), &st, decisionv1.Command_COMMAND_QUERY)
			if _, err := s.place(t.Context(), &st); err != nil {
				t.Fatal(err)
			}
		})
		if n > 3 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

// TestSplitAddr: clients that come in over IPv4 have an IPv4 address, whatever the listener is.
func TestSplitAddr(t *testing.T) {
	for _, tt := range []struct {
		addr net.Addr
		host string
		port uint32
	}{
		{&net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 99}, "10.1.2.3", 99},
		{&net.TCPAddr{IP: net.ParseIP("::ffff:10.1.2.3"), Port: 99}, "10.1.2.3", 99},
		{&net.TCPAddr{IP: net.ParseIP("2001:db8::1"), Port: 65535}, "2001:db8::1", 65535},
		{&net.TCPAddr{IP: net.ParseIP("fe80::1"), Port: 1, Zone: "eth0"}, "fe80::1", 1},
		{&net.UnixAddr{Name: "@", Net: "unix"}, "", 0},
	} {
		if host, port := splitAddr(tt.addr); host != tt.host || port != tt.port {
			t.Errorf("%v: %q, %d", tt.addr, host, port)
		}
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "[::]:0")
	if err != nil {
		t.Skip("no IPv6:", err)
	}
	t.Cleanup(func() { _ = l.Close() })
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	client, err := new(net.Dialer).DialContext(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	nc, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	for _, a := range []net.Addr{nc.RemoteAddr(), nc.LocalAddr()} {
		if host, _ := splitAddr(a); host != "127.0.0.1" {
			t.Errorf("%v: %q", a, host)
		}
	}
}
