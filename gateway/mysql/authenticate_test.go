package mysql

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// newAuth makes the tests' one Authenticator: its key takes a while.
var newAuth = sync.OnceValues(NewAuthenticator)

func testAuth(t *testing.T) *Authenticator {
	t.Helper()
	a, err := newAuth()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// hashes of the password "secret".
var (
	nativeHash = nativeHashOf("secret")
	sha2Hash   = sha2HashOf("secret", "\x01bcdefghij\x7flmnopqrst")
	otherHash  = sha2HashOf("secret", "\x02bcdefghij\x7flmnopqrst")
)

func nativeHashOf(password string) string {
	stage1 := sha1.Sum([]byte(password))
	stage2 := sha1.Sum(stage1[:])
	return "*" + strings.ToUpper(hex.EncodeToString(stage2[:]))
}

func sha2HashOf(password, salt string) string {
	return "$A$005$" + salt + shaCrypt(password, salt, 5000)
}

func users(user string) (Credential, bool) {
	switch user {
	case "clear":
		return ParseCredential("secret"), true
	case "empty":
		return ParseCredential(""), true
	case "native":
		return ParseCredential(nativeHash), true
	case "sha2", "open sha2":
		return ParseCredential(sha2Hash), true
	}
	if user == "other sha2" {
		return ParseCredential(otherHash), true
	}
	return Credential{}, false
}

// tcpPair returns two ends of a loopback connection.
func tcpPair(t *testing.T) (server, client net.Conn) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	client, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(20 * time.Second)
	_, _ = client.SetDeadline(deadline), server.SetDeadline(deadline)
	t.Cleanup(func() { _, _ = client.Close(), server.Close() })
	return server, client
}

// testClient logs in as a driver would.
type testClient struct {
	*Conn
	t    testing.TB
	salt []byte
	full bool // Full authentication was asked for.
	open bool // Answer that in clear.
}

// answer computes the answer of a plugin.
func answer(plugin, password string, salt []byte) []byte {
	if password == "" {
		return nil
	}
	if plugin == PluginNative {
		return nativeScramble(salt, sha1.Sum([]byte(password)))
	}
	stage1 := sha256.Sum256([]byte(password))
	stage2 := sha256.Sum256(stage1[:])
	mask := sha256.Sum256(append(bytes.Clone(stage2[:]), salt...))
	for i := range mask {
		mask[i] ^= stage1[i]
	}
	return mask[:]
}

func (c *testClient) read() []byte {
	c.t.Helper()
	b, err := c.ReadPacket(1 << 20)
	if err != nil {
		c.t.Errorf("client read: %v", err)
		return []byte{headErr, 0, 0}
	}
	return bytes.Clone(b)
}

// finish goes through the dance after a first answer, up to the server's verdict: OK, ERR or nothing yet.
func (c *testClient) finish(password string) []byte {
	c.t.Helper()
	for {
		b := c.read()
		switch {
		case b[0] == headEOF:
			a, err := ParseAuthSwitch(b)
			if err != nil {
				c.t.Error(err)
			}
			_ = c.WritePacket(answer(a.Plugin, password, a.Salt))
		case b[0] == headMoreData && b[1] == 3:
		case b[0] == headMoreData && b[1] == 4:
			c.full = true
			if c.open {
				_ = c.WritePacket(append([]byte(password), 0))
				continue
			}
			_ = c.WritePacket([]byte{2})
			block, _ := pem.Decode(c.read()[1:])
			key, err := x509.ParsePKIXPublicKey(block.Bytes)
			if err != nil {
				c.t.Error(err)
			}
			masked := append([]byte(password), 0)
			for i := range masked {
				masked[i] ^= c.salt[i%len(c.salt)]
			}
			sealed, err := rsa.EncryptOAEP(sha1.New(), rand.Reader, key.(*rsa.PublicKey), masked, nil)
			if err != nil {
				c.t.Error(err)
			}
			_ = c.WritePacket(sealed)
		default:
			return b
		}
	}
}

const testCaps = BaseCapabilities | MirroredCapabilities

// logIn runs a handshake on both sides. The server's side ends it with an OK, as a session would.
func logIn(t *testing.T, user, password, plugin string, caps uint32) (*Login, *Conn, *testClient, []byte, error) {
	t.Helper()
	sn, cn := tcpPair(t)
	server, client := NewConn(sn), &testClient{Conn: NewConn(cn), t: t, open: strings.HasPrefix(user, "open ")}
	verdict := make(chan []byte, 1)
	go func() {
		g, err := ParseGreeting(client.read())
		if err != nil {
			t.Error(err)
		}
		client.salt = g.Salt
		r := HandshakeResponse{
			Capabilities: caps, MaxPacket: 1 << 24, Charset: 33, User: user, Auth: answer(plugin, password, g.Salt),
			Schema: "shop", Plugin: plugin, Attrs: map[string]string{"program_name": "test", "_os": "Linux"},
		}
		client.Capabilities = caps
		_ = client.WritePacket(r.Append(nil))
		verdict <- client.finish(password)
	}()
	login, err := testAuth(t).Handshake(t.Context(), server, Greeting{
		ServerVersion: "8.0.36-test", ConnectionID: 7, Capabilities: testCaps, Charset: 45, Status: StatusAutocommit,
	}, users)
	if err == nil {
		if err := server.WriteOK(OK{Status: StatusAutocommit}); err != nil {
			t.Error(err)
		}
	}
	return login, server, client, <-verdict, err
}

func TestHandshake(t *testing.T) {
	testAuth(t).cached = map[string]cachedLogin{}
	tests := []struct {
		user, password, plugin string
		ok, full               bool
	}{
		{"clear", "secret", PluginNative, true, false},
		{"clear", "secret", PluginCachingSHA2, true, false},
		{"clear", "wrong", PluginNative, false, false},
		{"clear", "wrong", PluginCachingSHA2, false, true},
		{"clear", "", PluginNative, false, false},
		{"clear", "secret", "some_other_plugin", true, false},
		{"native", "secret", PluginNative, true, false},
		{"native", "secret", PluginCachingSHA2, true, false},
		{"native", "wrong", PluginNative, false, false},
		{"open sha2", "wrong", PluginNative, false, true},
		{"open sha2", "secret", PluginNative, true, true},
		{"sha2", "secret", PluginNative, true, false}, // Cached by now.
		{"sha2", "secret", PluginCachingSHA2, true, false},
		{"sha2", "wrong", PluginCachingSHA2, false, true},
		{"sha2", "", PluginCachingSHA2, false, false},
		{"other sha2", "wrong", PluginNative, false, true},
		{"other sha2", "secret", PluginNative, true, true},
		{"other sha2", "secret", PluginCachingSHA2, true, false},
		{"empty", "", PluginNative, true, false},
		{"empty", "", PluginCachingSHA2, true, false},
		{"empty", "x", PluginNative, false, false},
		{"nobody", "secret", PluginNative, false, false},
		{"nobody", "secret", PluginCachingSHA2, false, true},
		{"nobody", "", PluginNative, false, false},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s %q by %s", tt.user, tt.password, tt.plugin), func(t *testing.T) {
			login, _, client, verdict, err := logIn(t, tt.user, tt.password, tt.plugin, testCaps)
			if client.full != tt.full {
				t.Errorf("full authentication %v, want %v", client.full, tt.full)
			}
			if !tt.ok {
				using := "YES"
				if tt.password == "" {
					using = "NO"
				}
				want := fmt.Sprintf("Access denied for user '%s'@'127.0.0.1' (using password: %s)", tt.user, using)
				var sent *Error
				if !errors.As(err, &sent) || sent.Code != 1045 {
					t.Errorf("error %v", err)
				}
				if got := ParseError(verdict); verdict[0] != headErr || got.Code != 1045 || got.State != "28000" || got.Message != want {
					t.Errorf("client was told %v", got)
				}
				return
			}
			if err != nil || verdict[0] != headOK {
				t.Fatalf("%v, verdict %q", err, verdict)
			}
			if login.User != tt.user || login.Schema != "shop" || login.Host != "127.0.0.1" || login.Charset != 33 ||
				login.MaxPacket != 1<<24 || login.Capabilities != testCaps || login.Attrs["program_name"] != "test" {
				t.Errorf("login %+v", login)
			}
			salt := []byte("12345678901234567890")
			got, known := login.Secret.NativeAnswer(salt)
			if want := answer(PluginNative, tt.password, salt); !known || !bytes.Equal(got, want) {
				t.Error("the secret does not log in by mysql_native_password")
			}
			password, inClear := login.Secret.Password()
			if inClear != (tt.user != "native") || inClear && password != tt.password {
				t.Errorf("password %q, %v", password, inClear)
			}
			if s := fmt.Sprintf("%v %+v %#v", login.Secret, login, login.Secret); tt.password != "" && strings.Contains(s, tt.password) {
				t.Errorf("prints its secret: %s", s)
			}
		})
	}
}

func TestHandshakeCapabilitiesAreMasked(t *testing.T) {
	login, server, _, _, err := logIn(t, "clear", "secret", PluginNative, testCaps|CapCompress|CapSessionTrack|CapQueryAttributes)
	if err != nil {
		t.Fatal(err)
	}
	if login.Capabilities != testCaps || server.Capabilities != testCaps {
		t.Errorf("capabilities %#x", login.Capabilities)
	}
}

func TestHandshakeWithoutPluginAuth(t *testing.T) {
	caps := testCaps &^ (CapPluginAuth | CapLenencAuth | CapConnectAttrs)
	if _, _, _, verdict, err := logIn(t, "native", "secret", PluginNative, caps); err != nil || verdict[0] != headOK {
		t.Errorf("native: %v", err)
	}
	_, _, _, verdict, err := logIn(t, "sha2", "secret", PluginNative, caps)
	var sent *Error
	if !errors.As(err, &sent) || sent.Code != CodeUnsupportedAuthMode || ParseError(verdict).Code != CodeUnsupportedAuthMode {
		t.Errorf("caching_sha2: %v", err)
	}
}

// TestHandshakeRaw sends what no driver would, after reading the greeting.
func TestHandshakeRaw(t *testing.T) {
	head := func(caps uint32) []byte {
		return HandshakeResponse{Capabilities: caps}.Append(nil)[:32]
	}
	big := make([]byte, 70_000)
	tests := []struct {
		name string
		send []byte
		code uint16 // 0: nothing is answered.
		err  error
	}{
		{"nothing", nil, 0, ErrNoHandshake},
		{"half a header", []byte{1, 0}, 0, io.ErrUnexpectedEOF},
		{"empty packet", frame(1, nil), CodeBadHandshake, ErrMalformedPacket},
		{"31 bytes", frame(1, head(testCaps)[:31]), CodeBadHandshake, ErrMalformedPacket},
		{"user without NUL", frame(1, append(head(testCaps), "root"...)), CodeBadHandshake, ErrMalformedPacket},
		{"auth longer than the packet", frame(1, append(head(testCaps), "root\x00\xfe\xff\xff\xff\xff\xff\xff\xff\xffx"...)), CodeBadHandshake, ErrMalformedPacket},
		{"schema without NUL", frame(1, append(head(testCaps), "root\x00\x00shop"...)), CodeBadHandshake, ErrMalformedPacket},
		{"plugin without NUL", frame(1, append(head(testCaps), "root\x00\x00shop\x00mysql"...)), CodeBadHandshake, ErrMalformedPacket},
		{"attributes longer than the packet", frame(1, append(head(testCaps), "root\x00\x00shop\x00p\x00\x30\x01a"...)), CodeBadHandshake, ErrMalformedPacket},
		{"attribute without value", frame(1, append(head(testCaps), "root\x00\x00shop\x00p\x00\x02\x01a"...)), CodeBadHandshake, ErrMalformedPacket},
		{"TLS request", frame(1, head(testCaps|CapSSL)), CodeBadHandshake, ErrMalformedPacket},
		{"before 4.1", frame(1, []byte{5, 0, 0, 0, 0, 'u', 0}), CodeBadHandshake, ErrMalformedPacket},
		{"too large", frame(1, big), CodeBadHandshake, ErrPacketTooLarge},
		{"16 MiB announced", []byte{0xff, 0xff, 0xff, 1, 0, 0}, CodeBadHandshake, ErrPacketTooLarge},
		{"wrong number", frame(5, head(testCaps)), CodePacketsOutOfOrder, ErrOutOfOrder},
		{"HTTP", []byte("GET / HTTP/1.1\r\n\r\n"), CodeBadHandshake, ErrPacketTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sn, cn := tcpPair(t)
			done := make(chan error, 1)
			go func() {
				_, err := testAuth(t).Handshake(t.Context(), NewConn(sn), Greeting{ServerVersion: "8", Capabilities: testCaps}, users)
				_ = sn.(*net.TCPConn).CloseWrite()
				done <- err
			}()
			client := NewConn(cn)
			if _, err := client.ReadPacket(1000); err != nil {
				t.Fatal(err)
			}
			if _, err := cn.Write(tt.send); err != nil {
				t.Fatal(err)
			}
			if err := cn.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			rest, err := io.ReadAll(cn)
			if err != nil {
				t.Fatal(err)
			}
			if err := <-done; !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			if tt.code == 0 {
				if len(rest) > 0 {
					t.Errorf("answered %q", rest)
				}
				return
			}
			if len(rest) < headerSize+3 || ParseError(rest[headerSize:]).Code != tt.code {
				t.Fatalf("answered %q, want code %d", rest, tt.code)
			}
			if rest[3] != tt.send[3]+1 {
				t.Errorf("answered with number %d to %d", rest[3], tt.send[3])
			}
		})
	}
}

func TestHandshakeEndsWithItsContext(t *testing.T) {
	sn, _ := tcpPair(t)
	ctx, cancel := context.WithCancel(t.Context())
	server := NewConn(sn)
	done := make(chan error, 1)
	go func() {
		_, err := testAuth(t).Handshake(ctx, server, Greeting{ServerVersion: "8", Capabilities: testCaps}, users)
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := testAuth(t).Handshake(ctx, server, Greeting{ServerVersion: "8"}, users); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

func TestRefuseBeforeGreeting(t *testing.T) {
	sn, cn := tcpPair(t)
	if err := NewConn(sn).WriteError(NewError(CodeTooManyConnections, "08004", "Too many connections")); err != nil {
		t.Fatal(err)
	}
	payload, err := NewConn(cn).ReadPacket(1000)
	if err != nil {
		t.Fatal(err)
	}
	var told *Error
	if _, err := ParseGreeting(payload); !errors.As(err, &told) || told.Code != 1040 || told.State != "08004" {
		t.Errorf("greeting %v", err)
	}
}

func TestChangeUser(t *testing.T) {
	// Each client changes once, by the challenge of its login.
	tests := []struct {
		user, password, plugin string
		caps                   uint32
		ok                     bool
	}{
		{"native", "secret", PluginNative, testCaps, true},
		{"native", "wrong", PluginNative, testCaps, false},
		{"sha2", "secret", PluginNative, testCaps, true},
		{"clear", "secret", PluginCachingSHA2, testCaps, true},
		{"empty", "", PluginNative, testCaps, true},
		{"nobody", "", PluginNative, testCaps, false},
		{"native", "secret", "", testCaps &^ (CapPluginAuth | CapConnectAttrs), true},
	}
	for _, tt := range tests {
		_, server, client, _, err := logIn(t, "clear", "secret", PluginNative, tt.caps)
		if err != nil {
			t.Fatal(err)
		}
		plugin := tt.plugin
		if plugin == "" {
			plugin = PluginNative
		}
		auth := answer(plugin, tt.password, client.salt)
		b := append([]byte{ComChangeUser}, tt.user+"\x00"...)
		b = append(append(b, byte(len(auth))), auth...)
		b = append(b, "other\x00\x2d\x00"...)
		if tt.plugin != "" {
			b = append(b, tt.plugin+"\x00"...)
			b = appendLenencString(b, row("k", "v"))
		}
		verdict := make(chan []byte, 1)
		go func() {
			client.seq = 0
			_ = client.WritePacket(b)
			verdict <- client.finish(tt.password)
		}()
		cmd, err := server.ReadCommand()
		if err != nil || cmd.Code != ComChangeUser {
			t.Fatal(cmd, err)
		}
		was := Login{User: "clear", Host: "h", Capabilities: tt.caps, Charset: 1, Attrs: map[string]string{"was": "x"}}
		login, err := testAuth(t).ChangeUser(t.Context(), server, &was, users)
		if err == nil {
			_ = server.WriteOK(OK{})
		}
		if got := <-verdict; (err == nil) != tt.ok || (got[0] == headOK) != tt.ok {
			t.Errorf("%+v: %v, verdict %q", tt, err, got)
		}
		if err == nil && (login.User != tt.user || login.Schema != "other" || login.Charset != 45 || login.Host != "h" || !login.Secret.Known()) {
			t.Errorf("%+v: login %+v", tt, login)
		}
		if err == nil && (len(login.Attrs) != 0) != (tt.plugin != "") || err == nil && tt.plugin != "" && login.Attrs["k"] != "v" || len(was.Attrs) != 1 {
			t.Errorf("%+v: attributes %v", tt, login.Attrs)
		}
	}
}

func TestChangeUserIsLimited(t *testing.T) {
	var in []byte
	for seq := range byte(3) {
		in = append(appendHeader(in, MaxFragment, seq), make([]byte, MaxFragment)...)
	}
	in[headerSize] = ComChangeUser
	cn := &memConn{in: in}
	server := NewConn(cn)
	if _, err := server.ReadCommand(); err != nil {
		t.Fatal(err)
	}
	_, err := testAuth(t).ChangeUser(t.Context(), server, &Login{}, users)
	if !errors.Is(err, ErrPacketTooLarge) {
		t.Errorf("error %v", err)
	}
	if read := len(in) - len(cn.in); read > 2*maxLoginPacket {
		t.Errorf("read %d bytes", read)
	}
	if ParseError(cn.out.Bytes()[headerSize:]).Code != CodeBadHandshake {
		t.Errorf("answered %q", cn.out.Bytes())
	}
}

func TestSHACrypt(t *testing.T) {
	// As libcrypt gives; the first two are the specification's.
	tests := []struct {
		password, salt string
		rounds         int
		want           string
	}{
		{"Hello world!", "saltstring", 5000, "5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"},
		{"Hello world!", "saltstringsaltst", 10000, "3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA"},
		{"This is just a test", "toolongsaltstrin", 5000, "Un/5jzAHMgOGZ5.mWJpuVolil07guHPvOW8mGRcvxa5"},
		{"we have a short salt string but not a short password, it is longer than 32", "short", 5000, "Yv05sLIT4dTIp6/Et3Jxto2RPARypeIrTj9UKldcXv4"},
	}
	for _, tt := range tests {
		if got := shaCrypt(tt.password, tt.salt, tt.rounds); got != tt.want {
			t.Errorf("shaCrypt(%q, %q, %d) = %s, want %s", tt.password, tt.salt, tt.rounds, got, tt.want)
		}
	}
}

// TestSHA2HashOfMySQL checks a hash that a MySQL server made: its salt is longer than libcrypt's.
func TestSHA2HashOfMySQL(t *testing.T) {
	salt, err := hex.DecodeString("F9CC98CE08892924F50A213B6BC571A2C11778C5")
	if err != nil {
		t.Fatal(err)
	}
	text := "$A$005$" + string(salt) + "bTy95Y99eAME1dwEkHOA1ndHGBWz.1bxSSRkuTXFGV/"
	if !matchesSHA2Hash(text, "hashcat") {
		t.Error("the right password does not match")
	}
	for _, wrong := range []string{"", "hashcaT", strings.Repeat("x", 300)} {
		if matchesSHA2Hash(text, wrong) {
			t.Errorf("%q matches", wrong)
		}
	}
}

func TestParseCredential(t *testing.T) {
	for text, want := range map[string]credentialKind{
		"": kindClear, "secret": kindClear, "*secret": kindClear, nativeHash: kindNative,
		nativeHash[:40] + "x": kindClear, sha2Hash: kindSHA2, "$A$005$short": kindClear, "$A$000$" + sha2Hash[7:]: kindClear,
	} {
		if got := ParseCredential(text).kind; got != want {
			t.Errorf("ParseCredential(%q) is of kind %d, want %d", text, got, want)
		}
	}
}

func FuzzHandshakeResponse(f *testing.F) {
	r := HandshakeResponse{Capabilities: testCaps, User: "u", Auth: []byte("12345678901234567890"), Schema: "s", Plugin: PluginNative, Attrs: map[string]string{"a": "b"}}
	f.Add(r.Append(nil), testCaps)
	r.Capabilities &^= CapLenencAuth | CapConnectAttrs
	f.Add(r.Append(nil), testCaps)
	r.Capabilities = CapProtocol41
	f.Add(r.Append(nil), uint32(0))
	f.Fuzz(func(t *testing.T, payload []byte, offered uint32) {
		r, err := ParseHandshakeResponse(payload, offered)
		if err != nil {
			if !errors.Is(err, ErrMalformedPacket) {
				t.Errorf("error %v", err)
			}
			return
		}
		r.Capabilities &= offered
		r.Capabilities |= CapProtocol41
		again, err := ParseHandshakeResponse(r.Append(nil), offered|CapProtocol41)
		if err != nil || again.User != r.User || again.Schema != r.Schema || again.Plugin != r.Plugin || !bytes.Equal(again.Auth, r.Auth) || len(again.Attrs) != len(r.Attrs) {
			t.Errorf("%+v became %+v, %v", r, again, err)
		}
	})
}

func FuzzChangeUser(f *testing.F) {
	f.Add([]byte("\x11u\x00\x03abcdb\x00\x21\x00mysql_native_password\x00\x04\x01k\x01v"), testCaps)
	f.Add([]byte("\x11u\x00\x00\x00"), uint32(0))
	f.Fuzz(func(t *testing.T, payload []byte, caps uint32) {
		if _, err := parseChangeUser(payload, caps); err != nil && !errors.Is(err, ErrMalformedPacket) {
			t.Errorf("error %v", err)
		}
	})
}

func FuzzGreeting(f *testing.F) {
	f.Add(Greeting{ServerVersion: "8", Salt: newSalt(), Plugin: PluginNative, Capabilities: testCaps}.Append(nil))
	f.Add(appendErr(nil, NewError(1040, "08004", "Too many connections")))
	f.Fuzz(func(t *testing.T, payload []byte) {
		g, err := ParseGreeting(payload)
		if err == nil && len(g.Salt) != saltSize {
			t.Errorf("salt of %d bytes", len(g.Salt))
		}
		_, _ = ParseAuthSwitch(payload)
	})
}
