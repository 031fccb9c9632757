package session

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/gateway/mysql"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

func liveReset(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers(), answer: func(text string, req *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse {
		a := split(text, req)
		if strings.Contains(text, "flag") {
			a.NextQueryFlagIn = proto.Int32(5)
		}
		return a
	}})
	r := g.dial(t, "app", "shop")
	r.exec(t, "SET sql_mode='ANSI'")
	r.exec(t, "SET autocommit=0")
	r.exec(t, "INSERT INTO t (s) VALUES ('x')")
	r.exec(t, "SET @x = 1")
	r.send(t, mysql.ComInitDB, []byte("other")...)
	r.readOK(t)
	r.query(t, "SELECT GET_LOCK('reset', 0) AS flag")
	id := r.prepare(t, "SELECT 1")
	if g.decider.last(t, "SELECT 1").GetSession().GetNextQueryFlagIn() != 5 {
		t.Error("flag not kept")
	}
	r.send(t, mysql.ComResetConnection)
	if status := r.readOK(t); status != mysql.StatusAutocommit {
		t.Errorf("status %#x", status)
	}
	// What the server held is free once the answer is there.
	if got := r.query(t, "SELECT IS_FREE_LOCK('reset') FOR UPDATE"); got != "1" {
		t.Errorf("lock is held: %s", got)
	}
	if got := r.query(t, whoRead); got != "2" {
		t.Errorf("on server %s", got)
	}
	for _, lock := range []string{"", " FOR UPDATE"} {
		if got := r.query(t, "SELECT CONCAT_WS(',', DATABASE(), @x, @@autocommit, @@sql_mode LIKE '%ANSI%', (SELECT COUNT(*) FROM shop.t))"+lock); got != "other,ON,0,0" {
			t.Errorf("state %s", got)
		}
	}
	if g.decider.last(t, whoRead).Session.NextQueryFlagIn != nil {
		t.Error("flag survives")
	}
	r.send(t, mysql.ComStmtExecute, executeArg(id, 0)...)
	r.readError(t, 1243)
	// Changes are still followed.
	r.exec(t, "SET sql_mode='ANSI'")
	for _, lock := range []string{"", " FOR UPDATE"} {
		if got := r.query(t, "SELECT @@sql_mode LIKE '%ANSI%'"+lock); got != "1" {
			t.Errorf("sql_mode is not followed")
		}
	}
}

func liveChangeUser(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	r := g.dial(t, "app", "shop")
	r.exec(t, "SET @x = 1")
	r.exec(t, "SET sql_mode = 'ANSI'")
	r.exec(t, "BEGIN")
	r.exec(t, "INSERT INTO t (s) VALUES ('x')")
	id := r.prepare(t, "SELECT 1")
	r.changeUser(t, "loose", "secret", "other", "")
	r.readOK(t)
	for _, lock := range []string{"", " FOR UPDATE"} {
		query := "SELECT CONCAT_WS(',', CURRENT_USER(), DATABASE(), COALESCE(@x, 'none'), @@sql_mode LIKE '%ANSI%', @@server_id)" + lock
		want := "loose@127.0.0.1,other,none,0,2"
		if lock != "" {
			want = "loose@127.0.0.1,other,none,0,1"
		}
		if got := r.query(t, query); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if g.decider.last(t, query).GetSession().GetUsername() != "loose" {
			t.Error("rules look at another user")
		}
	}
	r.send(t, mysql.ComStmtExecute, executeArg(id, 0)...)
	r.readError(t, 1243)
	if got := g.connect(t, "app").value(t, "SELECT COUNT(*) FROM t FOR UPDATE"); got != "0" {
		t.Errorf("%s rows: the transaction was not rolled back", got)
	}
	r.changeUser(t, "few", "secret", "", "")
	r.readOK(t)
	second := g.dial(t, "app", "")
	second.changeUser(t, "few", "secret", "", "") // has one place only
	second.readError(t, 1203)
	second.expectEnd(t)
	r.changeUser(t, "few", "secret", "", "") // its own place is free for itself
	r.readOK(t)
	r.changeUser(t, "app", "wrong", "other", "")
	if e := r.readError(t, 1045); !strings.Contains(e.Message, "'app'@'127.0.0.1' (using password: YES)") {
		t.Error(e)
	}
	r.expectEnd(t)
	eventually(t, "places given back", func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.perUser["few"] == 0 && g.perUser["loose"] == 0
	})

	one := g.dial(t, "few", "shop")
	if _, err := g.tryDial(t, "few", ""); err == nil || !strings.Contains(err.Error(), "1203") {
		t.Errorf("second session of a user with one: %v", err)
	}
	_, _ = one.nc.Write([]byte{1, 0, 0, 0, mysql.ComQuit})
	one.expectEnd(t)
	var two *raw
	eventually(t, "place is free again", func() bool {
		var err error
		two, err = g.tryDial(t, "few", "")
		return err == nil
	})
	_ = two.nc.Close()
	if _, err := g.tryDial(t, "nopassword", ""); err == nil || !strings.Contains(err.Error(), "1045") {
		t.Errorf("user without a password: %v", err)
	}
}

func liveSetOption(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	r := g.dial(t, "app", "shop")
	r.query(t, whoRead)
	r.send(t, mysql.ComSetOption, 1, 0) // multi-statements off
	if p := r.read(t); p[0] != 0xfe {
		t.Fatalf("% x", p)
	}
	for range 2 {
		r.send(t, mysql.ComQuery, []byte("DO 1; DO 2")...) // on the primary, which has not seen the option
		r.readError(t, 1064)
	}
}

func liveKill(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	victim := g.dial(t, "app", "shop")
	c := g.connect(t, "app")
	running := func() {
		t.Helper()
		eventually(t, "statement runs", func() bool {
			var n int
			err := f.replica.DB.QueryRowContext(t.Context(),
				"SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%' AND user = 'app'").Scan(&n)
			return err == nil && n == 1
		})
	}
	victim.send(t, mysql.ComQuery, []byte("SELECT SLEEP(100)")...)
	running()
	c.exec(t, "KILL QUERY "+strconv.Itoa(int(victim.ThreadID)))
	for {
		p := victim.read(t)
		if p[0] == 0xff {
			if e := mysql.ParseError(p); e.Code != 1317 {
				t.Error(e)
			}
			break
		}
	}
	if got := victim.query(t, whoRead); got != "2" {
		t.Errorf("on server %s", got)
	}
	c.expectError(t, "KILL QUERY 999999", 1094, "999999")
	victim.send(t, mysql.ComQuery, []byte("SELECT SLEEP(100)")...)
	running()
	c.exec(t, "/* now */ kill hard /* or */ query "+strconv.Itoa(int(victim.ThreadID))+" ; # gone")
	for {
		if p := victim.read(t); p[0] == 0xff {
			break
		}
	}
	g.connect(t, "loose").expectError(t, "KILL "+strconv.Itoa(int(victim.ThreadID)), 1095, "owner")
	victim.send(t, mysql.ComQuery, []byte("SELECT SLEEP(100)")...)
	running()
	killer := g.dial(t, "app", "")
	killer.send(t, mysql.ComProcessKill, id32(victim.ThreadID)...)
	killer.readOK(t)
	for {
		if _, err := victim.tryRead(); err != nil {
			break
		}
	}
	killer.send(t, mysql.ComProcessKill, id32(victim.ThreadID+1000)...)
	killer.readError(t, 1094)
}

func liveTimeout(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers(), answer: func(text string, req *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse {
		a := split(text, req)
		if strings.Contains(text, "SLEEP") {
			a.TimeoutMs = proto.Uint32(100)
		}
		return a
	}})
	c := g.connect(t, "app")
	c.expectError(t, "SELECT SLEEP(100)", 1907, "query_timeout exceeded")
	c.expect(t, whoRead, "2")
	c.exec(t, "BEGIN")
	c.expectError(t, "SELECT SLEEP(100)", 1907, "query_timeout exceeded")
	c.expect(t, whoRead, "1") // the transaction goes on
	c.exec(t, "COMMIT")
	p := connect(t, g.open(t, "app", ""))
	var n int
	if err := p.QueryRowContext(t.Context(), "SELECT SLEEP(?)", 100).Scan(&n); err == nil || !strings.Contains(err.Error(), "1907") {
		t.Errorf("prepared: %v", err)
	}
}

func liveEffects(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers(), answer: func(text string, req *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse {
		a := split(text, req)
		switch {
		case strings.Contains(text, "both"):
			a.OkMsg, a.ErrorMsg = new("fine"), new("no")
		case strings.Contains(text, "refused"):
			a.DestinationHostgroup, a.ErrorMsg = nil, new("not today")
		case strings.Contains(text, "delayed"):
			a.DelayMs = proto.Uint32(30)
		case strings.Contains(text, "flagged"):
			a.NextQueryFlagIn = proto.Int32(7)
		case strings.Contains(text, "logged"):
			a.Log = new(true)
		case strings.Contains(text, "lost"):
			a.DestinationHostgroup = proto.Int32(99)
		case strings.Contains(text, "mirrored"):
			a.MirrorHostgroup, a.Mirror, a.GtidFromHostgroup = proto.Int32(3), &decisionv1.Mirror{DestinationHostgroup: 3}, proto.Int32(1)
		}
		return a
	}})
	c := g.connect(t, "app")
	c.exec(t, "DELETE both")
	c.expectError(t, "SELECT 'refused'", 1148, "not today")
	c.expect(t, "SELECT 'delayed'", "delayed")
	c.expect(t, "SELECT 'flagged'", "flagged")
	c.expect(t, "SELECT 'logged'", "logged")
	if g.decider.last(t, "SELECT 'logged'").GetSession().GetNextQueryFlagIn() != 7 {
		t.Error("flag not sent")
	}
	if !strings.Contains(g.log.String(), "msg=statement") {
		t.Error("statement not logged")
	}
	c.expectError(t, "SELECT 'lost'", 9001, "Hostgroup 99 has no servers")
	c.expect(t, "SELECT 'mirrored'", "mirrored")
	if n := g.metric(t, "unsupported_effects_total"); n != 1 {
		t.Errorf("%v unsupported effects", n)
	}
	if g.Mirror.Failed() != 1 || !strings.Contains(g.log.String(), "hostgroup 3 has no servers") {
		t.Error("a copy that can't be sent is not counted")
	}
	r := g.dial(t, "app", "shop")
	r.send(t, mysql.ComStmtPrepare, []byte("SELECT 'refused'")...)
	r.readError(t, 1148)
	id := r.prepare(t, "SELECT 'both'") // a PREPARE can't be answered by a plain OK
	r.send(t, mysql.ComStmtExecute, executeArg(id, 0)...)
	if p := r.read(t); p[0] != 0 || !bytes.HasSuffix(p, []byte("fine")) {
		t.Errorf("%q", p)
	}
}

func liveRewrite(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers(), answer: func(text string, req *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse {
		a := split(text, req)
		switch {
		case req.GetStatement().GetCommand() == decisionv1.Command_COMMAND_EXECUTE:
		case strings.HasPrefix(text, "SELECT old"):
			a.RewrittenText = new(strings.Replace(text, "old", "'new'", 1))
		case text == "REMEMBER":
			a.RewrittenText = new("SET @x = 4")
		case text == "BYTES":
			a.RawRewrittenText = []byte("SET @y = '\xff'")
		}
		return a
	}})
	c := g.connect(t, "app")
	c.expect(t, "SELECT old", "new")
	p := connect(t, g.open(t, "app", ""))
	var got string
	for range 2 {
		if err := p.QueryRowContext(t.Context(), "SELECT old WHERE 1 = ?", 1).Scan(&got); err != nil || got != "new" {
			t.Errorf("prepared: %s, %v", got, err)
		}
	}
	c.exec(t, "REMEMBER")
	c.expect(t, "SELECT @x", "4") // pinned by what was sent
	c.exec(t, "BYTES")
	c.expect(t, "SELECT HEX(@y)", "FF")
}
