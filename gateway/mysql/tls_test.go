package mysql

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/pointsman/pointsman/gateway/mysqltest"
)

// tlsPair gives the two configurations of a test.
func tlsPair(t *testing.T, version uint16) (server, client *tls.Config) {
	t.Helper()
	ca := mysqltest.NewAuthority(t)
	cert, _, _ := ca.Issue(t, "gateway")
	return &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12},
		&tls.Config{RootCAs: ca.Pool, ServerName: "gateway", MaxVersion: version}
}

// tlsLogin logs in over TLS.
func tlsLogin(t *testing.T, user, password, plugin string, version uint16) (server *Conn, client *testClient, login *Login, err error) {
	t.Helper()
	serverTLS, clientTLS := tlsPair(t, version)
	sn, cn := tcpPair(t)
	server, client = NewConn(sn), &testClient{Conn: NewConn(cn), t: t, open: true}
	server.OfferTLS(serverTLS, true)
	told := make(chan []byte, 1)
	go func() {
		g, err := ParseGreeting(client.read())
		if err != nil || g.Capabilities&CapSSL == 0 {
			t.Errorf("greeting %+v, %v", g, err)
		}
		client.salt = g.Salt
		r := HandshakeResponse{Capabilities: testCaps | CapSSL, User: user, Auth: answer(plugin, password, g.Salt), Plugin: plugin, Schema: "shop"}
		if err := client.WritePacket(r.AppendTLSRequest(nil)); err != nil {
			t.Error(err)
		}
		if err := client.StartTLS(clientTLS); err != nil {
			t.Error(err)
		}
		client.Capabilities = testCaps
		_ = client.WritePacket(r.Append(nil))
		told <- client.finish(password)
	}()
	login, err = testAuth(t).Handshake(t.Context(), server, Greeting{ServerVersion: "8", Capabilities: testCaps}, tlsUsers)
	if err == nil {
		_ = server.WriteOK(OK{})
	}
	if verdict := <-told; (verdict[0] == headOK) != (err == nil) {
		t.Errorf("client was told %q, the server says %v", verdict, err)
	}
	return server, client, login, err
}

// tlsUsers are the users of the other tests, and "safe" for secure connections only.
func tlsUsers(user string) (Credential, bool) {
	if user == "safe" {
		return ParseCredential("secret").SecureOnly(), true
	}
	return users(user)
}

func TestTLSLogin(t *testing.T) {
	long := "p" + string(bytes.Repeat([]byte("w"), 254)) // with its NUL as long as what an RSA key seals
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for _, tt := range []struct {
			user, password, plugin string
			ok, full               bool
		}{
			{"clear", "secret", PluginNative, true, false},
			{"safe", "secret", PluginNative, true, false},
			{"safe", "wrong", PluginNative, false, false},
			{"open sha2", "wrong", PluginCachingSHA2, false, true},
			{"open sha2", "secret", PluginCachingSHA2, true, true},
			{"open sha2", "secret", PluginNative, true, false}, // Cached by now.
			{"clear", long, PluginCachingSHA2, false, true},
			{"nobody", "secret", PluginCachingSHA2, false, true},
		} {
			if tt.user == "open sha2" && tt.password == "wrong" {
				testAuth(t).cached = map[string]cachedLogin{}
			}
			server, client, login, err := tlsLogin(t, tt.user, tt.password, tt.plugin, version)
			if (err == nil) != tt.ok || client.full != tt.full {
				t.Errorf("%s %.10q: %v, full authentication %v", tt.user, tt.password, err, client.full)
			}
			if err != nil {
				continue
			}
			if !server.Encrypted() || !server.Secure() || server.Capabilities != testCaps || login.Capabilities != testCaps {
				t.Errorf("%s: encrypted %v, capabilities %#x", tt.user, server.Encrypted(), login.Capabilities)
			}
			// Commands of all sizes.
			for _, size := range []int{1, 5000, 200_000} {
				sent := bytes.Repeat([]byte("x"), size)
				written := make(chan error, 1)
				go func() {
					client.seq = 0
					written <- client.WritePacket(append([]byte{ComQuery}, sent...))
				}()
				cmd, err := server.ReadCommand()
				if err == nil {
					err = server.Gather(1 << 20)
				}
				if err := errors.Join(err, <-written); err != nil || !bytes.Equal(cmd.Arg(), sent) {
					t.Fatalf("command of %d bytes: %v", size, err)
				}
			}
		}
	}
}

func TestTLSRequired(t *testing.T) {
	serverTLS, _ := tlsPair(t, tls.VersionTLS13)
	for _, tt := range []struct {
		user     string
		required bool
		code     uint16
	}{
		{"clear", true, CodeSecureTransportRequired},
		{"nobody", true, CodeSecureTransportRequired},
		{"safe", false, CodeAccessDenied},
		{"clear", false, 0},
	} {
		sn, cn := tcpPair(t)
		server, client := NewConn(sn), &testClient{Conn: NewConn(cn), t: t}
		server.OfferTLS(serverTLS, tt.required)
		told := make(chan *Error, 1)
		go func() {
			g, err := ParseGreeting(client.read())
			if err != nil {
				t.Error(err)
			}
			r := HandshakeResponse{Capabilities: testCaps, User: tt.user, Auth: answer(PluginNative, "secret", g.Salt), Plugin: PluginNative}
			_ = client.WritePacket(r.Append(nil))
			told <- ParseError(client.finish("secret"))
		}()
		_, err := testAuth(t).Handshake(t.Context(), server, Greeting{ServerVersion: "8", Capabilities: testCaps}, tlsUsers)
		if err == nil {
			_ = server.WriteOK(OK{})
		}
		if e := <-told; tt.code != 0 && e.Code != tt.code || (err == nil) != (tt.code == 0) {
			t.Errorf("%s, required %v: told %v, %v", tt.user, tt.required, e, err)
		}
	}
}

// TestTLSInjection has somebody on the way put packets behind the client's request for TLS: they must not be taken for the
// client's, neither in plain text nor after the handshake.
func TestTLSInjection(t *testing.T) {
	serverTLS, _ := tlsPair(t, tls.VersionTLS13)
	request := HandshakeResponse{Capabilities: testCaps | CapSSL}.AppendTLSRequest(nil)
	login := HandshakeResponse{Capabilities: testCaps | CapSSL, User: "empty", Plugin: PluginNative}.Append(nil)
	for name, send := range map[string][]byte{
		"login behind the request":         append(frame(1, request), frame(2, login)...),
		"login in plain that asks for TLS": frame(1, login),
		"half a record":                    append(frame(1, request), 22, 3, 1, 0),
		"garbage":                          append(frame(1, request), "GET / HTTP/1.1\r\n\r\n"...),
		"request twice":                    append(frame(1, request), frame(2, request)...),
	} {
		sn, cn := tcpPair(t)
		server := NewConn(sn)
		server.OfferTLS(serverTLS, false)
		done := make(chan error, 1)
		go func() {
			_, err := testAuth(t).Handshake(t.Context(), server, Greeting{ServerVersion: "8", Capabilities: testCaps}, users)
			_ = sn.Close()
			done <- err
		}()
		if _, err := NewConn(cn).ReadPacket(1000); err != nil {
			t.Fatal(err)
		}
		_, _ = cn.Write(send)
		_ = cn.(*net.TCPConn).CloseWrite()
		answer, _ := io.ReadAll(cn)
		if err := <-done; err == nil {
			t.Errorf("%s: logged in", name)
		}
		if bytes.Contains(answer, []byte{headOK, 0, 0, 2, 0}) {
			t.Errorf("%s: answered %q", name, answer)
		}
	}
}

// TestTLSRequestWithHello sends the first record of TLS together with the request, as a client may.
func TestTLSRequestWithHello(t *testing.T) {
	serverTLS, clientTLS := tlsPair(t, tls.VersionTLS13)
	sn, cn := tcpPair(t)
	server := NewConn(sn)
	server.OfferTLS(serverTLS, true)
	done := make(chan error, 1)
	go func() {
		_, err := testAuth(t).Handshake(t.Context(), server, Greeting{ServerVersion: "8", Capabilities: testCaps}, users)
		done <- err
	}()
	plain := NewConn(cn)
	payload, err := plain.ReadPacket(1000)
	if err != nil {
		t.Fatal(err)
	}
	g, err := ParseGreeting(payload)
	if err != nil {
		t.Fatal(err)
	}
	r := HandshakeResponse{Capabilities: testCaps | CapSSL, User: "clear", Auth: answer(PluginNative, "secret", g.Salt), Plugin: PluginNative}
	secure := tls.Client(&together{Conn: cn, first: frame(1, r.AppendTLSRequest(nil))}, clientTLS)
	if _, err := secure.Write(frame(2, r.Append(nil))); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// together sends some bytes in front of what is written first, at once.
type together struct {
	net.Conn
	first []byte
}

func (c *together) Write(b []byte) (int, error) {
	if c.first == nil {
		return c.Conn.Write(b)
	}
	_, err := c.Conn.Write(append(c.first, b...))
	c.first = nil
	return len(b), err
}

// TestPeerOverTLS looks at connections on which nothing happens, more comes, the other side says farewell, or vanishes.
func TestPeerOverTLS(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for _, tt := range []struct {
			name string
			do   func(*testClient)
			want PeerState
		}{
			{"quiet", func(*testClient) {}, PeerQuiet},
			{"command", func(c *testClient) { _ = c.WritePacket([]byte{ComPing}) }, PeerReadable},
			{"empty packet", func(c *testClient) { _ = c.WritePacket(nil) }, PeerReadable},
			{"farewell", func(c *testClient) { _ = c.secure.Load().CloseWrite() }, PeerGone},
			{"closed", func(c *testClient) { _ = c.Close() }, PeerGone},
			{"vanished", func(c *testClient) { _ = c.raw.Close() }, PeerGone},
		} {
			server, client, _, err := tlsLogin(t, "clear", "secret", PluginNative, version)
			if err != nil {
				t.Fatal(err)
			}
			if !client.Idle() || !server.Idle() {
				t.Errorf("%s: not idle after the login", tt.name)
			}
			tt.do(client)
			deadline := time.Now().Add(10 * time.Second)
			for server.Peer() != tt.want {
				if time.Now().After(deadline) {
					t.Fatalf("%s, TLS %#x: state %d, want %d", tt.name, version, server.Peer(), tt.want)
				}
				runtime.Gosched()
			}
			if idle := server.Idle(); idle != (tt.want == PeerQuiet) {
				t.Errorf("%s: idle %v", tt.name, idle)
			}
		}
	}
}

// TestHandshakesTakeTurns has one place for logins: silent clients do not take it, one that is being verified does.
func TestHandshakesTakeTurns(t *testing.T) {
	a, err := NewAuthenticator()
	if err != nil {
		t.Fatal(err)
	}
	a.LimitHandshakes(1)
	begin := func(ctx context.Context, send func(c *testClient, g Greeting)) (<-chan error, *testClient) {
		sn, cn := tcpPair(t)
		client, done := &testClient{Conn: NewConn(cn), t: t}, make(chan error, 1)
		go func() {
			_, err := a.Handshake(ctx, NewConn(sn), Greeting{ServerVersion: "8", Capabilities: testCaps}, users)
			done <- err
		}()
		g, err := ParseGreeting(client.read())
		if err != nil {
			t.Fatal(err)
		}
		client.salt = g.Salt
		send(client, g)
		return done, client
	}
	log := func(c *testClient, g Greeting) {
		r := HandshakeResponse{Capabilities: testCaps, User: "native", Auth: answer(PluginNative, "secret", g.Salt), Plugin: PluginNative}
		_ = c.WritePacket(r.Append(nil))
	}
	stall := func(c *testClient, _ Greeting) { // a client that leaves a request to change its plugin unanswered
		r := HandshakeResponse{Capabilities: testCaps, User: "native", Auth: []byte("x"), Plugin: "other"}
		_ = c.WritePacket(r.Append(nil))
		_ = c.read()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	silent, _ := begin(ctx, func(*testClient, Greeting) {})
	if done, _ := begin(ctx, log); <-done != nil {
		t.Error("a silent client takes a place")
	}
	stalled, staller := begin(ctx, stall)
	if running, _, _ := a.Handshakes(); running != 1 {
		t.Errorf("%d are verified", running)
	}
	soon, cancelSoon := context.WithTimeout(t.Context(), lastWord+10*time.Millisecond)
	defer cancelSoon()
	late, lateClient := begin(soon, log)
	if e := ParseError(lateClient.read()); e.Code != CodeTooManyConnections {
		t.Errorf("told %v", e)
	}
	if err := <-late; !errors.Is(err, errQueueFull) {
		t.Errorf("error %v", err)
	}
	waiting, _ := begin(ctx, log)
	_ = staller.Close()
	if err := <-waiting; err != nil {
		t.Errorf("after its turn came: %v", err)
	}
	if _, _, refused := a.Handshakes(); refused != 1 {
		t.Errorf("%d refused", refused)
	}
	cancel()
	<-silent
	<-stalled
}

// TestSilentConnIsSmall keeps the memory of clients that do not log in low, whatever they announce.
func TestSilentConnIsSmall(t *testing.T) {
	sn, cn := tcpPair(t)
	c := NewConn(sn)
	if _, err := cn.Write([]byte{0xff, 0xff, 0, 0, 'x'}); err != nil {
		t.Fatal(err)
	}
	_ = cn.(*net.TCPConn).CloseWrite()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := c.ReadPacket(maxLoginPacket); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
	runtime.ReadMemStats(&after)
	allocated := after.TotalAlloc - before.TotalAlloc
	if allocated > 8<<10 || len(c.buf) > loginBuffer {
		t.Errorf("%d bytes for a packet that does not come, a buffer of %d", allocated, len(c.buf))
	}
}
