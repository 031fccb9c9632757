package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/pool"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wait is how long tests wait for what must come.
const wait = 30 * time.Second

// decisions is a decision service that sends everything to hostgroup 1.
type decisions struct {
	decisionv1.UnimplementedDecisionServiceServer
	configv1.UnimplementedConfigServiceServer
	generation atomic.Uint64
	server     *configv1.Server
	router     atomic.Pointer[decisionv1.Router] // of the last question
}

func (d *decisions) RouteStatements(s grpc.BidiStreamingServer[decisionv1.RouteStatementRequest, decisionv1.RouteStatementResponse]) error {
	if err := s.SendHeader(nil); err != nil {
		return err
	}
	for {
		req, err := s.Recv()
		if err != nil {
			return err
		}
		d.router.Store(req.GetSession().GetRouter())
		err = s.Send(&decisionv1.RouteStatementResponse{
			RequestId: req.GetRequestId(), Generation: d.generation.Load(), DestinationHostgroup: proto.Int32(1),
			CacheScope: decisionv1.CacheScope_CACHE_SCOPE_DIGEST, Cookie: []byte(req.GetSession().GetRouter().GetRouteName()),
			SessionAttributes: []string{"router"},
		})
		if err != nil {
			return err
		}
	}
}

func (d *decisions) WatchGatewayConfig(_ *configv1.WatchGatewayConfigRequest, s grpc.ServerStreamingServer[configv1.WatchGatewayConfigResponse]) error {
	err := s.Send(&configv1.WatchGatewayConfigResponse{
		Generation: d.generation.Load(), Sequence: 1,
		Users:   &configv1.UserList{Users: []*configv1.User{{Username: "app", Password: new("secret"), DefaultHostgroup: 1}}},
		Servers: &configv1.ServerList{Servers: []*configv1.Server{d.server}}, Settings: &configv1.Settings{},
	})
	if err != nil {
		return err
	}
	<-s.Context().Done()
	return nil
}

// startDecisions serves until stop or the end of the test.
func startDecisions(t *testing.T, d *decisions) (addr string, stop func()) {
	t.Helper()
	l := listenAnywhere(t)
	s := grpc.NewServer()
	decisionv1.RegisterDecisionServiceServer(s, d)
	configv1.RegisterConfigServiceServer(s, d)
	h := health.NewServer()
	h.SetServingStatus("pointsman.decision.v1.DecisionService", healthv1.HealthCheckResponse_SERVING)
	healthv1.RegisterHealthServer(s, h)
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.Serve(l) })
	stop = sync.OnceFunc(func() {
		s.Stop()
		serving.Wait()
	})
	t.Cleanup(stop)
	return l.Addr().String(), stop
}

func listenAnywhere(t *testing.T) net.Listener {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// startDatabase serves a MySQL server that knows BEGIN, COMMIT and HANG, and says OK to the rest.
func startDatabase(t *testing.T) *configv1.Server {
	t.Helper()
	l := listenAnywhere(t)
	auth, err := mysql.NewAuthenticator()
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer nc.Close()
				serveDatabase(t.Context(), nc, auth)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		all.Wait()
	})
	return &configv1.Server{HostgroupId: 1, Hostname: "127.0.0.1", Port: new(uint32(l.Addr().(*net.TCPAddr).Port))}
}

func serveDatabase(ctx context.Context, nc net.Conn, auth *mysql.Authenticator) {
	c := mysql.NewConn(nc)
	greeting := mysql.Greeting{ServerVersion: "9.9.9", ConnectionID: 1, Capabilities: mysql.OfferedCapabilities(), Charset: 45, Status: mysql.StatusAutocommit}
	known := func(string) (mysql.Credential, bool) { return mysql.ParseCredential("secret"), true }
	if _, err := auth.Handshake(ctx, c, greeting, known); err != nil {
		return
	}
	status := mysql.StatusAutocommit
	for err := c.WriteOK(mysql.OK{Status: status}); err == nil; err = c.WriteOK(mysql.OK{Status: status}) {
		cmd, err := c.ReadCommand()
		if err != nil || cmd.Code == mysql.ComQuit {
			return
		}
		switch string(cmd.Arg()) {
		case "BEGIN":
			status |= mysql.StatusInTrans
		case "COMMIT":
			status &^= mysql.StatusInTrans
		case "HANG":
			_, _ = nc.Read(make([]byte, 1)) // until the gateway hangs up
			return
		}
	}
}

// process is a gateway started by its command line.
type process struct {
	signals chan os.Signal
	exit    chan int
	stderr  *lockedBuffer
	listen  string
	admin   string
}

var listens = regexp.MustCompile(`msg="gateway listens" address=(\S+) admin=(\S+)`)

// anywhere lets a gateway listen on free ports, unless the arguments say where, and wait for its decisions: on a busy machine
// few come within the usual time.
func anywhere(args []string) []string {
	args = append([]string{"--admin=127.0.0.1:0", "--decision-timeout=10s"}, args...)
	if slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--listen=") }) {
		return args
	}
	return append(args, "--listen=127.0.0.1:0")
}

// start runs a gateway until the test ends and waits until it listens.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{signals: make(chan os.Signal, 2), exit: make(chan int, 1), stderr: &lockedBuffer{}}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	args = anywhere(args)
	var running sync.WaitGroup
	running.Go(func() { p.exit <- Main(ctx, "test", args, nil, io.Discard, p.stderr, p.signals) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		if t.Failed() {
			t.Logf("log of the gateway:\n%s", p.stderr.String())
		}
	})
	eventually(t, "gateway listens", func() bool {
		m := listens.FindStringSubmatch(p.stderr.String())
		if m != nil {
			p.listen, p.admin = m[1], m[2]
		}
		return m != nil
	})
	return p
}

func (p *process) expectExit(t *testing.T) {
	t.Helper()
	select {
	case status := <-p.exit:
		if status != 0 {
			t.Errorf("exit status %d", status)
		}
	case <-time.After(wait):
		t.Fatal("gateway does not end")
	}
}

// get gives a page of the admin endpoint, or the error's text.
func (p *process) get(t *testing.T, path string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.admin+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: wait}
	res, err := c.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	content, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(content)
}

// ready waits for what /readyz says.
func (p *process) expectReady(t *testing.T, status int, text string) {
	t.Helper()
	eventually(t, "/readyz says "+text, func() bool {
		got, body := p.get(t, "/readyz")
		return got == status && strings.Contains(body, text)
	})
}

func (p *process) login(t *testing.T) (*pool.BackendConn, error) {
	t.Helper()
	b, err := pool.Dial(t.Context(), pool.Target{Addr: p.listen, User: "app", Secret: mysql.ClearSecret("secret"), ConnectTimeout: wait})
	if err == nil {
		t.Cleanup(func() { _ = b.Conn.Close() })
	}
	return b, err
}

func (p *process) mustLogin(t *testing.T) *pool.BackendConn {
	t.Helper()
	b, err := p.login(t)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func exec(t *testing.T, b *pool.BackendConn, query string) {
	t.Helper()
	if _, err := b.Exec(t.Context(), query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// expectEnd waits until the gateway closes a connection.
func expectEnd(t *testing.T, b *pool.BackendConn) {
	t.Helper()
	_ = b.Conn.NetConn().SetReadDeadline(time.Now().Add(wait))
	if _, err := b.Conn.NetConn().Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("connection stays: %v", err)
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.After(wait)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-deadline:
			t.Fatalf("not in time: %s", what)
		case <-tick.C:
		}
	}
}

func TestWrongUse(t *testing.T) {
	taken := listenAnywhere(t)
	defer taken.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("max-connections: \"7\"\nnonsense: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args    []string
		environ []string
		want    string
	}{
		{[]string{"--nonsense"}, nil, "unknown flag: --nonsense"},
		{[]string{"serve"}, nil, "unknown command"},
		{[]string{"--max-connections=many"}, nil, "--max-connections"},
		{[]string{"--max-connections=0"}, nil, "flag --max-connections: 0 is below 1"},
		{[]string{"--decision-timeout=0s"}, nil, "flag --decision-timeout"},
		{[]string{"--decision-fallback=never"}, nil, `flag --decision-fallback: "never" is none of stale, default, error`},
		{[]string{"--drain-timeout=-1s"}, nil, "flag --drain-timeout"},
		{[]string{"--decision=nowhere"}, nil, "flag --decision"},
		{[]string{"--log-level=loud"}, nil, "flag --log-level"},
		{[]string{"--log-format=xml"}, nil, "flag --log-format"},
		{[]string{"--listen=" + taken.Addr().String()}, nil, "flag --listen: listen tcp " + taken.Addr().String()},
		{[]string{"--admin=" + taken.Addr().String()}, nil, "flag --admin: listen tcp " + taken.Addr().String()},
		{[]string{"--listen=unix:" + file}, nil, "flag --listen: listen unix"},
		{[]string{"--listen=127.0.0.1:0,127.0.0.1:0"}, nil, `flag --listen: two listeners are called "default": give each a name of its own`},
		{[]string{"--listen=a=127.0.0.1:0", "--listen=a=127.0.0.1:0"}, nil, `flag --listen: two listeners are called "a"`},
		{[]string{"--listen= =127.0.0.1:0"}, nil, `flag --listen: " =127.0.0.1:0": the name before = must be of letters, digits`},
		{[]string{"--listen="}, nil, "flag --listen: at least one address"},
		{[]string{"--tags=zone=a"}, nil, `flag --tags: zone=a is no JSON object such as {"zone":"a"}: invalid character`},
		{[]string{"--tags=[1]"}, nil, "flag --tags: [1] is no JSON object"},
		{[]string{`--tags={"a":1,"a":2}`}, nil, `flag --tags: {"a":1,"a":2} has the key "a" twice`},
		{[]string{"--name=\xff"}, nil, "flag --name: its text is not UTF-8"},
		{[]string{"--state-dir=" + file}, nil, "flag --state-dir"},
		{[]string{"--settings=" + file}, nil, "nonsense"},
		{nil, []string{"POINTSMAN_LISTN=:1"}, "POINTSMAN_LISTN: there is no such setting"},
		{nil, []string{"POINTSMAN_DRAIN_TIMEOUT=soon"}, "POINTSMAN_DRAIN_TIMEOUT"},
	} {
		var stderr bytes.Buffer
		args := anywhere(tt.args)
		status := Main(t.Context(), "test", args, tt.environ, io.Discard, &stderr, nil)
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		last := lines[len(lines)-1]
		if status != 2 || !strings.HasPrefix(last, "pointsman-gateway: ") || !strings.Contains(last, tt.want) {
			t.Errorf("%v %v: status %d\n%s\nwant %q", tt.args, tt.environ, status, stderr.String(), tt.want)
		}
		for _, line := range lines[:len(lines)-1] {
			if !strings.Contains(line, "level=INFO") {
				t.Errorf("%v: more than one line: %s", tt.args, line)
			}
		}
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if status := Main(t.Context(), "test", []string{"--help"}, nil, &stdout, &stderr, nil); status != 0 || stderr.Len() > 0 {
		t.Errorf("status %d, %s", status, stderr.String())
	}
	for _, want := range []string{"--listen", "127.0.0.1:6033", "127.0.0.1:7080", "127.0.0.1:6034", "--state-dir", "POINTSMAN_"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("%s is not in the help", want)
		}
	}
	stdout.Reset()
	if status := Main(t.Context(), "1.2.3", []string{"--version"}, nil, &stdout, &stderr, nil); status != 0 || !strings.Contains(stdout.String(), "1.2.3") {
		t.Errorf("version: %s", stdout.String())
	}
}

// TestDocumentedHelp holds docs/gateway.md to the real flags.
func TestDocumentedHelp(t *testing.T) {
	doc, err := os.ReadFile("../docs/gateway.md")
	if err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	Main(t.Context(), "test", []string{"--help"}, nil, &stdout, io.Discard, nil)
	if _, flags, _ := strings.Cut(stdout.String(), "Flags:\n"); flags == "" || !strings.Contains(string(doc), flags) {
		t.Errorf("docs/gateway.md does not have\n%s", flags)
	}
}

func TestWithoutAnything(t *testing.T) {
	p := start(t, "--decision=127.0.0.1:1")
	p.expectReady(t, http.StatusServiceUnavailable, "no configuration yet")
	if status, body := p.get(t, "/healthz"); status != http.StatusOK {
		t.Errorf("healthz: %d %s", status, body)
	}
	_, err := p.login(t)
	if err == nil || !strings.Contains(err.Error(), "error 1053: The gateway has no configuration") && !strings.Contains(err.Error(), "error 1053 (08S01): The gateway has no configuration") {
		t.Errorf("login: %v", err)
	}
	p.signals <- syscall.SIGTERM
	p.expectExit(t)
}

func TestLastGoodStart(t *testing.T) {
	d := &decisions{server: startDatabase(t)}
	d.generation.Store(3)
	addr, stop := startDecisions(t, d)
	state := filepath.Join(t.TempDir(), "made", "here")
	p := start(t, "--decision="+addr, "--state-dir="+state)
	p.expectReady(t, http.StatusOK, "ready")
	b := p.mustLogin(t)
	exec(t, b, "INSERT")
	for _, want := range []string{ // counted when the client has its answer already
		`pointsman_gateway_decisions_total{reason="other",source="asked"} 1`, `pointsman_gateway_statements_total{hostgroup="1"} 1`, "pointsman_gateway_sessions 1",
		"pointsman_gateway_decision_up 1", "pointsman_gateway_decision_connected 1", "pointsman_gateway_config_generation 3", "pointsman_gateway_generation 3",
		`pointsman_gateway_commands_total{command="query"} 1`,
	} {
		eventually(t, "/metrics has "+want, func() bool {
			_, metrics := p.get(t, "/metrics")
			return strings.Contains(metrics, want)
		})
	}
	// The service goes: the session goes on, and new clients are served too.
	stop()
	p.expectReady(t, http.StatusServiceUnavailable, "no decision server connected")
	exec(t, b, "INSERT")
	exec(t, b, "UPDATE")
	exec(t, p.mustLogin(t), "INSERT")
	p.signals <- syscall.SIGTERM
	expectEnd(t, b)
	p.expectExit(t)

	// A start from the copy alone.
	p = start(t, "--decision="+addr, "--state-dir="+state)
	p.expectReady(t, http.StatusServiceUnavailable, "no decision server connected")
	b = p.mustLogin(t)
	exec(t, b, "INSERT")
	eventually(t, "the greeting is the server's", func() bool { return p.mustLogin(t).ServerVersion == "9.9.9" })
}

func TestDrain(t *testing.T) {
	d := &decisions{server: startDatabase(t)}
	d.generation.Store(1)
	addr, _ := startDecisions(t, d)
	p := start(t, "--decision="+addr, "--drain-timeout=1h")
	p.expectReady(t, http.StatusOK, "ready")
	idle, open := p.mustLogin(t), p.mustLogin(t)
	exec(t, open, "BEGIN")
	p.signals <- syscall.SIGTERM
	expectEnd(t, idle)
	p.expectReady(t, http.StatusServiceUnavailable, "draining")
	eventually(t, "clients turned away", func() bool {
		_, err := p.login(t)
		return err != nil
	})
	exec(t, open, "INSERT")
	exec(t, open, "COMMIT")
	expectEnd(t, open)
	p.expectExit(t)
}

// TestDrainWait takes clients for a while after the signal, and no longer after a second one.
func TestDrainWait(t *testing.T) {
	d := &decisions{server: startDatabase(t)}
	d.generation.Store(1)
	addr, _ := startDecisions(t, d)
	p := start(t, "--decision="+addr, "--drain-wait=1h")
	p.expectReady(t, http.StatusOK, "ready")
	p.signals <- syscall.SIGTERM
	p.expectReady(t, http.StatusServiceUnavailable, "draining")
	b := p.mustLogin(t)
	exec(t, b, "INSERT")
	if _, err := b.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), "1053") {
		t.Errorf("ping: %v", err)
	}
	expectEnd(t, b)
	exec(t, p.mustLogin(t), "BEGIN")
	p.signals <- syscall.SIGTERM
	p.expectExit(t)
}

func TestSecondSignal(t *testing.T) {
	d := &decisions{server: startDatabase(t)}
	d.generation.Store(1)
	addr, _ := startDecisions(t, d)
	p := start(t, "--decision="+addr, "--drain-timeout=1h")
	p.expectReady(t, http.StatusOK, "ready")
	open, hanging := p.mustLogin(t), p.mustLogin(t)
	exec(t, open, "BEGIN")
	failed := make(chan error, 1)
	go func() {
		_, err := hanging.Exec(context.WithoutCancel(t.Context()), "HANG")
		failed <- err
	}()
	eventually(t, "statement sent", func() bool {
		_, metrics := p.get(t, "/metrics")
		return strings.Contains(metrics, `pointsman_gateway_commands_total{command="query"} 2`)
	})
	p.signals <- syscall.SIGTERM
	eventually(t, "draining", func() bool { return strings.Contains(p.stderr.String(), "draining") })
	p.signals <- syscall.SIGTERM
	p.expectExit(t)
	expectEnd(t, open)
	if err := <-failed; err == nil {
		t.Error("statement succeeded")
	}
}

func TestDrainTimeout(t *testing.T) {
	d := &decisions{server: startDatabase(t)}
	d.generation.Store(1)
	addr, _ := startDecisions(t, d)
	p := start(t, "--decision="+addr, "--drain-timeout=10ms")
	p.expectReady(t, http.StatusOK, "ready")
	open := p.mustLogin(t)
	exec(t, open, "BEGIN")
	p.signals <- os.Interrupt
	p.expectExit(t)
	expectEnd(t, open)
	if !strings.Contains(p.stderr.String(), "drain timeout") {
		t.Error("timeout not logged")
	}
}

// TestListeners has clients come in at three places and leave them all at once.
func TestListeners(t *testing.T) {
	dir, err := os.MkdirTemp("", "gw") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "a=b")
	d := &decisions{server: startDatabase(t)}
	d.generation.Store(1)
	addr, _ := startDecisions(t, d)
	p := start(t, "--decision="+addr, "--listen=rw=127.0.0.1:0,ro=127.0.0.1:0", "--listen=unix:"+socket,
		"--name=gw", "--hostname=host", "--local-cluster=c1", `--tags={"zone":"a"}`)
	named := regexp.MustCompile(`msg="gateway listens" address=(\S+) admin=\S+ listener=(\S+)`)
	var sessions []*pool.BackendConn
	for _, m := range named.FindAllStringSubmatch(p.stderr.String(), -1) {
		p.listen = strings.Trim(m[1], `"`)
		b := p.mustLogin(t)
		exec(t, b, "INSERT")
		sessions = append(sessions, b)
		got := d.router.Load()
		address := "127.0.0.1"
		if m[2] == "default" {
			address = ""
		}
		if got.GetRouteName() != m[2] || got.GetBindAddress() != address || got.GetName() != "gw" || got.GetHostname() != "host" ||
			got.GetLocalCluster() != "c1" || got.GetTags()["zone"] != `"a"` {
			t.Errorf("listener %s: %v", m[2], got)
		}
	}
	if len(sessions) != 3 {
		t.Fatalf("%d listeners logged", len(sessions))
	}
	p.signals <- syscall.SIGTERM
	for _, b := range sessions {
		expectEnd(t, b)
	}
	p.expectExit(t)
}

func TestUnixSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "gw") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	d := &decisions{server: startDatabase(t)}
	d.generation.Store(1)
	addr, _ := startDecisions(t, d)
	// What a gateway that crashed has left behind is replaced; what somebody listens on is not.
	stale, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	stale.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = stale.Close()
	p := start(t, "--decision="+addr, "--listen=unix:"+path)
	p.listen = path
	exec(t, p.mustLogin(t), "INSERT")
	var stderr bytes.Buffer
	if status := Main(t.Context(), "test", []string{"--listen=unix:" + path}, nil, io.Discard, &stderr, nil); status != 2 {
		t.Errorf("second gateway on the socket: status %d, %s", status, stderr.String())
	}
}

// lockedBuffer takes a log from many goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
