package e2e

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	mysql "github.com/go-sql-driver/mysql"

	"github.com/pointsman/pointsman/gateway/mysqltest"
)

// The statements of the tests of guidelines, by where the rules of testdata/guideline.yaml send them.
const (
	readQuery      = "SELECT @@server_id"
	writeQuery     = "SELECT @@server_id FOR UPDATE"
	outsideQuery   = "SELECT @@server_id AS outside FOR UPDATE"
	forbiddenQuery = "SELECT @@server_id AS forbidden"
)

// guidelineUsers are the users of testdata/guideline.yaml with their default hostgroups.
var guidelineUsers = map[string]int{appUser: 10, "batch": 10, "tester": 10, "weighted": 10, "apart": 30}

// guidelineDatabases are the primary 1 and its replica 2, and two servers of their own: 3, the canary, a primary, and 4, the
// remote read replica.
type guidelineDatabases struct {
	*databases
	canary, remote *mysqltest.Server
}

// TestGuidelines holds the tests of routing guidelines.
func (d *databases) TestGuidelines(t *testing.T) {
	g := &guidelineDatabases{databases: d}
	g.canary = mysqltest.Start(t, "--server-id=3", "--max-connections=500")
	g.remote = mysqltest.Start(t, "--server-id=4", "--max-connections=500", "--read-only")
	for _, s := range []*mysqltest.Server{g.canary, g.remote} {
		s.Exec(t,
			"CREATE DATABASE e2e", "CREATE DATABASE e2e_other",
			fmt.Sprintf("CREATE USER %s@'127.0.0.1' IDENTIFIED BY '%s'", appUser, password),
			"GRANT ALL ON e2e.* TO app@'127.0.0.1'", "GRANT ALL ON e2e_other.* TO app@'127.0.0.1'",
			fmt.Sprintf("CREATE USER %s@'127.0.0.1' IDENTIFIED BY '%s'", monitorUser, password))
	}
	for _, tt := range []struct {
		name  string
		run   func(*testing.T)
		alone bool // It stops servers or changes their roles.
	}{
		{"TierStopped", g.TestTierStopped, true},
		{"Roles", g.TestRoles, true},
		{"Routes", g.TestRoutes, false},
		{"Weighted", g.TestWeighted, false},
		{"Defaults", g.TestDefaults, false},
		{"Disabled", g.TestDisabled, false},
		{"Drained", g.TestDrained, false},
		{"Mended", g.TestMended, false},
		{"Broken", g.TestBroken, false},
		{"Invalid", g.TestInvalid, false},
		{"Refused", g.TestRefused, false},
		{"Resolve", g.TestResolve, false},
		{"DecisionsKilled", g.TestDecisionsKilled, false},
		{"Load", g.TestLoad, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !tt.alone {
				t.Parallel()
			}
			tt.run(t)
		})
	}
}

// classes are the destination classes of the tests' guidelines.
var classes = map[string]string{
	"Main":   "$.server.tags.site = 'north'",
	"Canary": "$.server.tags.canary = true",
	"Remote": "$.server.memberRole = READ_REPLICA",
}

// guidelineRoute is a route with one class in each tier.
type guidelineRoute struct {
	name, match string
	disabled    bool
	tiers       []string
}

// to makes a route.
func to(name, match string, tiers ...string) guidelineRoute {
	return guidelineRoute{name: name, match: match, tiers: tiers}
}

// toMain is the route of all that no other route takes. It does what rules alone do: writes to server 1, reads to 2.
var toMain = to("main", "TRUE", "Main")

// guideline makes a document.
func guideline(t *testing.T, name string, routes ...guidelineRoute) string {
	t.Helper()
	type object = map[string]any
	var destinations, routeObjects []object
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		destinations = append(destinations, object{"name": class, "match": classes[class]})
	}
	for _, r := range routes {
		var groups []object
		for i, class := range r.tiers {
			groups = append(groups, object{"classes": []string{class}, "strategy": "round-robin", "priority": i})
		}
		routeObjects = append(routeObjects, object{"name": r.name, "enabled": !r.disabled, "match": r.match, "destinations": groups})
	}
	text, err := json.Marshal(object{"version": "1.1", "name": name, "destinations": destinations, "routes": routeObjects})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// guidelineFile writes a document to a file of its own.
func guidelineFile(t *testing.T, document string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "guideline.json")
	if err := os.WriteFile(path, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// configuration is testdata/guideline.yaml with a guideline, empty for none.
func (d *guidelineDatabases) configuration(t *testing.T, document string) string {
	t.Helper()
	return d.remoteIs(t, document, "")
}

// remoteIs is such a configuration with fields of the remote server, instead of its tags.
func (d *guidelineDatabases) remoteIs(t *testing.T, document, fields string) string {
	t.Helper()
	return configuration(t, "guideline.yaml", map[string]any{
		"RemoteIs": fields,
		"Primary":  d.primary.Port, "Replica": d.replica.Port, "Canary": d.canary.Port, "Remote": d.remote.Port,
		"Users": guidelineUsers, "Password": password, "Document": document,
	})
}

// guidelineFleet is a decision server and a gateway that routes by a guideline. The gateway has listeners by name.
type guidelineFleet struct {
	*guidelineDatabases
	server    *pointsman
	gateway   *gateway
	listeners map[string]string // Their addresses.
}

// newFleet starts a fleet with a guideline, empty for none, as generation 1.
func (d *guidelineDatabases) newFleet(t *testing.T, document string) *guidelineFleet {
	t.Helper()
	f := &guidelineFleet{guidelineDatabases: d, server: newPointsman(t), listeners: map[string]string{}}
	if got := f.server.publish(t, d.configuration(t, document)); got != 1 {
		t.Fatalf("the first generation is %d, want 1", got)
	}
	flags := []string{"--name", "gate", "--local-cluster", "here", "--tags", `{"site": "south"}`}
	for _, name := range []string{"rw", "ro", "audit"} {
		f.listeners[name] = freeAddress(t)
		flags = append(flags, "--listen", name+"="+f.listeners[name])
	}
	f.gateway = newGateway(t, f.server, flags...)
	f.listeners[""] = f.gateway.address
	return f
}

// guide publishes another guideline and waits until the gateway routes by it.
func (f *guidelineFleet) guide(t *testing.T, document string) {
	t.Helper()
	f.follow(t, f.server.publish(t, f.configuration(t, document)))
}

// follow waits until the gateway routes by a generation.
func (f *guidelineFleet) follow(t *testing.T, generation uint64) {
	t.Helper()
	eventually(t, fmt.Sprintf("the gateway follows generation %d", generation), patience, func() (bool, string) {
		got := f.gateway.metric(t, "pointsman_gateway_config_generation")
		return got == float64(generation), fmt.Sprint("generation ", got)
	})
}

// login is what a session shows of itself, app and its schema unless said otherwise.
type login struct{ user, schema, program, source, listener string }

// session logs in. The connection is never replaced: a lost one is an error.
func (f *guidelineFleet) session(t *testing.T, l login) *sql.Conn {
	t.Helper()
	conn, err := f.connect(t, l)
	if err != nil {
		t.Fatalf("log in as %+v: %v", l, err)
	}
	return conn
}

// connect logs in, or not.
func (f *guidelineFleet) connect(t *testing.T, l login) (*sql.Conn, error) {
	t.Helper()
	if l.user == "" {
		l.user = appUser
	}
	config, err := mysql.ParseDSN(dsn(l.user, f.listeners[l.listener]))
	if err != nil {
		t.Fatal(err)
	}
	if l.schema != "" {
		config.DBName = l.schema
	}
	if l.program != "" {
		config.ConnectionAttributes = "program_name:" + l.program
	}
	if l.source != "" {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(l.source)}}
		config.DialFunc = dialer.DialContext
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	conn, err := db.Conn(t.Context())
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn, nil
}

// wantServers checks where a session's reads and writes go.
func wantServers(t *testing.T, conn querier, reads, writes int) {
	t.Helper()
	wantServer(t, conn, reads, readQuery)
	wantServer(t, conn, writes, writeQuery)
}

// moves waits until a session's reads go to a server.
func moves(t *testing.T, conn querier, reads int) {
	t.Helper()
	eventually(t, fmt.Sprintf("the session reads from server %d", reads), patience, func() (bool, string) {
		got := number(t, conn, readQuery)
		return got == reads, fmt.Sprint("server ", got)
	})
}

// wantOperators checks what operators have said, which holds whatever guidelines say: a rule to a hostgroup outside the
// binding, a rule that refuses, and a user with a default hostgroup outside.
func (f *guidelineFleet) wantOperators(t *testing.T, conn *sql.Conn) {
	t.Helper()
	wantServer(t, conn, 2, outsideQuery)
	wantRefused(t, conn, forbiddenQuery, "operators forbid this")
	wantServers(t, f.session(t, login{user: "apart", schema: "e2e_other", program: "reporting", listener: "rw"}), 2, 2)
}

// wantRefused checks that a statement is answered by an error with those words.
func wantRefused(t *testing.T, conn *sql.Conn, query string, words ...string) {
	t.Helper()
	refusal := refused(t.Context(), conn, query)
	if refusal == nil {
		t.Errorf("%s: not refused, want an error with %q", query, words)
		return
	}
	for _, word := range words {
		if refusal.Number != 1148 || !strings.Contains(refusal.Message, word) {
			t.Errorf("%s: %v, want error 1148 with %q", query, refusal, word)
		}
	}
}

// refused gives the error that answers a query, nil for none. A lost connection is none.
func refused(ctx context.Context, conn *sql.Conn, query string) *mysql.MySQLError {
	var id int
	refusal, _ := errors.AsType[*mysql.MySQLError](conn.QueryRowContext(ctx, query).Scan(&id))
	return refusal
}
