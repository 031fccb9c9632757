package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// asProgram makes the test binary behave as the program itself; the embedded store inherits it.
const asProgram = "TEST_BINARY_IS_POINTSMAN"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		ctx, restore := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		code := Main(ctx, "test", os.Args[1:], nil, os.Stdout, os.Stderr)
		restore()
		os.Exit(code)
	}
	goleak.VerifyTestMain(m)
}

// program is a running `pointsman serve`.
type program struct {
	cmd    *exec.Cmd
	conn   *grpc.ClientConn
	log    *lines
	exited chan error
}

// lines keeps what a program logs.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *lines) read(r io.Reader) {
	for scan := bufio.NewScanner(r); scan.Scan(); {
		l.mu.Lock()
		l.buf.Write(append(scan.Bytes(), '\n'))
		l.mu.Unlock()
	}
}

// start runs the program with one socket for the API, and dials it.
func start(t *testing.T, dataDir string, args ...string) *program {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "api")
	args = append([]string{"serve", "--data-dir", dataDir, "--listen", "unix:" + socket, "--admin", "127.0.0.1:0"}, args...)
	p := &program{cmd: exec.Command(exe, args...), log: &lines{}, exited: make(chan error, 1)} //nolint:noctx // ended by stop
	p.cmd.Env = append(os.Environ(), asProgram+"=1")
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.log.read(stderr)
		p.exited <- p.cmd.Wait()
	}()
	p.conn, err = grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.conn.Close()
		_ = p.cmd.Process.Kill()
		if t.Failed() {
			t.Log(p.log)
		}
	})
	return p
}

// end waits for the program's end and gives its exit status.
func (p *program) end(t *testing.T) int {
	t.Helper()
	select {
	case err := <-p.exited:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(30 * time.Second):
		t.Fatal("the program does not end")
		return 0
	}
}

func (p *program) decision() decisionv1.DecisionServiceClient {
	return decisionv1.NewDecisionServiceClient(p.conn)
}

func (p *program) config() configv1.ConfigServiceClient {
	return configv1.NewConfigServiceClient(p.conn)
}

func (p *program) health(ctx context.Context, service string) string {
	resp, err := healthv1.NewHealthClient(p.conn).Check(ctx, &healthv1.HealthCheckRequest{Service: service}, grpc.WaitForReady(true))
	if err != nil {
		return err.Error()
	}
	return resp.GetStatus().String()
}

// eventually waits until f gives what is wanted.
func eventually(t *testing.T, want string, f func(context.Context) string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		got := f(ctx)
		if got == want {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("got %q, want %q", got, want)
		case <-tick.C:
		}
	}
}

// publish sends SELECT to a hostgroup, and tells the outcome.
func (p *program) publish(ctx context.Context, hostgroup int64) string {
	resp, err := p.config().PublishConfig(ctx, &configv1.PublishConfigRequest{Config: &configv1.Config{
		Users:      []*configv1.User{{Username: "app", Password: new("x")}},
		QueryRules: []*configv1.QueryRule{{RuleId: 1, MatchDigest: new("^SELECT"), DestinationHostgroup: &hostgroup, Apply: true}},
	}})
	if err != nil {
		return status.Code(err).String()
	}
	return fmt.Sprintf("generation %d", resp.GetGeneration())
}

// route asks where SELECT 1 goes.
func (p *program) route(ctx context.Context) string { return p.routeText(ctx, "SELECT 1") }

func (p *program) routeText(ctx context.Context, sql string) string {
	resp, err := p.decision().RouteStatement(ctx, &decisionv1.RouteStatementRequest{
		Session:   &decisionv1.Session{Username: "app"},
		Statement: &decisionv1.Statement{Body: &decisionv1.Statement_Text{Text: sql}},
	}, grpc.WaitForReady(true))
	if err != nil {
		return status.Code(err).String()
	}
	return fmt.Sprintf("generation %d, hostgroup %d", resp.GetGeneration(), resp.GetDestinationHostgroup())
}

// logged finds the last value of an attribute of a line of the log.
func (p *program) logged(line, attribute string) string {
	found := regexp.MustCompile(regexp.QuoteMeta(line)+`.* `+attribute+`=(\S+)`).FindAllStringSubmatch(p.log.String(), -1)
	if found == nil {
		return ""
	}
	return found[len(found)-1][1]
}

func (p *program) get(t *testing.T, path string) (int, string) {
	t.Helper()
	address := p.logged("service=admin", "address")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestServe(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	dataDir := filepath.Join(t.TempDir(), "data")
	p := start(t, dataDir)
	ctx := t.Context()

	// Before any publication.
	eventually(t, "NOT_SERVING", func(ctx context.Context) string { return p.health(ctx, "") })
	eventually(t, "SERVING", func(ctx context.Context) string { return p.health(ctx, "pointsman.config.v1.ConfigService") })
	if got := p.route(ctx); got != "Unavailable" {
		t.Errorf("decision without a generation: %s", got)
	}
	if code, body := p.get(t, "/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("/readyz: %d %s", code, body)
	}

	// The first one.
	if got := p.publish(ctx, 20); got != "generation 1" {
		t.Fatalf("publish: %s", got)
	}
	if got := p.route(ctx); got != "generation 1, hostgroup 20" {
		t.Errorf("decision: %s", got)
	}
	eventually(t, "SERVING", func(ctx context.Context) string { return p.health(ctx, "") })
	eventually(t, "SERVING", func(ctx context.Context) string { return p.health(ctx, "pointsman.decision.v1.DecisionService") })
	if code, body := p.get(t, "/readyz"); code != http.StatusOK {
		t.Errorf("/readyz: %d %s", code, body)
	}
	_, page := p.get(t, "/metrics")
	for _, want := range []string{
		`pointsman_decisions_total{reason="rule"} 1`, `pointsman_generation 1`, `pointsman_publishes_total{result="ok"} 1`,
		`pointsman_config_state{state="current"} 1`, `pointsman_rpcs_total{code="OK",method="/pointsman.decision.v1.DecisionService/RouteStatement"} 1`,
	} {
		if !strings.Contains(page, want+"\n") {
			t.Errorf("/metrics lacks %s", want)
		}
	}
	wantServices(t, p.conn)
	if got := p.routeText(ctx, "SELECT '"+strings.Repeat("x", 5<<20)+"'"); got != "generation 1, hostgroup 20" {
		t.Errorf("statement of 5 MiB: %s", got) // more than gRPC takes by default
	}

	// Another server on the same directory, and on the same port.
	other := start(t, dataDir)
	if code := other.end(t); code != 2 || !strings.Contains(other.log.String(), "is in use by the server in process "+strconv.Itoa(p.cmd.Process.Pid)) {
		t.Errorf("second server on a directory: exit status %d\n%s", code, other.log)
	}
	port := p.logged("service=admin", "address")
	other = start(t, t.TempDir(), "--listen", port)
	if code := other.end(t); code != 2 || !strings.Contains(other.log.String(), "listen on "+port+": the port is taken") {
		t.Errorf("second server on a port: exit status %d\n%s", code, other.log)
	}

	// The store dies: decisions go on, and it comes back by itself.
	pid, err := strconv.Atoi(p.logged("store is ready", "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := p.route(ctx); got != "generation 1, hostgroup 20" {
		t.Errorf("decision without the store: %s", got)
	}
	eventually(t, "generation 2", func(ctx context.Context) string { return p.publish(ctx, 21) })
	if got := p.route(ctx); got != "generation 2, hostgroup 21" {
		t.Errorf("decision after the store's return: %s", got)
	}

	// The server dies and starts again while no store can be reached.
	eventually(t, "saved", func(context.Context) string {
		_, page := p.get(t, "/metrics")
		if strings.Contains(page, `pointsman_last_good_saves_total{result="ok"} 2`) {
			return "saved"
		}
		return page
	})
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.end(t)
	p = start(t, dataDir, "--store", "etcd", "--etcd-endpoints", "http://127.0.0.1:1")
	if got := p.route(ctx); got != "generation 2, hostgroup 21" {
		t.Errorf("decision after a restart without the store: %s", got)
	}
	eventually(t, "SERVING", func(ctx context.Context) string { return p.health(ctx, "") })
	if got := p.publish(ctx, 22); got != codes.Unavailable.String() {
		t.Errorf("publish without the store: %s", got)
	}

	// An orderly end does not wait for streams, nor for whoever watches the health.
	stream, err := p.decision().RouteStatements(ctx)
	if err != nil {
		t.Fatal(err)
	}
	watch, err := healthv1.NewHealthClient(p.conn).Watch(ctx, &healthv1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := watch.Recv(); err != nil {
		t.Fatal(err)
	}
	listing := openReflection(ctx, t, p.conn)
	if _, err := listing.Recv(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, err := listing.Recv(); status.Convert(err).Message() != "the server is stopping" { // else it was ended by force
		t.Errorf("reflection of a server that ends: %v", err)
	}
	if _, err := stream.Recv(); status.Code(err) != codes.Unavailable {
		t.Errorf("stream of a server that ends: %v, want UNAVAILABLE", err)
	}
	if code := p.end(t); code != 0 {
		t.Errorf("exit status %d after SIGTERM", code)
	}
	if strings.Contains(p.log.String(), "level=ERROR") {
		t.Errorf("an orderly end logs errors:\n%s", p.log)
	}

	// And back with the store.
	p = start(t, dataDir)
	eventually(t, "generation 3", func(ctx context.Context) string { return p.publish(ctx, 23) })
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.end(t); code != 0 {
		t.Errorf("exit status %d after SIGTERM", code)
	}
}

// wantServices asks by reflection, as grpcurl does.
func wantServices(t *testing.T, conn *grpc.ClientConn) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream := openReflection(ctx, t, conn)
	resp, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range resp.GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	for _, want := range []string{"pointsman.decision.v1.DecisionService", "pointsman.config.v1.ConfigService", "grpc.health.v1.Health"} {
		if !strings.Contains(strings.Join(names, " "), want) {
			t.Errorf("reflection lacks %s: %v", want, names)
		}
	}
}

// openReflection opens a stream and asks for the services.
func openReflection(ctx context.Context, t *testing.T, conn *grpc.ClientConn) reflectionv1.ServerReflection_ServerReflectionInfoClient {
	t.Helper()
	stream, err := reflectionv1.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&reflectionv1.ServerReflectionRequest{
		MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{},
	}); err != nil {
		t.Fatal(err)
	}
	return stream
}
