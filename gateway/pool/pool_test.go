package pool

import (
	"bytes"
	"context"
	"crypto/sha1"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pointsman/pointsman/gateway/mysql"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newAuth makes the tests' one Authenticator: its key takes a while.
var newAuth = sync.OnceValues(mysql.NewAuthenticator)

func testAuth(t *testing.T) *mysql.Authenticator {
	t.Helper()
	a, err := newAuth()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// serve accepts connections until the test ends and hands each to f, which owns it.
func serve(t *testing.T, f func(net.Conn)) (addr string) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	all.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, nc)
			mu.Unlock()
			all.Go(func() {
				defer func() { _ = nc.Close() }()
				f(nc)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, nc := range open {
			_ = nc.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return l.Addr().String()
}

// tap keeps what is written to a connection.
type tap struct {
	net.Conn
	mu  sync.Mutex
	out bytes.Buffer
}

func (c *tap) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.out.Write(p)
	c.mu.Unlock()
	return c.Conn.Write(p)
}

func (c *tap) wrote(b []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Contains(c.out.Bytes(), b)
}

// sha2Hash is of the password "hashcat", made by a MySQL server.
var sha2Hash = "$A$005$\xF9\xCC\x98\xCE\x08\x89\x29\x24\xF5\x0A\x21\x3B\x6B\xC5\x71\xA2\xC1\x17\x78\xC5" +
	"bTy95Y99eAME1dwEkHOA1ndHGBWz.1bxSSRkuTXFGV/"

func users(user string) (mysql.Credential, bool) {
	switch user {
	case "clear":
		return mysql.ParseCredential("secret"), true
	case "empty":
		return mysql.ParseCredential(""), true
	case "sha2":
		return mysql.ParseCredential(sha2Hash), true
	}
	return mysql.Credential{}, false
}

const serverCaps = mysql.BaseCapabilities | mysql.MirroredCapabilities | mysql.CapSessionTrack

// fakeServer logs clients in and answers pings. It tells of each login.
func fakeServer(t *testing.T, caps uint32) (addr string, logins <-chan *mysql.Login, taps <-chan *tap) {
	t.Helper()
	l, c := make(chan *mysql.Login, 10), make(chan *tap, 10)
	a := testAuth(t)
	addr = serve(t, func(nc net.Conn) {
		tapped := &tap{Conn: nc}
		conn := mysql.NewConn(tapped)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		login, err := a.Handshake(ctx, conn, mysql.Greeting{ServerVersion: "8.0.99-fake", ConnectionID: 77, Capabilities: caps, Charset: 255}, users)
		if err != nil {
			return
		}
		_ = conn.WriteOK(mysql.OK{Status: mysql.StatusAutocommit})
		l <- login
		c <- tapped
		for {
			cmd, err := conn.ReadCommand()
			if err != nil || cmd.Code == mysql.ComQuit {
				return
			}
			_ = conn.WriteOK(mysql.OK{Status: mysql.StatusAutocommit})
		}
	})
	return addr, l, c
}

func TestDialSpeaksAsTheClientDid(t *testing.T) {
	addr, logins, _ := fakeServer(t, serverCaps)
	secrets := map[string]mysql.Secret{
		"password": mysql.ClearSecret("secret"),
		"proof":    mysql.NativeSecret(sha1.Sum([]byte("secret"))),
	}
	for name, secret := range secrets {
		t.Run(name, func(t *testing.T) {
			flags := mysql.CapFoundRows | mysql.CapInteractive | mysql.CapMultiStatements | mysql.CapLocalFiles
			b, err := Dial(t.Context(), Target{
				Addr: addr, User: "clear", Secret: secret, DB: "shop", Charset: 33, MaxPacket: 12345,
				ClientFlags: flags | mysql.CapCompress | mysql.CapSSL, Attrs: map[string]string{"program_name": "app"}, ConnectTimeout: 10 * time.Second,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = b.Close() }()
			login := <-logins
			if got := login.Capabilities & (mysql.MirroredCapabilities | mysql.CapSessionTrack | mysql.CapQueryAttributes); got != flags {
				t.Errorf("server saw flags %#x, want %#x", got, flags)
			}
			if login.Schema != "shop" || login.Charset != 33 || login.MaxPacket != 12345 || login.Attrs["program_name"] != "app" {
				t.Errorf("server saw %+v", login)
			}
			if b.Conn.Capabilities != flags || b.ServerVersion != "8.0.99-fake" || b.ThreadID != 77 || b.Status != mysql.StatusAutocommit || b.ServerCapabilities != serverCaps {
				t.Errorf("connection %+v", b)
			}
			if out, err := b.Ping(t.Context()); err != nil || !out.StatusKnown {
				t.Errorf("ping: %+v, %v", out, err)
			}
		})
	}
}

func TestDialByCachingSHA2(t *testing.T) {
	addr, logins, taps := fakeServer(t, serverCaps)
	target := Target{Addr: addr, User: "sha2", Secret: mysql.ClearSecret("hashcat"), ConnectTimeout: 10 * time.Second}
	for i, want := range [][]byte{{2, 0, 0, 4, 1, 4}, {2, 0, 0, 4, 1, 3}, {2, 0, 0, 4, 1, 3}} {
		b, err := Dial(t.Context(), target)
		if err != nil {
			t.Fatalf("login %d: %v", i, err)
		}
		<-logins
		if c := <-taps; !c.wrote(want) {
			t.Errorf("login %d was not answered by %v", i, want)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestDialRefused(t *testing.T) {
	addr, _, _ := fakeServer(t, serverCaps&^mysql.CapDeprecateEOF)
	proof := mysql.NativeSecret(sha1.Sum([]byte("secret")))
	tests := []struct {
		name      string
		target    Target
		is        error
		code      uint16 // Told to the client.
		elsewhere bool
	}{
		{"wrong password", Target{User: "clear", Secret: mysql.ClearSecret("wrong")}, nil, 1045, false},
		{"wrong proof", Target{User: "clear", Secret: mysql.NativeSecret([20]byte{1})}, nil, 1045, false},
		{"unknown user", Target{User: "nobody", Secret: mysql.ClearSecret("x")}, nil, 1045, false},
		{"nothing known", Target{User: "clear"}, ErrNoSecret, 1045, false},
		{"a proof where the password is needed", Target{User: "sha2", Secret: proof}, ErrNeedsPassword, 1045, true},
		{"promised more than the server has", Target{User: "clear", Secret: proof, ClientFlags: mysql.CapDeprecateEOF}, ErrIncompatible, CodeUnreachable, true},
		{"the same by password", Target{User: "clear", Secret: mysql.ClearSecret("secret"), ClientFlags: mysql.CapDeprecateEOF}, ErrIncompatible, CodeUnreachable, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.target.Addr, tt.target.ConnectTimeout = addr, 10*time.Second
			_, err := Dial(t.Context(), tt.target)
			var dial *DialError
			if !errors.As(err, &dial) || dial.TryElsewhere() != tt.elsewhere || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("error %v, want %v", err, tt.is)
			}
			if got := ClientError(err); got.Code != tt.code {
				t.Errorf("client gets %v, want code %d", got, tt.code)
			}
		})
	}
}

// TestDialNeverTellsThePassword has servers that ask for it.
func TestDialNeverTellsThePassword(t *testing.T) {
	const password = "never-to-be-seen"
	for name, sends := range map[string]string{
		"by a switch":       packet(0, greetingOf("mysql_native_password")) + packet(2, "\xfemysql_clear_password\x00"),
		"in the greeting":   packet(0, greetingOf("mysql_clear_password")),
		"in both":           packet(0, greetingOf("mysql_clear_password")) + packet(2, "\xfemysql_clear_password\x00"),
		"after another one": packet(0, greetingOf("mysql_native_password")) + packet(2, "\xfemysql_native_password\x0012345678901234567890\x00") + packet(4, "\xfemysql_clear_password\x00"),
	} {
		t.Run(name, func(t *testing.T) {
			heard := make(chan []byte, 1)
			addr := serve(t, func(nc net.Conn) {
				_, _ = nc.Write([]byte(sends))
				said, _ := io.ReadAll(nc)
				heard <- said
			})
			_, err := Dial(t.Context(), Target{Addr: addr, User: "u", Secret: mysql.ClearSecret(password), ConnectTimeout: 10 * time.Second})
			if !errors.Is(err, ErrWantsClearText) {
				t.Errorf("error %v", err)
			}
			if bytes.Contains(<-heard, []byte(password)) {
				t.Error("the server has the password")
			}
		})
	}
}

// packet frames one payload.
func packet(seq byte, payload string) string {
	return string([]byte{byte(len(payload)), byte(len(payload) >> 8), 0, seq}) + payload
}

// greetingOf is a server's greeting.
func greetingOf(plugin string) string {
	caps := serverCaps
	b := "\x0a8.0\x00\x01\x00\x00\x0012345678\x00"
	b += string(binary.LittleEndian.AppendUint16(nil, uint16(caps&0xffff))) + "\x21\x02\x00"
	b += string(binary.LittleEndian.AppendUint16(nil, uint16(caps>>16)))
	return b + "\x15" + strings.Repeat("\x00", 10) + "123456789012\x00" + plugin + "\x00"
}

func TestDialBrokenServers(t *testing.T) {
	good := greetingOf("mysql_native_password")
	tests := map[string]struct {
		sends     string
		silent    bool
		code      uint16
		elsewhere bool
	}{
		"says nothing":                  {silent: true, code: CodeUnreachable, elsewhere: true},
		"hangs up":                      {code: CodeUnreachable, elsewhere: true},
		"stops after the greeting":      {sends: packet(0, good), silent: true, code: CodeUnreachable, elsewhere: true},
		"hangs up after the greeting":   {sends: packet(0, good), code: CodeUnreachable, elsewhere: true},
		"is full":                       {sends: packet(0, "\xff\x10\x04#08004Too many connections"), code: 1040, elsewhere: true},
		"is full, the old way":          {sends: packet(0, "\xff\x10\x04Too many connections"), code: 1040, elsewhere: true},
		"blocks the host":               {sends: packet(0, "\xff\x69\x04#HY000Host is blocked"), code: 1129, elsewhere: true},
		"does not know the schema":      {sends: packet(0, good) + packet(2, "\xff\x19\x04#42000Unknown database 'x'"), code: 1049},
		"speaks the X protocol":         {sends: packet(0, "\x0bxxxx"), code: CodeUnreachable, elsewhere: true},
		"speaks HTTP":                   {sends: "HTTP/1.1 400 Bad Request\r\n\r\n", code: CodeUnreachable, elsewhere: true},
		"sends an empty packet":         {sends: packet(0, ""), code: CodeUnreachable, elsewhere: true},
		"announces 16 MiB":              {sends: "\xff\xff\xff\x00", code: CodeUnreachable, elsewhere: true},
		"sends an empty verdict":        {sends: packet(0, good) + packet(2, ""), code: CodeUnreachable, elsewhere: true},
		"sends half an OK":              {sends: packet(0, good) + packet(2, "\x00\x00"), code: CodeUnreachable, elsewhere: true},
		"switches with a short salt":    {sends: packet(0, good) + packet(2, "\xfemysql_native_password\x00abc"), code: CodeUnreachable, elsewhere: true},
		"switches to nothing":           {sends: packet(0, good) + packet(2, "\xfe"), code: CodeUnreachable, elsewhere: true},
		"switches to an unknown plugin": {sends: packet(0, good) + packet(2, "\xfeno_such\x00abc"), code: CodeUnreachable, elsewhere: true},
		"sends a bad key":               {sends: packet(0, good) + packet(2, "\xfesha256_password\x0012345678901234567890\x00") + packet(4, "\x01no key"), code: CodeUnreachable, elsewhere: true},
	}
	for i := range good {
		tests[fmt.Sprintf("greets with %d bytes", i)] = struct {
			sends     string
			silent    bool
			code      uint16
			elsewhere bool
		}{sends: packet(0, good[:i]), code: CodeUnreachable, elsewhere: true}
	}
	for name, tt := range tests {
		addr := serve(t, func(nc net.Conn) {
			if _, err := nc.Write([]byte(tt.sends)); err != nil {
				return
			}
			if !tt.silent {
				_ = nc.(*net.TCPConn).CloseWrite()
			}
			_, _ = nc.Read(make([]byte, 1000))
			_, _ = nc.Read(make([]byte, 1000)) // Until the dialler gives up.
		})
		for _, secret := range []mysql.Secret{mysql.ClearSecret("secret"), mysql.NativeSecret([20]byte{1})} {
			timeout := 10 * time.Second
			if tt.silent {
				timeout = 50 * time.Millisecond
			}
			b, err := Dial(t.Context(), Target{Addr: addr, User: "u", Secret: secret, ConnectTimeout: timeout})
			if err == nil {
				_ = b.Conn.Close()
				t.Errorf("%s: logged in", name)
				continue
			}
			var dial *DialError
			if !errors.As(err, &dial) || dial.TryElsewhere() != tt.elsewhere {
				t.Errorf("%s: error %v, try elsewhere %v", name, err, dial.TryElsewhere())
			}
			if errors.Is(err, ErrNeedsPassword) && strings.HasPrefix(name, "s") {
				continue // The proof alone gets no further with such a plugin.
			}
			if got := ClientError(err); got.Code != tt.code || len(got.State) != 5 && tt.code != 1040 {
				t.Errorf("%s: client gets %v, want code %d", name, got, tt.code)
			}
			if tt.silent && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: error %v", name, err)
			}
		}
	}
}

func TestDialNobodyListens(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	_, err = Dial(t.Context(), Target{Addr: addr, User: "u", Secret: mysql.ClearSecret("")})
	var dial *DialError
	if !errors.As(err, &dial) || !dial.TryElsewhere() {
		t.Errorf("error %v", err)
	}
	if got := ClientError(err); got.Code != CodeUnreachable || got.State != "08S01" || !strings.Contains(got.Message, addr) {
		t.Errorf("client gets %v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Dial(ctx, Target{Addr: addr, User: "u", Secret: mysql.ClearSecret("")}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestAlive(t *testing.T) {
	peers := make(chan net.Conn, 2)
	a := testAuth(t)
	stay := make(chan struct{})
	defer close(stay)
	addr := serve(t, func(nc net.Conn) {
		conn := mysql.NewConn(nc)
		if _, err := a.Handshake(t.Context(), conn, mysql.Greeting{ServerVersion: "8", Capabilities: serverCaps}, users); err != nil {
			return
		}
		_ = conn.WriteOK(mysql.OK{})
		peers <- nc
		<-stay
	})
	farewell := packet(0, "\xff\xbf\x0f#HY000Timeout")
	for name, end := range map[string]func(net.Conn){
		"closed":        func(nc net.Conn) { _ = nc.Close() },
		"said farewell": func(nc net.Conn) { _, _ = nc.Write([]byte(farewell)) },
	} {
		b, err := Dial(t.Context(), Target{Addr: addr, User: "empty", Secret: mysql.ClearSecret(""), ConnectTimeout: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if !b.Alive() {
			t.Errorf("%s: not alive before", name)
		}
		end(<-peers)
		deadline := time.Now().Add(10 * time.Second)
		for b.Alive() && time.Now().Before(deadline) {
			<-time.After(time.Millisecond)
		}
		if b.Alive() {
			t.Errorf("%s: still alive", name)
		}
		_ = b.Conn.Close()
	}
}

// TestLocalResultset reads what the gateway answers itself through a driver.
func TestLocalResultset(t *testing.T) {
	a := testAuth(t)
	for _, offered := range []uint32{serverCaps, serverCaps &^ mysql.CapDeprecateEOF} {
		addr := serve(t, func(nc net.Conn) {
			c := mysql.NewConn(nc)
			if _, err := a.Handshake(t.Context(), c, mysql.Greeting{ServerVersion: "8", Capabilities: offered}, users); err != nil {
				return
			}
			_ = c.WriteOK(mysql.OK{})
			for {
				cmd, err := c.ReadCommand()
				if err != nil || cmd.Code == mysql.ComQuit {
					return
				}
				_ = c.WriteResultset(
					[]mysql.Column{{Name: "Level"}, {Name: "Code", Type: mysql.TypeLongLong, NotNull: true}, {Name: "Message"}},
					[][][]byte{{[]byte("Note"), []byte("-12"), nil}, {{}, []byte("7"), []byte(strings.Repeat("m", 70_000))}}, 2, 0)
			}
		})
		db, err := sql.Open("mysql", "clear:secret@tcp("+addr+")/")
		if err != nil {
			t.Fatal(err)
		}
		got, err := rowsOf(db, "SHOW WARNINGS")
		want := []string{"Level VARCHAR", "Code BIGINT", "Message VARCHAR", `"Note"/false`, `"-12"/false`, `""/true`, `""/false`, `"7"/false`, `"` + strings.Repeat("m", 70_000) + `"/false`}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("got %.300v, %v", got, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
