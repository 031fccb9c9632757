package pool

import (
	"crypto/sha1"
	"crypto/tls"
	"errors"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	gomysql "github.com/go-mysql-org/go-mysql/mysql"
	"github.com/go-mysql-org/go-mysql/server"

	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/mysqltest"
)

// startMySQL8 serves by go-mysql's server, with caching_sha2_password and TLS, unless tlsConfig is nil.
func startMySQL8(t *testing.T, tlsConfig *tls.Config, plugin string) (addr string) {
	t.Helper()
	users := server.NewInMemoryAuthenticationHandler(plugin)
	if err := users.AddUser("app", "secret"); err != nil {
		t.Fatal(err)
	}
	s := server.NewServer("8.0.40", 45, plugin, nil, tlsConfig)
	return serve(t, func(nc net.Conn) {
		conn, err := s.NewCustomizedConn(nc, users, server.EmptyHandler{})
		for err == nil && !conn.Closed() {
			err = conn.HandleCommand()
		}
	})
}

func TestDialMySQL8OverTLS(t *testing.T) {
	ca := mysqltest.NewAuthority(t)
	cert, _, _ := ca.Issue(t, "127.0.0.1")
	for _, plugin := range []string{gomysql.AUTH_CACHING_SHA2_PASSWORD, gomysql.AUTH_NATIVE_PASSWORD, gomysql.AUTH_SHA256_PASSWORD} {
		addr := startMySQL8(t, &tls.Config{Certificates: []tls.Certificate{cert}}, plugin)
		for range 3 { // full authentication, then by the server's cache
			b, err := Dial(t.Context(), Target{
				Addr: addr, User: "app", Secret: mysql.ClearSecret("secret"), TLS: &tls.Config{RootCAs: ca.Pool}, ConnectTimeout: 10 * time.Second,
			})
			if err != nil {
				t.Fatalf("%s: %v", plugin, err)
			}
			if out, err := b.Ping(t.Context()); err != nil || !out.StatusKnown || !b.Conn.Encrypted() || !b.Alive() {
				t.Errorf("%s: ping %+v, %v, encrypted %v", plugin, out, err, b.Conn.Encrypted())
			}
			_ = b.Close()
		}
		_, err := Dial(t.Context(), Target{
			Addr: addr, User: "app", Secret: mysql.ClearSecret("wrong"), TLS: &tls.Config{RootCAs: ca.Pool}, ConnectTimeout: 10 * time.Second,
		})
		var told *mysql.Error
		if !errors.As(err, &told) || told.Code != mysql.CodeAccessDenied {
			t.Errorf("%s, wrong password: %v", plugin, err)
		}
	}
}

// TestDialTLSRefused has servers that are not who they should be, or that do not offer TLS. None gets to see more than a
// request for TLS.
func TestDialTLSRefused(t *testing.T) {
	ca, other := mysqltest.NewAuthority(t), mysqltest.NewAuthority(t)
	mine, _, _ := ca.Issue(t, "127.0.0.1")
	elsewhere, _, _ := ca.Issue(t, "db.example")
	foreign, _, _ := other.Issue(t, "127.0.0.1")
	for _, tt := range []struct {
		name   string
		server *tls.Config
		client *tls.Config
		want   string // in the error
	}{
		{"good", &tls.Config{Certificates: []tls.Certificate{mine}}, &tls.Config{RootCAs: ca.Pool}, ""},
		{"named", &tls.Config{Certificates: []tls.Certificate{elsewhere}}, &tls.Config{RootCAs: ca.Pool, ServerName: "db.example"}, ""},
		{"no TLS", nil, &tls.Config{RootCAs: ca.Pool}, "server does not offer TLS"},
		{"other name", &tls.Config{Certificates: []tls.Certificate{elsewhere}}, &tls.Config{RootCAs: ca.Pool}, "TLS: tls: failed to verify certificate"},
		{"other authority", &tls.Config{Certificates: []tls.Certificate{foreign}}, &tls.Config{RootCAs: ca.Pool}, "TLS: tls: failed to verify certificate"},
		{"old TLS", &tls.Config{Certificates: []tls.Certificate{mine}, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}, &tls.Config{RootCAs: ca.Pool, MinVersion: tls.VersionTLS12}, "TLS: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			taps := make(chan *tap, 10)
			a := testAuth(t)
			addr := serve(t, func(nc net.Conn) {
				tapped := &tap{Conn: nc}
				taps <- tapped
				c := mysql.NewConn(nc)
				c.OfferTLS(tt.server, false)
				if _, err := a.Handshake(t.Context(), c, mysql.Greeting{ServerVersion: "8", Capabilities: serverCaps}, users); err == nil {
					_ = c.WriteOK(mysql.OK{})
					_, _ = c.ReadCommand()
				}
			})
			for name, secret := range map[string]mysql.Secret{"password": mysql.ClearSecret("secret"), "proof": mysql.NativeSecret(sha1.Sum([]byte("secret")))} {
				b, err := Dial(t.Context(), Target{Addr: addr, User: "clear", Secret: secret, TLS: tt.client, ConnectTimeout: 10 * time.Second})
				if err == nil {
					if !b.Conn.Encrypted() {
						t.Error("not encrypted")
					}
					_ = b.Close()
				}
				if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
					t.Errorf("by %s: %v", name, err)
				}
				var dial *DialError
				if err != nil && (!errors.As(err, &dial) || !dial.TryElsewhere()) {
					t.Errorf("by %s: no other server is tried after %v", name, err)
				}
				<-taps
			}
		})
	}
}

// TestLiveTLS speaks TLS with a real MariaDB that demands it: logins by password and by proof, large results and statements,
// KILL and probes.
func TestLiveTLS(t *testing.T) {
	ca := mysqltest.NewAuthority(t)
	_, certFile, keyFile := ca.Issue(t, "127.0.0.1")
	client, _, _ := ca.Issue(t, "gateway")
	s := mysqltest.Start(t, "--ssl-ca="+ca.File, "--ssl-cert="+certFile, "--ssl-key="+keyFile)
	s.Exec(t, "CREATE USER app@'127.0.0.1' IDENTIFIED BY 'secret' REQUIRE SSL", "CREATE USER cert@'127.0.0.1' IDENTIFIED BY 'secret' REQUIRE X509",
		"GRANT ALL ON *.* TO app@'127.0.0.1'")
	config := &tls.Config{RootCAs: ca.Pool, MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{client}}
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		config := config.Clone()
		config.MaxVersion = version
		for name, secret := range map[string]mysql.Secret{"password": mysql.ClearSecret("secret"), "proof": mysql.NativeSecret(sha1.Sum([]byte("secret")))} {
			target := Target{Addr: s.Addr, User: "app", Secret: secret, DB: "mysql", SessionTrack: true, TLS: config, ConnectTimeout: 10 * time.Second}
			b, err := Dial(t.Context(), target)
			if err != nil {
				t.Fatalf("by %s: %v", name, err)
			}
			if !b.Alive() {
				t.Errorf("by %s: not alive after the login", name)
			}
			if out, err := b.Exec(t.Context(), "SELECT REPEAT('x', 2000), SEQ FROM seq_1_to_5000"); err != nil || out.Rows != 5000 {
				t.Errorf("by %s: select %+v, %v", name, out, err)
			}
			if out, err := b.Exec(t.Context(), "SET @x = '"+strings.Repeat("x", 5<<20)+"'"); err != nil || !out.StatusKnown {
				t.Errorf("by %s: large statement %+v, %v", name, out, err)
			}
			if !b.Alive() {
				t.Errorf("by %s: not alive after a statement", name)
			}
			if info, err := Probe(t.Context(), target); err != nil || info.Capabilities&mysql.CapSSL == 0 {
				t.Errorf("by %s: probe %+v, %v", name, info, err)
			}
			if err := Kill(t.Context(), target, b.ThreadID, false); err != nil {
				t.Errorf("by %s: kill %v", name, err)
			}
			deadline := time.Now().Add(10 * time.Second)
			for b.Alive() {
				if time.Now().After(deadline) {
					t.Fatalf("by %s: a killed connection is alive", name)
				}
				runtime.Gosched()
			}
			_ = b.Conn.Close()
		}
	}
	target := Target{Addr: s.Addr, User: "cert", Secret: mysql.ClearSecret("secret"), TLS: config, ConnectTimeout: 10 * time.Second}
	b, err := Dial(t.Context(), target)
	if err != nil {
		t.Fatalf("with a client certificate: %v", err)
	}
	_ = b.Close()
	for name, config := range map[string]*tls.Config{"plain": nil, "without a certificate": {RootCAs: ca.Pool}} {
		target.TLS = config
		var told *mysql.Error
		if _, err := Dial(t.Context(), target); !errors.As(err, &told) || told.Code != mysql.CodeAccessDenied {
			t.Errorf("%s: %v", name, err)
		}
	}
}
