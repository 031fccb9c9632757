package session

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// liveMirror sends INSERTs to the writer and copies of them to the reader.
func liveMirror(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{
		servers: f.servers(), settings: &configv1.Settings{MirrorMaxConcurrency: proto.Uint32(2)},
		answer: func(text string, req *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse {
			a := split(text, req)
			if strings.HasPrefix(text, "INSERT") || text == "BEGIN" {
				a.Mirror = &decisionv1.Mirror{DestinationHostgroup: reader}
			}
			switch {
			case strings.Contains(text, "old"):
				a.RewrittenText = new(strings.Replace(text, "old", "new", 1))
			case strings.Contains(text, "answered"):
				a.Mirror.DestinationHostgroup = -1
			}
			return a
		},
	})
	c := g.connect(t, "app")
	c.exec(t, "SET sql_mode = 'ANSI_QUOTES'", "BEGIN") // neither is carried over
	c.exec(t, "INSERT INTO t (s) VALUES ('old')", "INSERT INTO t (s) VALUES ('answered')", "ROLLBACK")
	c.exec(t, `INSERT INTO t (s) VALUES ('second')`)
	eventually(t, "the copies are done", func() bool { return g.Mirror.Sent() == 3 })
	c.expect(t, "SELECT GROUP_CONCAT(s ORDER BY s) FROM t", "new,second")
	c.expect(t, "SELECT GROUP_CONCAT(s ORDER BY s) FROM t FOR UPDATE", "second")

	g.connect(t, "loose").exec(t, "INSERT INTO t (s) VALUES ('other user')")
	f.replica.Exec(t, "RENAME TABLE shop.t TO shop.hidden")
	defer f.replica.Exec(t, "RENAME TABLE shop.hidden TO shop.t")
	eventually(t, "the copy is done", func() bool { return g.Mirror.Sent()+g.Mirror.Failed() == 4 })
	failed := g.Mirror.Failed()
	c.exec(t, "INSERT INTO t (s) VALUES ('fails there only')")
	eventually(t, "the copy has failed", func() bool { return g.Mirror.Failed() == failed+1 })
}
