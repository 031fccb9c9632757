package session

import (
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/pool"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// whoAmI is all that tells a session from a new login, but for what moves on by itself.
const whoAmI = "SELECT CONCAT_WS('/', DATABASE(), CURRENT_ROLE(), LAST_INSERT_ID(), IFNULL(@x, 'none'), IFNULL(IS_USED_LOCK('l'), 'none'), GROUP_CONCAT(VARIABLE_NAME, '=', IFNULL(SESSION_VALUE, 'NULL') ORDER BY 1)) " +
	"FROM information_schema.SYSTEM_VARIABLES WHERE VARIABLE_NAME NOT IN ('TIMESTAMP', 'RAND_SEED1', 'RAND_SEED2', 'PSEUDO_THREAD_ID', 'GTID_BINLOG_POS', 'GTID_CURRENT_POS', 'IN_TRANSACTION', 'LAST_GTID')"

// passenger is a client that comes and goes.
type passenger struct {
	*client
	db *sql.DB
}

func (g *testGateway) board(t *testing.T, user, schema string) *passenger {
	t.Helper()
	db, err := sql.Open("mysql", user+":secret@tcp("+g.addr+")/"+schema+"?multiStatements=true")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return &passenger{connect(t, db), db}
}

// quit ends the session in order and waits until the gateway has so many free connections.
func (p *passenger) quit(t *testing.T, g *testGateway, free uint32) {
	t.Helper()
	used := g.used()
	defer func() {
		if t.Failed() {
			t.Logf("%+v, %d free wanted", g.PoolState(), free)
		}
	}()
	if err := errors.Join(p.Close(), p.db.Close()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "connection is given back", func() bool { return g.used() < used && g.free() == free })
}

func toWriter(string, *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse {
	return &decisionv1.RouteStatementResponse{DestinationHostgroup: new(writer), Reason: decisionv1.Reason_REASON_RULE}
}

// learn lets the gateway see what the servers can do, from when on clients' flags stay the same.
func (g *testGateway) learn(t *testing.T, f *fleet) {
	t.Helper()
	for _, addr := range []string{f.primary.Addr, f.replica.Addr} {
		b, err := g.logIn(t.Context(), pool.Target{Addr: addr, User: "app", Secret: mysql.ClearSecret("secret"), ConnectTimeout: wait})
		if err != nil {
			t.Fatal(err)
		}
		_ = b.Close() // it has served
	}
}

func (g *testGateway) used() (n uint32) {
	for _, s := range g.PoolState() {
		n += s.Used
	}
	return n
}

func (g *testGateway) free() (n uint32) {
	for _, s := range g.PoolState() {
		n += s.Free
	}
	return n
}

// liveReuse: who gets a connection that others have used finds it as new.
func liveReuse(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers(), answer: toWriter})
	g.learn(t, f)
	for _, schema := range []string{"shop", ""} {
		first := g.board(t, "app", schema)
		was, id := first.value(t, whoAmI), first.value(t, "SELECT CONNECTION_ID()")
		free := g.free()
		first.quit(t, g, free+1)
		for _, statements := range [][]string{
			{"SET NAMES latin1, sql_mode='ANSI', wait_timeout=77, tx_isolation='SERIALIZABLE', sql_log_bin=0"},
			{"SET autocommit=0", "INSERT INTO shop.t (s) VALUES ('never committed')"},
			{"BEGIN", "INSERT INTO shop.t (s) VALUES ('never committed')"},
			{"SET @x = 1", "SELECT GET_LOCK('l', 1)"},
			{"CREATE TEMPORARY TABLE shop.n (b INT)"},
			{"LOCK TABLES shop.t WRITE"},
			{"FLUSH TABLES WITH READ LOCK"},
			{"HANDLER shop.n OPEN"},
			{"INSERT INTO shop.t (s) VALUES ('x')", "DELETE FROM shop.t", "PREPARE p FROM 'SELECT 1'"},
			{"SET TRANSACTION READ ONLY"},
			{"SELECT SQL_CALC_FOUND_ROWS * FROM shop.n LIMIT 1"},
		} {
			c := g.board(t, "app", schema)
			c.expect(t, "SELECT CONNECTION_ID()", id)
			for _, each := range statements {
				c.exec(t, each)
			}
			c.quit(t, g, free+1)
			c = g.board(t, "app", schema)
			c.expect(t, "SELECT CONNECTION_ID()", id)
			c.expect(t, "SELECT FOUND_ROWS()", "1") // of the statement before
			if is := c.value(t, whoAmI); is != was {
				t.Errorf("after %q: now %s\nnew %s", statements, is, was)
			}
			c.expectError(t, "EXECUTE p", 1243, "p")
			c.expect(t, "SELECT COUNT(*) FROM shop.t", "0")
			c.expect(t, "SELECT COUNT(a) FROM shop.n", "5")
			c.quit(t, g, free+1)
		}
		other := g.board(t, "loose", schema)
		if other.value(t, "SELECT CONNECTION_ID()") == id {
			t.Error("another user has the connection")
		}
	}
	// With a schema only those are left that a session without one can't have.
	c := g.board(t, "app", "other")
	c.expect(t, "SELECT DATABASE()", "other")
	if g.metric(t, "pool_reused_total") < 40 {
		t.Errorf("%v reused", g.metric(t, "pool_reused_total"))
	}
}

// liveReuseDoubtful: what a reset does not undo, or a KILL may still hit, is never given to others.
func liveReuseDoubtful(t *testing.T, f *fleet) {
	t.Helper()
	f.primary.Exec(t, "CREATE ROLE IF NOT EXISTS boss", "GRANT boss TO app@'127.0.0.1'")
	g := startGateway(t, gatewayOptions{servers: f.servers(), answer: toWriter})
	for _, statement := range []string{"SET ROLE boss", "PREPARE r FROM 'SET ROLE boss'; EXECUTE r", "CALL remember()", "SET session_track_schema=OFF, session_track_system_variables=''"} {
		c := g.board(t, "app", "shop")
		id := c.value(t, "SELECT CONNECTION_ID()")
		c.exec(t, statement)
		c.quit(t, g, 0)
		eventually(t, "thread is gone", func() bool {
			var n int
			return f.primary.DB.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = "+id).Scan(&n) == nil && n == 0
		})
	}
	if g.metric(t, "pool_closed_total") != 4 {
		t.Errorf("%v closed", g.metric(t, "pool_closed_total"))
	}
}

// livePoolLimits: free connections end by age, by idleness, when they are dead, and with their server.
func livePoolLimits(t *testing.T, f *fleet) {
	t.Helper()
	for _, tt := range []struct {
		name     string
		settings *configv1.Settings
		server   func(*configv1.Server)
		want     uint32
	}{
		{"kept", &configv1.Settings{}, func(*configv1.Server) {}, 1},
		{"none", &configv1.Settings{FreeConnectionsPct: proto.Uint32(0)}, func(*configv1.Server) {}, 0},
		{"old", &configv1.Settings{ConnectionMaxAgeMs: proto.Uint32(1)}, func(*configv1.Server) {}, 0},
		{"of one place", &configv1.Settings{}, func(s *configv1.Server) { s.MaxConnections = proto.Int64(1) }, 1},
	} {
		servers := f.servers()
		tt.server(servers[0])
		g := startGateway(t, gatewayOptions{servers: servers, answer: toWriter, settings: tt.settings})
		c := g.board(t, "app", "shop")
		c.exec(t, "DO 1")
		c.quit(t, g, tt.want)
		eventually(t, tt.name, func() bool { return g.PoolState()[0].Used == 0 && g.free() == tt.want })
	}
	g := startGateway(t, gatewayOptions{servers: f.servers(), answer: toWriter, settings: &configv1.Settings{ConnectionMaxIdleMs: proto.Uint32(100)}})
	c := g.board(t, "app", "shop")
	c.exec(t, "DO 1")
	c.quit(t, g, 1)
	eventually(t, "idle one closed", func() bool { return g.free() == 0 })
	g = startGateway(t, gatewayOptions{servers: f.servers(), answer: toWriter})
	c = g.board(t, "app", "shop")
	id := c.value(t, "SELECT CONNECTION_ID()")
	c.quit(t, g, 1)
	f.primary.Exec(t, "KILL "+id)
	c = g.board(t, "app", "shop")
	for begin := time.Now(); time.Since(begin) < wait; {
		if c.value(t, "SELECT CONNECTION_ID()") != id { // no error whatever the moment
			break
		}
	}
	c.quit(t, g, 1)
	offline := f.servers()
	offline[0].Status = new("OFFLINE_SOFT")
	g.push(t, &configv1.WatchGatewayConfigResponse{Generation: 2, Sequence: 2, Servers: &configv1.ServerList{Servers: offline}})
	eventually(t, "connections of an offline server are closed", func() bool { return g.free() == 0 })
}

// liveWarming logs in ahead for the kinds of logins that were seen.
func liveWarming(t *testing.T, f *fleet) {
	t.Helper()
	servers := f.servers()
	servers[0].MaxConnections = proto.Int64(30)
	g := startGateway(t, gatewayOptions{servers: servers, answer: toWriter, settings: &configv1.Settings{ConnectionWarming: new(true)}})
	g.learn(t, f)
	c := g.board(t, "app", "shop")
	c.exec(t, "DO 1")
	eventually(t, "two more", func() bool { return g.free() == 2 })
	d := g.board(t, "app", "shop")
	d.expect(t, "SELECT DATABASE()", "shop")
	if n := g.metric(t, "pool_reused_total"); n != 1 {
		t.Errorf("%v reused", n)
	}
	if !strings.Contains(d.value(t, "SELECT CURRENT_USER()"), "app") {
		t.Error("another user")
	}
}
