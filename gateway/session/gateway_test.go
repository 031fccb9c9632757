package session

import (
	"bytes"
	"context"
	"crypto/sha1"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/gateway/mirror"
	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/pool"
	"github.com/pointsman/pointsman/gateway/resultcache"
	"github.com/pointsman/pointsman/gateway/route"
	"github.com/pointsman/pointsman/gateway/snapshot"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// wait is how long tests wait for what must come.
const wait = 30 * time.Second

// The hostgroups of the tests.
const writer, reader int32 = 10, 20

// decider answers questions by a function and keeps them.
type decider struct {
	answer func(text string, req *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse

	mu     sync.Mutex
	asked  []*decisionv1.RouteStatementRequest
	failed error
}

func (d *decider) Route(_ context.Context, req *decisionv1.RouteStatementRequest) (*decisionv1.RouteStatementResponse, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed != nil {
		return nil, d.failed
	}
	d.asked = append(d.asked, req)
	a := d.answer(string(req.GetStatement().GetRawText()), req)
	if a.GetGeneration() == 0 {
		a.Generation = 1
	}
	return a, nil
}

// fail lets no question be answered any more.
func (d *decider) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failed = err
}

// count is the number of questions so far.
func (d *decider) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.asked)
}

// last gives the last question about a text.
func (d *decider) last(t *testing.T, text string) *decisionv1.RouteStatementRequest {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, v := range slices.Backward(d.asked) {
		if string(v.GetStatement().GetRawText()) == text {
			return v
		}
	}
	t.Fatalf("nobody asked about %q", text)
	return nil
}

// split sends SELECTs to the reader and all else to the writer, as the usual rules do.
func split(text string, req *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse {
	to := writer
	if upper := strings.ToUpper(text); strings.HasPrefix(upper, "SELECT") && !strings.Contains(upper, "FOR UPDATE") {
		to = reader
	}
	return &decisionv1.RouteStatementResponse{
		DestinationHostgroup: new(to), Reason: decisionv1.Reason_REASON_RULE,
		CacheScope:        decisionv1.CacheScope_CACHE_SCOPE_TEXT,
		Cookie:            fmt.Append(nil, req.GetSession().GetSchemaname(), req.GetSession().GetNextQueryFlagIn()),
		SessionAttributes: []string{"schemaname", "next_query_flag_in"},
	}
}

// users of the tests: app with password secret, and loose without transaction_persistent.
func users() []*configv1.User {
	return []*configv1.User{
		{Username: "app", Password: new("secret"), DefaultHostgroup: writer},
		{Username: "loose", Password: new("secret"), DefaultHostgroup: writer, TransactionPersistent: new(false)},
		{Username: "fast", Password: new("secret"), DefaultHostgroup: reader, FastForward: true},
		{Username: "few", Password: new("secret"), DefaultHostgroup: writer, MaxConnections: proto.Uint32(1)},
		{Username: "nopassword", DefaultHostgroup: writer},
	}
}

// server is a row of the configuration.
func server(hostgroup int32, addr string) *configv1.Server {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return &configv1.Server{HostgroupId: hostgroup, Hostname: addr, Port: proto.Uint32(0)}
	}
	var n uint32
	_, _ = fmt.Sscan(port, &n)
	return &configv1.Server{HostgroupId: hostgroup, Hostname: host, Port: new(n)}
}

// testGateway is a gateway that listens.
type testGateway struct {
	*Gateway
	addr     string
	decider  *decider
	registry *prometheus.Registry
	config   chan *configv1.WatchGatewayConfigResponse
	log      *lockedBuffer
}

// gatewayOptions change what startGateway does.
type gatewayOptions struct {
	answer         func(string, *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse
	settings       *configv1.Settings
	users          []*configv1.User
	servers        []*configv1.Server
	site           *snapshot.Site // with one listener
	guideline      *configv1.GuidelinePart
	runtime        *configv1.RuntimeState
	maxConnections int
	noConfig       bool
	budget         time.Duration // wait, unless given
	fallback       route.Fallback
}

var newAuth = sync.OnceValues(mysql.NewAuthenticator)

// startGateway serves until the test ends.
func startGateway(t *testing.T, o gatewayOptions) *testGateway {
	t.Helper()
	if o.answer == nil {
		o.answer = split
	}
	if o.settings == nil {
		o.settings = &configv1.Settings{}
	}
	if o.users == nil {
		o.users = users()
	}
	if o.maxConnections == 0 {
		o.maxConnections = 100
	}
	if o.site == nil {
		o.site = &snapshot.Site{Listeners: []snapshot.Listener{{Name: "default", Address: "127.0.0.1"}}}
	}
	auth, err := newAuth()
	if err != nil {
		t.Fatal(err)
	}
	g := &testGateway{
		decider: &decider{answer: o.answer}, registry: prometheus.NewRegistry(),
		config: make(chan *configv1.WatchGatewayConfigResponse), log: &lockedBuffer{},
	}
	log := slog.New(slog.NewTextHandler(g.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if o.budget == 0 {
		o.budget = wait
	}
	router := route.New(g.decider, route.Options{Budget: o.budget, Fallback: o.fallback}, log)
	t.Cleanup(router.Close)
	results, copies := resultcache.New(), mirror.New(log)
	t.Cleanup(copies.Close)
	holder := snapshot.NewHolder("", o.site, log, func(s *snapshot.Snapshot) {
		router.Observe(s.Generation)
		results.Resize(s.Settings.QueryCacheBytes)
	})
	g.Gateway = &Gateway{
		Snapshots: holder, Results: results, Mirror: copies, Router: router, Auth: auth, Metrics: NewMetrics(g.registry), Log: log, MaxConnections: o.maxConnections,
	}
	g.Init()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g.addr = l.Addr().String()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var all sync.WaitGroup
	all.Go(func() { g.WatchClients(ctx) })
	all.Go(func() { g.WatchOutages(ctx) })
	all.Go(func() { g.WatchPool(ctx) })
	g.registry.MustRegister(g.PoolMetrics())
	all.Go(func() {
		holder.Run(ctx, func(ctx context.Context, f func(*configv1.WatchGatewayConfigResponse) error) error {
			for {
				select {
				case m := <-g.config:
					if err := f(m); err != nil {
						return err
					}
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		})
	})
	all.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { g.Serve(ctx, nc, 0) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		cancel()
		all.Wait()
		if t.Failed() {
			t.Logf("log of the gateway:\n%s", g.log.String())
		}
	})
	if !o.noConfig {
		g.push(t, &configv1.WatchGatewayConfigResponse{
			Generation: 1, Sequence: 1, Users: &configv1.UserList{Users: o.users},
			Servers: &configv1.ServerList{Servers: o.servers}, Settings: o.settings,
			Guideline: o.guideline, Runtime: o.runtime,
		})
		<-holder.First()
	}
	return g
}

// push sends a configuration; it is in force when another one is taken, or soon.
func (g *testGateway) push(t *testing.T, m *configv1.WatchGatewayConfigResponse) {
	t.Helper()
	select {
	case g.config <- m:
	case <-time.After(wait):
		t.Fatal("configuration not taken")
	}
}

// metric sums a metric over its labels.
func (g *testGateway) metric(t *testing.T, name string) float64 {
	t.Helper()
	families, err := g.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	for _, f := range families {
		if f.GetName() != "pointsman_gateway_"+name {
			continue
		}
		for _, m := range f.GetMetric() {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return sum
}

// choices gives the labels of what the guideline has said, one set a line.
func (g *testGateway) choices(t *testing.T) string {
	t.Helper()
	families, err := g.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range families {
		if f.GetName() != "pointsman_gateway_guideline_decisions_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				fmt.Fprintf(&b, "%s=%q ", l.GetName(), l.GetValue())
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// eventually waits for a condition.
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

// open gives a driver's pool of connections through the gateway.
func (g *testGateway) open(t *testing.T, user, params string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", user+":secret@tcp("+g.addr+")/shop?multiStatements=true&maxAllowedPacket=67108864&"+params)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// client is one session through the driver.
type client struct {
	*sql.Conn
}

// connect gives one session of a user; its parameters' values are put into the text by the driver.
func (g *testGateway) connect(t *testing.T, user string) *client {
	t.Helper()
	return connect(t, g.open(t, user, "interpolateParams=true"))
}

func connect(t *testing.T, db *sql.DB) *client {
	t.Helper()
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &client{c}
}

func (c *client) exec(t *testing.T, statements ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	for _, q := range statements {
		if _, err := c.ExecContext(ctx, q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

// value gives the one value that a query has.
func (c *client) value(t *testing.T, query string, args ...any) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	var v sql.NullString
	if err := c.QueryRowContext(ctx, query, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	if !v.Valid {
		return "NULL"
	}
	return v.String
}

func (c *client) expect(t *testing.T, query, want string) {
	t.Helper()
	if got := c.value(t, query); got != want {
		t.Errorf("%s: %s, want %s", query, got, want)
	}
}

// expectError runs a statement that must fail with a code and, unless empty, a part of its text.
func (c *client) expectError(t *testing.T, query string, code uint16, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	_, err := c.ExecContext(ctx, query)
	var told *driver.MySQLError
	if !errors.As(err, &told) || told.Number != code || !strings.Contains(told.Message, text) {
		t.Errorf("%s: %v, want error %d with %q", query, err, code, text)
	}
}

// raw is a client that speaks the protocol byte for byte.
type raw struct {
	*pool.BackendConn
	nc net.Conn
}

// dial logs in with a raw client.
func (g *testGateway) dial(t *testing.T, user, schema string) *raw {
	t.Helper()
	r, err := g.tryDial(t, user, schema)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (g *testGateway) tryDial(t *testing.T, user, schema string) (*raw, error) {
	t.Helper()
	return g.dialWith(t, user, schema, nil)
}

// dialWith logs in with connection attributes.
func (g *testGateway) dialWith(t *testing.T, user, schema string, attrs map[string]string) (*raw, error) {
	t.Helper()
	b, err := pool.Dial(t.Context(), pool.Target{
		Addr: g.addr, User: user, Secret: mysql.ClearSecret("secret"), DB: schema,
		ClientFlags: mysql.OfferedCapabilities() &^ mysql.CapDeprecateEOF, ConnectTimeout: wait, Attrs: attrs,
	})
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = b.Conn.Close() })
	nc := b.Conn.NetConn()
	if err := nc.SetDeadline(time.Now().Add(wait)); err != nil {
		t.Fatal(err)
	}
	return &raw{b, nc}, nil
}

func (r *raw) send(t *testing.T, code byte, arg ...byte) {
	t.Helper()
	n := 1 + len(arg)
	packet := append([]byte{byte(n), byte(n >> 8), byte(n >> 16), 0, code}, arg...)
	if _, err := r.nc.Write(packet); err != nil {
		t.Fatal(err)
	}
}

func (r *raw) read(t *testing.T) []byte {
	t.Helper()
	payload, err := r.tryRead()
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

func (r *raw) tryRead() ([]byte, error) {
	var header [4]byte
	if _, err := io.ReadFull(r.nc, header[:]); err != nil {
		return nil, err
	}
	payload := make([]byte, int(header[0])|int(header[1])<<8|int(header[2])<<16)
	_, err := io.ReadFull(r.nc, payload)
	return payload, err
}

// readOK reads an OK and gives the status flags.
func (r *raw) readOK(t *testing.T) uint16 {
	t.Helper()
	p := r.read(t)
	ok, err := mysql.ParseOK(p)
	if err != nil {
		t.Fatalf("no OK: %v", mysql.ParseError(p))
	}
	return ok.Status
}

// readError reads an ERR with the code.
func (r *raw) readError(t *testing.T, code uint16) *mysql.Error {
	t.Helper()
	p := r.read(t)
	if len(p) == 0 || p[0] != 0xff {
		t.Fatalf("no error: % x", p)
	}
	e := mysql.ParseError(p)
	if e.Code != code {
		t.Fatalf("%v, want error %d", e, code)
	}
	return e
}

// readRows reads a result set with classic EOFs; the last packet is its second EOF or, with a cursor, its only one.
func (r *raw) readRows(t *testing.T) (rows [][]byte) {
	t.Helper()
	if p := r.read(t); p[0] == 0xff {
		t.Fatalf("no rows: %v", mysql.ParseError(p))
	}
	for {
		p := r.read(t)
		if p[0] != 0xfe || len(p) >= 9 {
			continue
		}
		if binary.LittleEndian.Uint16(p[3:])&mysql.StatusCursorExists != 0 {
			return nil
		}
		return r.readMoreRows(t)
	}
}

// readMoreRows reads rows up to an EOF.
func (r *raw) readMoreRows(t *testing.T) (rows [][]byte) {
	t.Helper()
	for {
		p := r.read(t)
		switch {
		case p[0] == 0xff:
			t.Fatalf("rows end: %v", mysql.ParseError(p))
		case p[0] == 0xfe && len(p) < 9:
			return rows
		}
		rows = append(rows, p)
	}
}

// query gives the first value of a text result.
func (r *raw) query(t *testing.T, text string) string {
	t.Helper()
	r.send(t, mysql.ComQuery, []byte(text)...)
	rows := r.readRows(t)
	if len(rows) == 0 {
		t.Fatalf("%s: no rows", text)
	}
	return string(rows[0][1 : 1+rows[0][0]])
}

func (r *raw) exec(t *testing.T, text string) {
	t.Helper()
	r.send(t, mysql.ComQuery, []byte(text)...)
	r.readOK(t)
}

// changeUser sends COM_CHANGE_USER, up to the verdict. It names a plugin that nobody has, so that the gateway asks anew, with
// its challenge. attributes are its last part, as sent.
func (r *raw) changeUser(t *testing.T, user, password, schema, attributes string) {
	t.Helper()
	arg := append(append([]byte(user), 0, 0), schema...)
	arg = append(append(append(arg, 0, 45, 0), "none"...), 0)
	r.send(t, mysql.ComChangeUser, append(arg, attributes...)...)
	request, err := mysql.ParseAuthSwitch(r.read(t))
	if err != nil || request.Plugin != mysql.PluginNative {
		t.Fatalf("%+v, %v", request, err)
	}
	answer, _ := mysql.ClearSecret(password).NativeAnswer(request.Salt)
	if _, err := r.nc.Write(append([]byte{byte(len(answer)), 0, 0, 2}, answer...)); err != nil {
		t.Fatal(err)
	}
}

// prepare gives the id of a statement.
func (r *raw) prepare(t *testing.T, text string) uint32 {
	t.Helper()
	r.send(t, mysql.ComStmtPrepare, []byte(text)...)
	p := r.read(t)
	if p[0] != 0 {
		t.Fatalf("prepare %s: %v", text, mysql.ParseError(p))
	}
	for _, at := range []int{5, 7} {
		if n := int(binary.LittleEndian.Uint16(p[at:])); n > 0 {
			for range n + 1 {
				r.read(t)
			}
		}
	}
	return binary.LittleEndian.Uint32(p[1:])
}

// executeArg builds what follows the command byte of COM_STMT_EXECUTE.
func executeArg(id uint32, flags byte, rest ...byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, id)
	b = append(b, flags, 1, 0, 0, 0)
	return append(b, rest...)
}

func id32(id uint32) []byte { return binary.LittleEndian.AppendUint32(nil, id) }

// ended tells whether the gateway closes the connection.
func (r *raw) expectEnd(t *testing.T) {
	t.Helper()
	if p, err := r.tryRead(); err == nil {
		t.Errorf("connection goes on with % x", p)
	} else if errors.Is(err, context.DeadlineExceeded) {
		t.Error("connection stays open")
	}
}

// sha1sha1 is what a native hash holds.
func sha1sha1(password string) []byte {
	first := sha1.Sum([]byte(password))
	second := sha1.Sum(first[:])
	return second[:]
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
