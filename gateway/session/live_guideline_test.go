package session

import (
	"strings"
	"testing"

	"github.com/pointsman/pointsman/gateway/mysql"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// liveGuideline has the replica near the gateway and the primary far away, and a listener without a split.
func liveGuideline(t *testing.T, f *fleet) {
	t.Helper()
	v := newService(t, tieredDocument)
	servers := []*configv1.Server{tagged(server(writer, f.primary.Addr), "far"), tagged(server(reader, f.replica.Addr), "near")}
	whole := func(document string) *configv1.GuidelinePart {
		p := part(document)
		p.Binding.DefaultMode = new("rw")
		return p
	}
	v.publish(guideWith(t, whole(tieredDocument))) // generation 2
	g := startGateway(t, gatewayOptions{servers: servers, answer: v.answer, guideline: whole(tieredDocument)})
	g.push(t, &configv1.WatchGatewayConfigResponse{Generation: 2, Sequence: 2})
	eventually(t, "generation 2", func() bool { return g.Snapshots.Current().Generation == 2 })

	// A tier goes and comes back.
	c := g.connect(t, "app")
	c.expect(t, whoRead, "2")
	c.expect(t, whoWrite, "2")
	c.exec(t, "SET sql_mode = 'ANSI'", "USE other")
	f.replica.Kill(t)
	c.expect(t, whoRead, "1")
	c.expect(t, "SELECT CONCAT(DATABASE(), @@sql_mode LIKE '%ANSI%', @@server_id)", "other11")
	f.replica.Restart(t)
	eventually(t, "back in the first tier", func() bool { return c.value(t, whoRead) == "2" })

	// Another guideline: statements follow, transactions stay, prepared statements are prepared anew.
	open, prepared := g.connect(t, "app"), g.dial(t, "app", "shop")
	open.exec(t, "BEGIN")
	open.expect(t, whoRead, "2")
	id := prepared.prepare(t, "SELECT @@server_id")
	execute := func(want byte) {
		t.Helper()
		prepared.send(t, mysql.ComStmtExecute, executeArg(id, 0)...)
		rows := prepared.readRows(t)
		if len(rows) != 1 || rows[0][2] != want {
			t.Errorf("prepared statement at % x, want server %d", rows, want)
		}
	}
	execute(2)
	v.publish(guideWith(t, whole(flippedDocument)))
	g.push(t, &configv1.WatchGatewayConfigResponse{Generation: 3, Sequence: 3, Guideline: whole(flippedDocument)})
	eventually(t, "generation 3", func() bool { return g.Snapshots.Current().Generation == 3 })
	c.expect(t, whoRead, "1")
	execute(1)
	open.expect(t, whoRead, "2")
	open.exec(t, "COMMIT")
	open.expect(t, whoRead, "1")

	// A pinned session stays where its state is.
	pinned := g.connect(t, "app")
	pinned.exec(t, "SET @x = 7")
	pinned.expect(t, "SELECT CONCAT(@x, @@server_id)", "71")
	v.publish(guideWith(t, whole(tieredDocument)))
	g.push(t, &configv1.WatchGatewayConfigResponse{Generation: 4, Sequence: 4, Guideline: whole(tieredDocument)})
	eventually(t, "generation 4", func() bool { return g.Snapshots.Current().Generation == 4 })
	pinned.expect(t, "SELECT CONCAT(@x, @@server_id)", "71")
	c.expect(t, whoRead, "2")

	// Long data of a session that has no route any more is not sent: its EXECUTE tells why, and the session goes on.
	insert := prepared.prepare(t, "INSERT INTO t (s) VALUES (?)")
	long := func() {
		prepared.send(t, mysql.ComStmtSendLongData, append(id32(insert), 0, 0, 'x')...)
		prepared.send(t, mysql.ComStmtExecute, executeArg(insert, 0, 0, 1, 252, 0)...)
	}
	nobody := strings.ReplaceAll(tieredDocument, "'app'", "'nobody'")
	v.publish(guideWith(t, whole(nobody)))
	g.push(t, &configv1.WatchGatewayConfigResponse{Generation: 5, Sequence: 5, Guideline: whole(nobody)})
	eventually(t, "generation 5", func() bool { return g.Snapshots.Current().Generation == 5 })
	long()
	prepared.readError(t, 1148)
	long()
	prepared.send(t, mysql.ComStmtReset, id32(insert)...)
	prepared.readError(t, 1148)
	prepared.readOK(t)
	v.publish(guideWith(t, whole(tieredDocument)))
	g.push(t, &configv1.WatchGatewayConfigResponse{Generation: 6, Sequence: 6, Guideline: whole(tieredDocument)})
	eventually(t, "generation 6", func() bool { return g.Snapshots.Current().Generation == 6 })
	long()
	prepared.readOK(t)

	// A route for one program.
	batch := connect(t, g.open(t, "app", "connectionAttributes=program_name:batch&interpolateParams=true"))
	batch.expect(t, whoRead, "1")
	if got := g.choices(t); !strings.Contains(got, `mode="all" route="batch"`) {
		t.Errorf("metrics: %s", got)
	}
}
