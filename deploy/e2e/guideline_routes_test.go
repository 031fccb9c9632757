package e2e

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// routesOfAll has a route for each thing that a session may be told by.
var routesOfAll = []guidelineRoute{
	to("user", "$.session.user = 'batch'", "Remote", "Main"),
	to("schema", "$.session.schema = 'e2e_other'", "Canary"),
	to("program", "$.session.connectAttrs.program_name = 'reporting'", "Remote", "Canary"),
	to("command_line", "$.session.connectAttrs.program_name IN ('mysql', 'mariadb')", "Canary"),
	to("network", "NETWORK($.session.sourceIP, 24) = '127.0.2.0'", "Canary"),
	to("rw_port", "$.session.targetPort = $.router.port.rw", "Canary"),
	to("ro_port", "$.session.targetPort = $.router.port.ro", "Remote", "Main"),
	to("listener", "$.router.routeName = 'audit'", "Remote", "Main"),
	to("gateway", "$.session.user = 'tester' AND $.router.tags.site = 'south' AND $.router.localCluster = 'here' AND $.router.name = 'gate'",
		"Remote", "Canary"),
	toMain,
}

// TestRoutes: sessions are told apart by who they are, where they come from and where they come in; reads and writes part.
func (d *guidelineDatabases) TestRoutes(t *testing.T) {
	f := d.newFleet(t, guideline(t, "all", routesOfAll...))
	for _, tt := range []struct {
		name          string
		login         login
		reads, writes int
	}{
		{"nothing special", login{}, 2, 1},
		{"user", login{user: "batch"}, 4, 1},
		{"schema", login{schema: "e2e_other"}, 3, 3},
		{"program", login{program: "reporting"}, 4, 3},
		{"program in capitals", login{program: "REPORTING"}, 4, 3},
		{"another program", login{program: "reporting2"}, 2, 1},
		{"network", login{source: "127.0.2.77"}, 3, 3},
		{"another network", login{source: "127.0.3.77"}, 2, 1},
		{"rw listener's port", login{listener: "rw"}, 3, 3},
		{"ro listener's port", login{listener: "ro"}, 4, 4},
		{"listener's name", login{listener: "audit"}, 4, 1},
		{"gateway's tags and names", login{user: "tester"}, 4, 3},
		{"first of two routes", login{user: "batch", schema: "e2e_other"}, 4, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conn := f.session(t, tt.login)
			wantServers(t, conn, tt.reads, tt.writes)
			wantServer(t, conn, tt.reads, "SELECT @@server_id WHERE 1 = ?", 1)
			tx, err := conn.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			wantServers(t, tx, tt.writes, tt.writes)
			if err := tx.Rollback(); err != nil {
				t.Fatal(err)
			}
			wantServers(t, conn, tt.reads, tt.writes)
			f.wantOperators(t, conn)
		})
	}
	t.Run("fast forward", func(t *testing.T) { // All goes to the writer hostgroup, past the rules.
		wantServers(t, f.session(t, login{user: "forward", program: "reporting"}), 3, 3)
		wantServers(t, f.session(t, login{user: "forward"}), 1, 1)
	})
	t.Run("USE", func(t *testing.T) {
		conn := f.session(t, login{})
		wantServers(t, conn, 2, 1)
		do(t, conn, "USE e2e_other")
		wantServers(t, conn, 3, 3)
		do(t, conn, "USE e2e")
		wantServers(t, conn, 2, 1)
	})
	t.Run("mariadb", func(t *testing.T) {
		needProgram("mariadb")(t)
		host, port, _ := strings.Cut(f.gateway.address, ":")
		stdout, stderr, code := run(t, []byte(readQuery+";\n"+writeQuery+";\n"), "mariadb", "--no-defaults", "--skip-column-names",
			"--protocol=tcp", "-h", host, "-P", port, "-u", appUser, "-p"+password)
		if code != 0 || stdout != "3\n3\n" {
			t.Errorf("exit status %d\n%s%s, want servers 3 and 3", code, stdout, stderr)
		}
	})
}

// TestWeighted: a quarter of the sessions goes to the canary, and each stays where it is, also in the next generation.
func (d *guidelineDatabases) TestWeighted(t *testing.T) {
	document := guideline(t, "weighted", to("canary", "$.session.user = 'weighted' AND $.session.randomValue < 0.25", "Canary"),
		to("rest", "$.session.user = 'weighted'", "Remote"), toMain)
	f := d.newFleet(t, document)
	sessions := make([]*sql.Conn, 200)
	servers := make([]int, len(sessions))
	canaries := 0
	for i := range sessions {
		sessions[i] = f.session(t, login{user: "weighted"})
		servers[i] = number(t, sessions[i], readQuery)
		if servers[i] == 3 {
			canaries++
		} else if servers[i] != 4 {
			t.Errorf("session %d reads from server %d, want 3 or 4", i, servers[i])
		}
	}
	if canaries < 20 || canaries > 80 {
		t.Errorf("%d of %d sessions are on the canary, want about a quarter", canaries, len(sessions))
	}
	stay := func(n int) {
		t.Helper()
		for i, conn := range sessions[:n] {
			wantServer(t, conn, servers[i], readQuery)
			wantServer(t, conn, servers[i], "SELECT @@server_id WHERE 1 = ?", 1)
		}
	}
	stay(len(sessions))
	f.guide(t, document)
	stay(50)
	f.guide(t, guideline(t, "weighted", to("canary", "$.session.randomValue < 0", "Canary"), to("rest", "TRUE", "Remote")))
	for _, conn := range sessions[:50] {
		wantServer(t, conn, 4, readQuery)
	}
	f.guide(t, document)
	stay(50)
}

// TestDefaults: the guideline that MySQL Shell makes for a cluster routes by the ports of the gateway's listeners.
func (d *guidelineDatabases) TestDefaults(t *testing.T) {
	f := d.newFleet(t, "")
	document, stderr, code := run(t, nil, "pointsmanctl", "guideline", "defaults", "cluster")
	if code != 0 {
		t.Fatalf("guideline defaults: exit status %d\n%s%s", code, document, stderr)
	}
	stdout, stderr, code := f.server.ctl(t, "guideline", "import", guidelineFile(t, document), "--name", "cluster", "--activate")
	if code != 0 {
		t.Fatalf("guideline import: exit status %d\n%s%s", code, stdout, stderr)
	}
	f.follow(t, 2)
	var seen []int
	for range 8 {
		conn := f.session(t, login{listener: "rw"})
		server := number(t, conn, writeQuery)
		for range 3 { // It keeps its server.
			wantServers(t, conn, server, server)
		}
		seen = append(seen, server)
	}
	slices.Sort(seen)
	if seen = slices.Compact(seen); !slices.Equal(seen, []int{1, 3}) {
		t.Errorf("sessions of the listener rw are on servers %v, want both primaries, 1 and 3", seen)
	}
	wantServers(t, f.session(t, login{listener: "ro"}), 2, 2)
	conn := f.session(t, login{})
	wantRefused(t, conn, readQuery, fmt.Sprintf("no route of the routing guideline %q matches", "cluster"))
	f.wantOperators(t, conn)
}

// TestDisabled: a route that is disabled and enabled again moves its sessions, and cuts none. What
// a session has set goes with it; where that can't be done it stays.
func (d *guidelineDatabases) TestDisabled(t *testing.T) {
	enabled := to("batch", "$.session.user = 'batch'", "Remote", "Canary")
	disabled := enabled
	disabled.disabled = true
	f := d.newFleet(t, guideline(t, "switched", enabled, toMain))
	batch, other, held := f.session(t, login{user: "batch"}), f.session(t, login{}), f.session(t, login{user: "batch"})
	wantServers(t, batch, 4, 3)
	tx, err := held.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	wantServer(t, tx, 3, readQuery)
	stmt, err := batch.PrepareContext(t.Context(), "SELECT @@server_id WHERE 1 = ?")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stmt.Close() })
	prepared := func(want int) {
		t.Helper()
		var got int
		if err := stmt.QueryRowContext(t.Context(), 1).Scan(&got); err != nil || got != want {
			t.Errorf("the prepared statement runs on server %d, %v, want %d", got, err, want)
		}
	}
	do(t, batch, "SET time_zone = '+07:00'")
	locked := f.session(t, login{user: "batch"})
	do(t, locked, "SET @mine = 42") // It locks the session.
	for range 2 {
		prepared(4)
		f.guide(t, guideline(t, "switched", disabled, toMain))
		prepared(2)
		wantServers(t, batch, 2, 1)
		wantServer(t, batch, 7, "SELECT TIME_FORMAT(TIMEDIFF(NOW(), UTC_TIMESTAMP()), '%k')")
		wantServers(t, locked, 3, 3)
		wantServer(t, locked, 42, "SELECT @mine")
		wantServers(t, other, 2, 1)
		wantServers(t, tx, 3, 3) // As long as the transaction is open.
		f.wantOperators(t, batch)
		f.guide(t, guideline(t, "switched", enabled, toMain))
		wantServers(t, batch, 4, 3)
		wantServers(t, other, 2, 1)
	}
	f.guide(t, guideline(t, "switched", disabled, toMain))
	wantServers(t, tx, 3, 3)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	wantServers(t, held, 2, 1)
}

// TestDrained: sessions leave a server of their tier that is hidden or not to be used, for the next tier, and come back.
func (d *guidelineDatabases) TestDrained(t *testing.T) {
	document := guideline(t, "drained", to("batch", "$.session.user = 'batch'", "Remote", "Main"), toMain)
	f := d.newFleet(t, document)
	conn := f.session(t, login{user: "batch"})
	for _, fields := range []string{"tags: {_hidden: true}", "status: OFFLINE_SOFT", "weight: 0", "max_connections: 0"} {
		wantServers(t, conn, 4, 1)
		f.follow(t, f.server.publish(t, f.remoteIs(t, document, fields)))
		if got := number(t, conn, readQuery); got != 2 {
			t.Errorf("%s: a session reads from server %d, want 2", fields, got)
		}
		wantServers(t, f.session(t, login{user: "batch"}), 2, 1)
		f.guide(t, document)
	}
	wantServers(t, conn, 4, 1)
}

// TestMended: statements that wait for a server of their tier follow when a guideline gives them another one, or none is in
// force any more.
func (d *guidelineDatabases) TestMended(t *testing.T) {
	stuck := guideline(t, "stuck", to("one", "TRUE", "Remote"))
	f := d.newFleet(t, stuck)
	conn := f.session(t, login{})
	wantServer(t, conn, 4, readQuery)
	for _, mended := range []struct {
		name, document string
		reads          int
	}{
		{"another route", guideline(t, "mended", to("two", "TRUE", "Canary")), 3},
		{"the route is no more the session's", guideline(t, "mended", to("one", "NOT TRUE", "Remote"), to("two", "TRUE", "Canary")), 3},
		{"no guideline", "", 2},
	} {
		f.follow(t, f.server.publish(t, f.remoteIs(t, stuck, "weight: 0")))
		const queries = `pointsman_gateway_commands_total{command="query"}`
		before := f.gateway.metric(t, queries)
		answered := make(chan error, 1)
		go func() {
			server, refusal, lost := answer(t.Context(), conn, readQuery)
			switch {
			case refusal != nil:
				answered <- refusal
			case lost != nil:
				answered <- lost
			case server != int64(mended.reads):
				answered <- fmt.Errorf("answered by server %d, want %d", server, mended.reads)
			}
			close(answered)
		}()
		eventually(t, "the statement has come in", patience, func() (bool, string) {
			got := f.gateway.metric(t, queries)
			return got > before, fmt.Sprint(queries, " ", got)
		})
		f.server.publish(t, f.remoteIs(t, mended.document, "weight: 0"))
		if err := <-answered; err != nil {
			t.Errorf("%s: a statement that has waited: %v", mended.name, err)
		}
	}
}
