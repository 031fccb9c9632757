package gateway

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	osexec "os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/pointsman/pointsman/gateway/mysqltest"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// TestTLSBothWays logs real clients in over TLS and sends their statements to a MariaDB that demands it.
func TestTLSBothWays(t *testing.T) {
	ca := mysqltest.NewAuthority(t)
	_, certFile, keyFile := ca.Issue(t, "127.0.0.1")
	s := mysqltest.Start(t, "--ssl-cert="+certFile, "--ssl-key="+keyFile)
	s.Exec(t, "CREATE USER app@'127.0.0.1' IDENTIFIED BY 'secret' REQUIRE SSL")
	d := &decisions{server: &configv1.Server{HostgroupId: 1, Hostname: "127.0.0.1", Port: new(uint32(s.Port)), UseSsl: true}}
	d.generation.Store(1)
	addr, _ := startDecisions(t, d)
	p := start(t, "--decision="+addr, "--tls-cert="+certFile, "--tls-key="+keyFile, "--tls-mode=required", "--server-tls-ca="+ca.File)
	p.expectReady(t, http.StatusOK, "ready")

	ask := func(config *tls.Config) (cipher string, err error) {
		c := driver.NewConfig()
		c.Net, c.Addr, c.User, c.Passwd, c.TLS, c.Logger = "tcp", p.listen, "app", "secret", config, &driver.NopLogger{}
		connector, err := driver.NewConnector(c)
		if err != nil {
			t.Fatal(err)
		}
		db := sql.OpenDB(connector)
		defer db.Close()
		var name string
		err = db.QueryRowContext(t.Context(), "SHOW STATUS LIKE 'Ssl_version'").Scan(&name, &cipher)
		return cipher, err
	}
	if cipher, err := ask(&tls.Config{RootCAs: ca.Pool, ServerName: "127.0.0.1"}); err != nil || !strings.HasPrefix(cipher, "TLS") {
		t.Errorf("over TLS: %q to the server, %v", cipher, err)
	}
	if _, err := ask(nil); err == nil || !strings.Contains(err.Error(), "3159") {
		t.Errorf("without TLS: %v", err)
	}
	host, port, _ := strings.Cut(p.listen, ":")
	cli := func(args ...string) (string, error) {
		args = append([]string{"--no-defaults", "--protocol=tcp", "-h" + host, "-P" + port, "-uapp", "-psecret", "-e", "SHOW STATUS LIKE 'Ssl_version'"}, args...)
		out, err := osexec.CommandContext(t.Context(), "mariadb", args...).CombinedOutput()
		return string(out), err
	}
	if out, err := cli("--ssl", "--ssl-ca="+ca.File, "--ssl-verify-server-cert"); err != nil || !strings.Contains(out, "TLSv1") {
		t.Errorf("mariadb over TLS: %v\n%s", err, out)
	}
	if out, err := cli("--skip-ssl"); err == nil || !strings.Contains(out, "3159") {
		t.Errorf("mariadb without TLS: %v\n%s", err, out)
	}
}

// TestServerTLSVerify connects by each mode to a server with a certificate for another name, and of another authority.
func TestServerTLSVerify(t *testing.T) {
	ca, other := mysqltest.NewAuthority(t), mysqltest.NewAuthority(t)
	here, _, _ := ca.Issue(t, "127.0.0.1")
	elsewhere, _, _ := ca.Issue(t, "db.example")
	foreign, _, _ := other.Issue(t, "127.0.0.1")
	for _, tt := range []struct {
		verify, ca                string
		here, elsewhere, foreigns bool
	}{
		{"", "", true, true, true},
		{"", ca.File, true, false, false},
		{"identity", ca.File, true, false, false},
		{"ca", ca.File, true, true, false},
		{"none", ca.File, true, true, true},
	} {
		c := Config{ServerTLSCA: tt.ca, ServerTLSVerify: tt.verify}
		if err := c.checkTLS(); err != nil {
			t.Fatal(err)
		}
		config, err := c.serverTLS(slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		config.ServerName = "127.0.0.1"
		for name, server := range map[string]struct {
			cert tls.Certificate
			ok   bool
		}{"here": {here, tt.here}, "elsewhere": {elsewhere, tt.elsewhere}, "foreign": {foreign, tt.foreigns}} {
			l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{server.cert}})
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				if nc, err := l.Accept(); err == nil {
					_ = nc.(*tls.Conn).HandshakeContext(t.Context())
					_ = nc.Close()
				}
			}()
			nc, err := (&tls.Dialer{Config: config}).DialContext(t.Context(), "tcp", l.Addr().String())
			if err == nil {
				_ = nc.Close()
			}
			if (err == nil) != server.ok {
				t.Errorf("--server-tls-verify=%s with --server-tls-ca=%s, server %s: %v", tt.verify, tt.ca, name, err)
			}
			<-done
			_ = l.Close()
		}
	}
}

func TestCertificateReload(t *testing.T) {
	ca := mysqltest.NewAuthority(t)
	_, certFile, keyFile := ca.Issue(t, "first")
	_, nextCert, nextKey := ca.Issue(t, "second")
	var log bytes.Buffer
	c, err := newCertificate(certFile, keyFile, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	var clock atomic.Int64
	c.now = func() time.Time { return time.Unix(clock.Load(), 0) }
	c.looked = c.now()
	modified := time.Now()
	put := func(to, from string) {
		t.Helper()
		content, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, content, 0o600)
		}
		modified = modified.Add(time.Second)
		if err == nil {
			err = os.Chtimes(to, modified, modified)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	expect := func(when, want string) {
		t.Helper()
		clock.Add(1)
		leaf, err := x509.ParseCertificate(c.current().Certificate[0])
		if err != nil || leaf.DNSNames[0] != want {
			t.Errorf("%s: certificate for %v, %v", when, leaf.DNSNames, err)
		}
	}
	expect("at first", "first")
	put(certFile, nextCert)
	expect("half of a new pair", "first")
	expect("half of a new pair, still", "first")
	if n := strings.Count(log.String(), "can't be used"); n != 1 {
		t.Errorf("%d lines about one broken pair:\n%s", n, log.String())
	}
	put(keyFile, nextKey)
	clock.Add(-1)
	expect("too soon", "first")
	expect("both", "second")
	if err := os.Remove(keyFile); err != nil {
		t.Fatal(err)
	}
	expect("without a key", "second")
	if n := strings.Count(log.String(), "can't be used"); n != 2 {
		t.Errorf("%d lines:\n%s", n, log.String())
	}
}

// TestTLSFlags has flags of TLS that do not fit together.
func TestTLSFlags(t *testing.T) {
	empty := t.TempDir() + "/empty.pem"
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--tls-mode=required":                            "flag --tls-mode: required needs a certificate",
		"--tls-mode=preferred":                           "flag --tls-mode: preferred needs a certificate",
		"--tls-mode=maybe":                               `flag --tls-mode: "maybe" is none of disabled, preferred and required`,
		"--tls-cert=x":                                   "flags --tls-cert and --tls-key belong together",
		"--server-tls-key=x":                             "flags --server-tls-cert and --server-tls-key belong together",
		"--server-tls-verify=ca":                         "flag --server-tls-verify: ca needs --server-tls-ca",
		"--server-tls-verify=all":                        `flag --server-tls-verify: "all" is none of none, ca and identity`,
		"--server-tls-ca=/nowhere":                       "flag --server-tls-ca: open /nowhere",
		"--server-tls-ca=" + empty:                       "holds no PEM certificate",
		"--max-handshakes=0":                             "flag --max-handshakes: 0 is below 1",
		"--tls-cert=/no,--tls-key=/no":                   "flags --tls-cert and --tls-key: open /no",
		"--tls-cert=%[1]s,--tls-key=%[1]s":               "flags --tls-cert and --tls-key: tls: failed to find any PEM data",
		"--server-tls-cert=%[1]s,--server-tls-key=%[1]s": "flags --server-tls-cert and --server-tls-key: tls: failed",
	} {
		var stderr bytes.Buffer
		if strings.Contains(args, "%") {
			args = fmt.Sprintf(args, empty)
		}
		status := Main(t.Context(), "test", anywhere(strings.Split(args, ",")), nil, &bytes.Buffer{}, &stderr, nil)
		if status != 2 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: status %d, %s", args, status, stderr.String())
		}
	}
}
