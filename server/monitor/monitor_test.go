package monitor_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/live"
	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/mysqltest"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/metrics"
	"github.com/pointsman/pointsman/server/monitor"
	"github.com/pointsman/pointsman/server/observed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const password = "deep secret"

// fakeServer is a MySQL server that says what it is told to.
type fakeServer struct {
	addr string
	auth *mysql.Authenticator

	mu       sync.Mutex
	readOnly string       // empty: the question gets an error
	refusal  *mysql.Error // of every login
	silent   bool         // nothing is answered
	tls      *tls.Config  // demanded from clients, unless nil
	logins   int
	looks    int
	listener net.Listener
	open     map[net.Conn]bool
	all      sync.WaitGroup
}

func newFakeServer(t *testing.T) *fakeServer {
	t.Helper()
	s := &fakeServer{readOnly: "0", open: make(map[net.Conn]bool)}
	var err error
	if s.auth, err = mysql.NewAuthenticator(); err != nil {
		t.Fatal(err)
	}
	s.start(t, "127.0.0.1:0")
	t.Cleanup(s.stop)
	return s
}

// start listens; stop ends all connections too.
func (s *fakeServer) start(t *testing.T, addr string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	s.listener, s.addr = l, l.Addr().String()
	s.all.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			s.all.Go(func() { s.serve(nc) })
		}
	})
}

func (s *fakeServer) stop() {
	_ = s.listener.Close()
	s.mu.Lock()
	for nc := range s.open {
		_ = nc.Close()
	}
	s.mu.Unlock()
	s.all.Wait()
}

func (s *fakeServer) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *fakeServer) serve(nc net.Conn) {
	s.set(func() { s.open[nc] = true })
	defer func() {
		_ = nc.Close()
		s.set(func() { delete(s.open, nc) })
	}()
	conn := mysql.NewConn(nc)
	s.set(func() { conn.OfferTLS(s.tls, s.tls != nil) })
	users := func(user string) (mysql.Credential, bool) { return mysql.ParseCredential(password), user == "monitor" }
	greeting := mysql.Greeting{ServerVersion: "8.0.99-fake", ConnectionID: 1, Capabilities: mysql.BaseCapabilities, Charset: 255}
	if _, err := s.auth.Handshake(context.Background(), conn, greeting, users); err != nil {
		return
	}
	s.mu.Lock()
	s.logins++
	refusal := s.refusal
	s.mu.Unlock()
	if refusal != nil {
		_ = conn.WriteError(refusal)
		return
	}
	_ = conn.WriteOK(mysql.OK{Status: mysql.StatusAutocommit})
	for {
		cmd, err := conn.ReadCommand()
		if err != nil || cmd.Code == mysql.ComQuit {
			return
		}
		s.mu.Lock()
		s.looks++
		readOnly, silent := s.readOnly, s.silent
		s.mu.Unlock()
		switch {
		case silent:
		case readOnly == "":
			_ = conn.WriteError(mysql.NewError(1227, "42000", "Access denied; you need a privilege"))
		default:
			_ = conn.WriteResultset([]mysql.Column{{Name: "@@global.read_only"}}, [][][]byte{{[]byte(readOnly)}}, mysql.StatusAutocommit, 0)
		}
	}
}

const document = `{"version": "1.0", "destinations": [{"name": "d", "match": "TRUE"}],
 "routes": [{"name": "r", "match": "TRUE", "destinations": [{"classes": ["d"], "strategy": "round-robin", "priority": 0}]}]}`

// fixture is a monitor of some servers.
type fixture struct {
	monitor  *monitor.Monitor
	live     live.Holder[loaded.Generation]
	observed observed.Holder
	metrics  *metrics.Metrics
	log      *logBuffer
}

type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// run starts a monitor that ends with the test.
func run(t *testing.T, user, secret string) *fixture {
	t.Helper()
	return runTLS(t, user, secret, nil)
}

// runTLS does so with a configuration for servers with use_ssl.
func runTLS(t *testing.T, user, secret string, config *tls.Config) *fixture {
	t.Helper()
	f := &fixture{metrics: metrics.New("test"), log: &logBuffer{}}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	f.monitor = monitor.New(monitor.Options{
		Live: &f.live, Observed: &f.observed, User: user, Password: secret, Interval: 5 * time.Millisecond, TLS: config,
		Metrics: f.metrics, Logger: slog.New(slog.NewTextHandler(f.log, nil)),
	})
	wg.Go(func() { f.monitor.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	return f
}

// bring brings a configuration with servers into force, with a guideline or without.
func (f *fixture) bring(t *testing.T, guideline bool, addrs ...string) {
	t.Helper()
	f.bringServers(t, guideline, false, addrs...)
}

// bringServers does so with use_ssl for the rows of the second hostgroup, or without.
func (f *fixture) bringServers(t *testing.T, guideline, useSSL bool, addrs ...string) {
	t.Helper()
	cfg := &decision.Config{}
	for _, addr := range addrs {
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			t.Fatal(err)
		}
		var n uint32
		if _, err := fmt.Sscan(port, &n); err != nil {
			t.Fatal(err)
		}
		for hostgroup := range int32(2) { // each address is in two hostgroups
			cfg.Servers = append(cfg.Servers, decision.Server{HostgroupID: hostgroup, Hostname: host, Port: &n, UseSSL: useSSL && hostgroup == 1})
		}
	}
	if guideline {
		cfg.Guideline = document
		cfg.GuidelineBinding = &decision.GuidelineBinding{WriterHostgroup: new(int32(0)), ReaderHostgroup: new(int32(1))}
	}
	number := f.live.Generation() + 1
	core, problems := decision.Compile(number, cfg)
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	g := &loaded.Generation{Number: number, Core: core}
	f.monitor.Prepare(t.Context(), g)
	f.live.Swap(number, g)
}

// await waits until the states are these; "*" stands for any cause.
func (f *fixture) await(t *testing.T, want map[string]decision.ServerState) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		changed := f.observed.Changed()
		if same(f.observed.Current().Servers, want) {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("servers %v, want %v\n%s", f.observed.Current().Servers, want, f.log)
		}
	}
}

func same(got, want map[string]decision.ServerState) bool {
	if len(got) != len(want) {
		return false
	}
	for addr, w := range want {
		g, ok := got[addr]
		if w.Unavailable == "*" && g.Unavailable != "" {
			g.Unavailable = "*"
		}
		if !ok || g != w {
			return false
		}
	}
	return true
}

// counted waits until a server was looked at again, several times.
func (s *fakeServer) counted(t *testing.T, looks int) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	enough := false
	s.set(func() { looks += s.looks })
	for !enough {
		select {
		case <-tick.C:
			s.set(func() { enough = s.looks >= looks })
		case <-deadline:
			t.Fatal("nobody looks")
		}
	}
}

func TestMonitor(t *testing.T) {
	a, b := newFakeServer(t), newFakeServer(t)
	b.set(func() { b.readOnly = "1" })
	f := run(t, "monitor", password)

	// Nobody looks as long as no guideline is in force.
	f.bring(t, false, a.addr, b.addr)
	f.bring(t, true, a.addr, b.addr)
	up := map[string]decision.ServerState{a.addr: {MemberRole: "PRIMARY"}, b.addr: {MemberRole: "SECONDARY"}}
	f.await(t, up)

	// A failover.
	a.set(func() { a.readOnly = "ON" })
	b.set(func() { b.readOnly = "OFF" })
	f.await(t, map[string]decision.ServerState{a.addr: {MemberRole: "SECONDARY"}, b.addr: {MemberRole: "PRIMARY"}})
	a.set(func() { a.readOnly = "0" })
	b.set(func() { b.readOnly = "1" })
	f.await(t, up)
	a.counted(t, 20)
	a.set(func() {
		if a.logins != 1 {
			t.Errorf("%d logins, want 1 connection that is kept", a.logins)
		}
	})

	// A server ends, keeps the role that is known, and comes back.
	a.stop()
	f.await(t, map[string]decision.ServerState{a.addr: {MemberRole: "PRIMARY", Unavailable: "*"}, b.addr: {MemberRole: "SECONDARY"}})
	if got := f.observed.Current().Servers[a.addr].Unavailable; !strings.Contains(got, "refused") {
		t.Errorf("unavailable: %s", got)
	}
	a.start(t, a.addr)
	f.await(t, up)

	// Its connections break one by one: the next look makes another, and nobody notices.
	a.set(func() {
		for nc := range a.open {
			_ = nc.Close()
		}
	})
	a.counted(t, 5)

	// A server that answers with errors is up.
	b.set(func() { b.readOnly = "" })
	b.counted(t, 10)
	f.await(t, up)

	// Servers come and go with the configuration, all with the guideline.
	f.bring(t, true, b.addr)
	f.await(t, map[string]decision.ServerState{b.addr: {MemberRole: "SECONDARY"}}) // it was watched all the time
	f.bring(t, false, b.addr)
	f.await(t, nil)
	f.bring(t, true, a.addr, b.addr)
	f.await(t, map[string]decision.ServerState{a.addr: {MemberRole: "PRIMARY"}}) // the other's role is not known
	b.set(func() { b.readOnly = "1" })
	f.await(t, up)
	if n := strings.Count(f.log.String(), "a server is unavailable"); n != 1 {
		t.Errorf("logged %d times that a server is unavailable:\n%s", n, f.log)
	}
	if strings.Contains(f.log.String(), "secret") {
		t.Errorf("the log has the password:\n%s", f.log)
	}
}

// TestPrepare: roles are known before a generation comes into force, and a server that does not answer holds it up but a
// moment.
func TestPrepare(t *testing.T) {
	a, b := newFakeServer(t), newFakeServer(t)
	b.set(func() { b.silent = true })
	ctx, cancel := context.WithCancel(t.Context())
	f := &fixture{metrics: metrics.New("test"), log: &logBuffer{}}
	f.monitor = monitor.New(monitor.Options{
		Live: &f.live, Observed: &f.observed, User: "monitor", Password: password, Interval: time.Hour,
		Metrics: f.metrics, Logger: slog.New(slog.NewTextHandler(f.log, nil)),
	})
	f.bring(t, false, a.addr, b.addr)
	if got := f.observed.Current().Servers; len(got) != 0 {
		t.Errorf("without a guideline: %v", got)
	}
	f.bring(t, true, a.addr, b.addr)
	if got := f.observed.Current().Servers; !same(got, map[string]decision.ServerState{a.addr: {MemberRole: "PRIMARY"}}) {
		t.Errorf("before it comes into force: %v", got)
	}
	cancel()
	f.monitor.Run(ctx) // closes what was opened
	f.monitor.Prepare(ctx, f.live.Current())
}

func TestMonitorSilentServer(t *testing.T) {
	a := newFakeServer(t)
	f := run(t, "monitor", password)
	f.bring(t, true, a.addr)
	f.await(t, map[string]decision.ServerState{a.addr: {MemberRole: "PRIMARY"}})
	a.set(func() { a.silent = true })
	f.await(t, map[string]decision.ServerState{a.addr: {MemberRole: "PRIMARY", Unavailable: "monitor: no answer within 1s"}})
	a.set(func() { a.silent = false })
	f.await(t, map[string]decision.ServerState{a.addr: {MemberRole: "PRIMARY"}})
}

// A wrong password must not make servers unavailable.
func TestMonitorRefusedLogin(t *testing.T) {
	a := newFakeServer(t)
	f := run(t, "monitor", "wrong")
	f.bring(t, true, a.addr)
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for f.refused(t) < 10 {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("log:\n%s", f.log)
		}
	}
	if got := f.observed.Current().Servers; len(got) != 0 {
		t.Errorf("servers %v", got)
	}
	if n := strings.Count(f.log.String(), "the monitor can't learn its role"); n != 1 {
		t.Errorf("told %d times:\n%s", n, f.log)
	}
}

// refused is how many looks were answered with an error.
func (f *fixture) refused(t *testing.T) int {
	t.Helper()
	families, err := f.metrics.Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == "pointsman_monitor_looks_total" && m.GetLabel()[0].GetValue() == "refused" {
				return int(m.GetCounter().GetValue())
			}
		}
	}
	return 0
}

func TestMonitorShutdown(t *testing.T) {
	a := newFakeServer(t)
	f := run(t, "monitor", password)
	a.set(func() { a.refusal = mysql.NewError(1053, "08S01", "Server shutdown in progress") })
	f.bring(t, true, a.addr)
	f.await(t, map[string]decision.ServerState{a.addr: {Unavailable: "*"}})
}

func TestMonitorMariaDB(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	primary, replica := mysqltest.Start(t), mysqltest.Start(t, "--read-only")
	for _, s := range []*mysqltest.Server{primary, replica} {
		s.Exec(t, "CREATE USER m@'127.0.0.1' IDENTIFIED BY '"+password+"'")
	}
	f := run(t, "m", password)
	f.bring(t, true, primary.Addr, replica.Addr)
	f.await(t, map[string]decision.ServerState{primary.Addr: {MemberRole: "PRIMARY"}, replica.Addr: {MemberRole: "SECONDARY"}})
	replica.Exec(t, "SET GLOBAL read_only = 0")
	primary.Kill(t)
	f.await(t, map[string]decision.ServerState{primary.Addr: {MemberRole: "PRIMARY", Unavailable: "*"}, replica.Addr: {MemberRole: "PRIMARY"}})
	primary.Restart(t)
	f.await(t, map[string]decision.ServerState{primary.Addr: {MemberRole: "PRIMARY"}, replica.Addr: {MemberRole: "PRIMARY"}})
}

// TestOverTLS looks at a server that demands TLS: with use_ssl it is seen, also when that comes later, and one that is not who it
// should be is not.
func TestOverTLS(t *testing.T) {
	ca, other := mysqltest.NewAuthority(t), mysqltest.NewAuthority(t)
	cert, _, _ := ca.Issue(t, "127.0.0.1")
	for _, tt := range []struct {
		name   string
		config *tls.Config
		seen   bool
	}{
		{"its authority", &tls.Config{RootCAs: ca.Pool}, true},
		{"another authority", &tls.Config{RootCAs: other.Pool}, false},
		{"unchecked", &tls.Config{InsecureSkipVerify: true}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newFakeServer(t)
			s.set(func() { s.tls = &tls.Config{Certificates: []tls.Certificate{cert}} })
			f := runTLS(t, "monitor", password, tt.config)
			f.bringServers(t, true, true, s.addr)
			if !tt.seen {
				f.await(t, map[string]decision.ServerState{s.addr: {Unavailable: "*"}})
				return
			}
			f.await(t, map[string]decision.ServerState{s.addr: {MemberRole: "PRIMARY"}})
			s.set(func() { s.tls, s.readOnly = nil, "1" }) // no TLS any more, and a connection in plain text
			f.bringServers(t, true, false, s.addr)
			f.await(t, map[string]decision.ServerState{s.addr: {MemberRole: "SECONDARY"}})
		})
	}
}
