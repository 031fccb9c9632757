package session

import (
	"strings"
	"testing"

	"github.com/pointsman/pointsman/gateway/mysqltest"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// fleet is a primary with server_id 1 and a replica with server_id 2. They do not replicate: what is written shows where.
type fleet struct {
	primary, replica *mysqltest.Server
}

func (f *fleet) servers() []*configv1.Server {
	return []*configv1.Server{server(writer, f.primary.Addr), server(reader, f.replica.Addr)}
}

func startFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{
		primary: mysqltest.Start(t, "--server-id=1", "--local-infile=1"),
		replica: mysqltest.Start(t, "--server-id=2", "--local-infile=1"),
	}
	for _, s := range []*mysqltest.Server{f.primary, f.replica} {
		fill(t, s)
	}
	return f
}

// fill makes a server's users and tables.
func fill(t *testing.T, s *mysqltest.Server) {
	t.Helper()
	s.Exec(t, "CREATE DATABASE shop", "CREATE DATABASE other")
	for _, u := range []string{"app", "loose", "fast", "few"} {
		s.Exec(t, "CREATE USER "+u+"@'127.0.0.1' IDENTIFIED BY 'secret'", "GRANT ALL ON *.* TO "+u+"@'127.0.0.1'")
	}
	s.Exec(t, "CREATE TABLE shop.t (id INT PRIMARY KEY AUTO_INCREMENT, s LONGTEXT)", "CREATE TABLE shop.big (b LONGBLOB)",
		"CREATE TABLE shop.n (a INT)", "INSERT INTO shop.n VALUES (1),(2),(3),(4),(5)",
		"CREATE PROCEDURE shop.two() BEGIN SELECT 1; SELECT 2; END", "CREATE PROCEDURE shop.remember() SET @remembered = 7",
		"CREATE PROCEDURE shop.hide() SET SESSION sql_mode = 'ANSI'")
}

// reset empties what tests write.
func (f *fleet) reset(t *testing.T) {
	t.Helper()
	for _, s := range []*mysqltest.Server{f.primary, f.replica} {
		s.Exec(t, "TRUNCATE shop.t", "TRUNCATE shop.big")
	}
}

// TestLive runs its parts against two MariaDB servers.
func TestLive(t *testing.T) {
	f := startFleet(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *fleet)
	}{
		{"Split", liveSplit},
		{"Transaction", liveTransaction},
		{"AutocommitOff", liveAutocommitOff},
		{"NotPersistent", liveNotPersistent},
		{"Variables", liveVariables},
		{"Pins", livePins},
		{"LockError", liveLockError},
		{"AutocommitSetting", liveAutocommitSetting},
		{"WaitTimeout", liveWaitTimeout},
		{"MultiplexKeepsConnection", liveMultiplex},
		{"FastForward", liveFastForward},
		{"LockTables", liveLockTables},
		{"SetTransaction", liveSetTransaction},
		{"Schema", liveSchema},
		{"LastStatement", liveLastStatement},
		{"Prepared", livePrepared},
		{"PreparedTypes", livePreparedTypes},
		{"PreparedUnknown", livePreparedUnknown},
		{"Cursor", liveCursor},
		{"LongData", liveLongData},
		{"Reset", liveReset},
		{"ChangeUser", liveChangeUser},
		{"SetOption", liveSetOption},
		{"Share", liveShare},
		{"Reuse", liveReuse},
		{"ReuseDoubtful", liveReuseDoubtful},
		{"PoolLimits", livePoolLimits},
		{"Warming", liveWarming},
		{"Kill", liveKill},
		{"Timeout", liveTimeout},
		{"Effects", liveEffects},
		{"Rewrite", liveRewrite},
		{"ResultCache", liveResultCache},
		{"Mirror", liveMirror},
		{"MultiResults", liveMultiResults},
		{"LocalInfile", liveLocalInfile},
		{"Large", liveLarge},
		{"Streamed", liveStreamed},
		{"StreamedPrepared", liveStreamedPrepared},
		{"ClientGone", liveClientGone},
		{"Drain", liveDrain},
		{"MaxConnections", liveMaxConnections},
		{"NewConfiguration", liveNewConfiguration},
		{"Guideline", liveGuideline}, // from here on servers are restarted
		{"ServerDies", liveServerDies},
	} {
		t.Run(part.name, func(t *testing.T) {
			f.reset(t)
			part.run(t, f)
		})
	}
}

const (
	whoRead  = "SELECT @@server_id"
	whoWrite = "SELECT @@server_id FOR UPDATE"
)

func liveSplit(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	c := g.connect(t, "app")
	c.expect(t, whoRead, "2")
	c.expect(t, whoWrite, "1")
	c.exec(t, "INSERT INTO t (s) VALUES ('x')")
	c.expect(t, "SELECT COUNT(*) FROM t", "0")
	c.expect(t, "SELECT COUNT(*) FROM t FOR UPDATE", "1")
	c.expect(t, whoRead, "2")
	if pins := g.metric(t, "pins_total"); pins != 0 {
		t.Errorf("%v pins", pins)
	}
	if g.decider.last(t, whoRead).GetSession().GetSchemaname() != "shop" {
		t.Error("schema not told")
	}
	// The next greeting bears the servers' version.
	if r := g.dial(t, "app", ""); !strings.Contains(r.ServerVersion, "MariaDB") {
		t.Errorf("version %s", r.ServerVersion)
	}
}

func liveTransaction(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	c := g.connect(t, "app")
	for _, end := range []string{"COMMIT", "ROLLBACK"} {
		c.exec(t, "BEGIN")
		c.expect(t, whoRead, "1")
		c.expectError(t, "SELECT nothing FROM t", 1054, "nothing") // the state is unknown until asked for
		c.expect(t, whoRead, "1")
		c.exec(t, "SAVEPOINT a", "ROLLBACK TO a", "INSERT INTO t (s) VALUES ('x')")
		c.expect(t, whoRead, "1")
		c.exec(t, end)
		c.expect(t, whoRead, "2")
	}
	c.exec(t, "BEGIN", "CREATE TABLE IF NOT EXISTS ddl (a INT)") // commits
	c.expect(t, whoRead, "2")
	c.expect(t, "SELECT COUNT(*) FROM t FOR UPDATE", "1")
	c.exec(t, "BEGIN; SELECT 1")
	c.expect(t, whoRead, "1")
	c.exec(t, "COMMIT")
}
