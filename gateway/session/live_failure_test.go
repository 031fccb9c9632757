package session

import (
	"encoding/hex"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/gateway/mysql"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

func liveMaxConnections(t *testing.T, f *fleet) {
	t.Helper()
	servers := f.servers()
	servers[0].MaxConnections = proto.Int64(1)
	settings := &configv1.Settings{ConnectTimeoutServerMax: proto.Uint32(200), ConnectionQueueLength: proto.Uint32(1)}
	g := startGateway(t, gatewayOptions{servers: servers, maxConnections: 3, settings: settings})
	one, two := g.dial(t, "app", "shop"), g.connect(t, "app")
	one.exec(t, "BEGIN")
	two.expectError(t, whoWrite, 9001, "all 1 connections to its servers are in use, 0 statements wait")
	two.expect(t, whoRead, "2")
	one.exec(t, "COMMIT")
	two.expect(t, whoWrite, "1") // the other is idle and gives its connection back
	two.exec(t, "SET @x = 1")    // this is for good
	one.query(t, whoRead)
	g.dial(t, "app", "")
	if _, err := g.tryDial(t, "app", ""); err == nil || !strings.Contains(err.Error(), "1040") {
		t.Errorf("fourth client: %v", err)
	}
	if got := g.metric(t, "pool_waits_total"); got != 2 {
		t.Errorf("%v waits", got)
	}
}

func liveNewConfiguration(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	c := g.connect(t, "app")
	c.expect(t, whoRead, "2")
	offline := f.servers()
	offline[1].Status = new("OFFLINE_SOFT")
	offline = append(offline, server(reader, f.primary.Addr))
	g.push(t, &configv1.WatchGatewayConfigResponse{Generation: 2, Sequence: 2, Servers: &configv1.ServerList{Servers: offline}})
	eventually(t, "reads on the primary", func() bool { return c.value(t, whoRead) == "1" })
	// A user that is gone keeps its sessions and gets no new ones.
	g.push(t, &configv1.WatchGatewayConfigResponse{Generation: 3, Sequence: 3, Users: &configv1.UserList{}})
	eventually(t, "login refused", func() bool {
		_, err := g.tryDial(t, "app", "")
		return err != nil && strings.Contains(err.Error(), "1045")
	})
	questions := g.decider.count()
	c.expect(t, whoRead, "1")
	c.expect(t, "SELECT CONCAT('new ', @@server_id)", "new 1")
	if n := g.decider.count() - questions; n != 0 {
		t.Errorf("%d questions about statements of a user that is gone", n)
	}
}

func liveServerDies(t *testing.T, f *fleet) {
	t.Helper()
	settings := &configv1.Settings{ConnectRetriesOnFailure: proto.Uint32(3), ConnectTimeoutServerMax: proto.Uint32(5000)}
	servers := append(f.servers(), server(reader, f.primary.Addr))
	g := startGateway(t, gatewayOptions{servers: servers, settings: settings})
	onReader := func() *client {
		t.Helper()
		for range 1000 {
			c := g.connect(t, "app")
			if c.value(t, whoRead) == "2" {
				return c
			}
			_ = c.Close()
		}
		t.Fatal("never on the reader")
		return nil
	}
	// Sessions without state on the server that dies.
	idle := onReader()
	slow := g.dial(t, "app", "shop")
	for {
		slow.send(t, mysql.ComQuery, []byte("SELECT @@server_id")...)
		if rows := slow.readRows(t); string(rows[0][1:]) == "2" {
			break
		}
	}
	f.replica.Kill(t)
	idle.expect(t, whoRead, "1")
	if got := slow.query(t, whoRead); got != "1" {
		t.Errorf("on server %s", got)
	}
	for range 5 {
		g.connect(t, "app").expect(t, whoRead, "1")
	}
	f.replica.Restart(t)

	// A transaction on the server that dies: one clear error, and the end.
	open := g.dial(t, "app", "shop")
	open.exec(t, "BEGIN")
	pinned := g.dial(t, "app", "shop")
	pinned.exec(t, "SET @x = 1")
	free := g.dial(t, "app", "shop")
	free.exec(t, "DO 1")
	f.primary.Kill(t)
	open.send(t, mysql.ComQuery, []byte("INSERT INTO t (s) VALUES ('x')")...)
	if e := open.readError(t, 1158); e.State != "08S01" {
		t.Error(e)
	}
	open.expectEnd(t)
	pinned.send(t, mysql.ComQuery, []byte(whoRead)...)
	pinned.readError(t, 1158)
	pinned.expectEnd(t)
	// Without state on it the session goes on; writes have no server.
	free.send(t, mysql.ComQuery, []byte("DO 1")...)
	e := free.readError(t, 9001)
	if !strings.Contains(e.Message, "while reaching hostgroup 10") {
		t.Error(e)
	}
	if got := free.query(t, whoRead); got != "2" {
		t.Errorf("on server %s", got)
	}
	f.primary.Restart(t)
	free.exec(t, "DO 1")

	// A write that was sent and not answered is not sent again.
	write := g.dial(t, "app", "shop")
	f.primary.Exec(t, "CREATE TABLE IF NOT EXISTS shop.w (a INT)", "DELETE FROM shop.w")
	write.send(t, mysql.ComQuery, []byte("INSERT INTO w SELECT SLEEP(100)")...)
	g.awaitRunning(t, write)
	f.primary.Kill(t)
	write.readError(t, 1158)
	write.expectEnd(t)
	f.primary.Restart(t)
	if err := f.primary.DB.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestLiveReadIsSentAgain has a server that dies while a read of many rows waits for a lock; nothing has reached the client.
func TestLiveReadIsSentAgain(t *testing.T) {
	f := startFleet(t)
	servers := f.servers()
	servers[1].Weight = proto.Int64(10_000_000)
	g := startGateway(t, gatewayOptions{servers: append(servers, server(reader, f.primary.Addr))})
	for _, tt := range []struct {
		prepare []string
		query   string
		want    string // empty: an error
	}{
		{nil, "SELECT COUNT(*) + @@server_id FROM t", "1"},
		{[]string{"SELECT @x := 1"}, "SELECT COUNT(*) FROM t", ""},
	} {
		c := g.connect(t, "app")
		c.exec(t, tt.prepare...)
		on := f.replica
		if c.value(t, whoRead) == "1" {
			on = f.primary
		}
		locker, err := on.DB.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := locker.ExecContext(t.Context(), "LOCK TABLES shop.t WRITE"); err != nil {
			t.Fatal(err)
		}
		type result struct {
			value string
			err   error
		}
		done := make(chan result, 1)
		go func() {
			var r result
			r.err = c.QueryRowContext(t.Context(), tt.query).Scan(&r.value)
			done <- r
		}()
		eventually(t, "read waits", func() bool {
			var n int
			err := locker.QueryRowContext(t.Context(),
				"SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'app' AND state LIKE 'Waiting for table%'").Scan(&n)
			return err == nil && n == 1
		})
		on.Kill(t)
		_ = locker.Close()
		r := <-done
		if (r.err == nil) != (tt.want != "") || r.value != tt.want {
			t.Errorf("%s: %s, %v", tt.query, r.value, r.err)
		}
		on.Restart(t)
	}
	if n := g.metric(t, "retries_total"); n != 1 {
		t.Errorf("%v retries", n)
	}
}

func TestLiveHashedPassword(t *testing.T) {
	f := startFleet(t)
	hash := "*" + strings.ToUpper(hex.EncodeToString(sha1sha1("secret")))
	g := startGateway(t, gatewayOptions{servers: f.servers(), users: []*configv1.User{
		{Username: "app", Password: new(hash), DefaultHostgroup: writer},
		{Username: "alias", Password: new("secret"), DefaultHostgroup: writer, BackendUsername: "app", BackendPassword: new("secret"), DefaultSchema: "other"},
	}})
	g.connect(t, "app").expect(t, "SELECT CURRENT_USER()", "app@127.0.0.1")
	r := g.dial(t, "alias", "")
	if got := r.query(t, "SELECT CONCAT(CURRENT_USER(), DATABASE())"); got != "app@127.0.0.1other" {
		t.Error(got)
	}
}
