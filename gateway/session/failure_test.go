package session

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pointsman/pointsman/gateway/mysql"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// errGone ends a fake server's connection.
var errGone = errors.New("gone")

// TestServerLost has two servers, of which the first that gets a statement hangs up: instead of an answer, or in its middle. Only a
// plain read is sent again, and nothing twice that may have been done.
func TestServerLost(t *testing.T) {
	amid := func(nc net.Conn) error { // the head of a result, one row, and a part of the next
		_, err := nc.Write([]byte{
			1, 0, 0, 1, 1,
			23, 0, 0, 2, 3, 'd', 'e', 'f', 0, 0, 0, 1, 'a', 0, 12, 45, 0, 9, 0, 0, 0, 253, 0, 0, 0, 0, 0,
			5, 0, 0, 3, 0xfe, 0, 0, 2, 0,
			2, 0, 0, 4, 1, 'x',
			9, 0, 0, 5, 8, 'y',
		})
		return errors.Join(err, errGone)
	}
	for _, tt := range []struct {
		name   string
		before []string
		text   string
		amid   bool
		times  int    // that servers get it
		want   string // answer; empty: error 1158 and the end
	}{
		{name: "read", text: "SELECT 1", times: 2, want: "a server"},
		{name: "read in a transaction", before: []string{"BEGIN"}, text: "SELECT 1", times: 1},
		{name: "read of a held session", before: []string{"SET @x = 1"}, text: "SELECT 1", times: 1},
		{name: "locking read", text: "SELECT 1 FOR UPDATE", times: 1},
		{name: "write", text: "INSERT INTO t VALUES (1)", times: 1},
		{name: "commit", before: []string{"BEGIN", "INSERT INTO t VALUES (1)"}, text: "COMMIT", times: 1},
		{name: "procedure", text: "CALL p()", times: 1},
		{name: "several statements", text: "SELECT 1; SELECT 2", times: 1},
		{name: "middle of a result", text: "SELECT 1", amid: true, times: 1, want: "cut"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var lost atomic.Bool
			on := func(nc net.Conn, _ *mysql.Conn, text string) (bool, error) {
				if text != tt.text || lost.Swap(true) {
					return false, nil
				}
				if tt.amid {
					return true, amid(nc)
				}
				return true, errGone
			}
			var servers []*fakeServer
			var rows []*configv1.Server
			for range 2 {
				f := startFakeWith(t, &fakeServer{name: "a server", on: on})
				servers = append(servers, f)
				rows = append(rows, server(writer, f.addr), server(reader, f.addr))
			}
			g := startGateway(t, gatewayOptions{servers: rows})
			r := g.dial(t, "app", "shop")
			for _, text := range tt.before {
				r.exec(t, text)
			}
			r.send(t, mysql.ComQuery, []byte(tt.text)...)
			switch tt.want {
			case "":
				if e := r.readError(t, 1158); e.State != "08S01" {
					t.Error(e)
				}
				r.expectEnd(t)
			case "cut":
				rest, err := io.ReadAll(r.nc)
				if err != nil || strings.Contains(string(rest), "#08S01") || !strings.Contains(string(rest), "x") {
					t.Errorf("%q, %v", rest, err)
				}
			default:
				if rows := r.readRows(t); len(rows) != 1 || string(rows[0][1:]) != tt.want {
					t.Errorf("%q", rows)
				}
			}
			if n := servers[0].count(tt.text) + servers[1].count(tt.text); n != tt.times {
				t.Errorf("servers got it %d times, want %d", n, tt.times)
			}
		})
	}
}

// TestReadOnlyErrorPasses has a server that refuses writes: the client is told so, and the session goes on.
func TestReadOnlyErrorPasses(t *testing.T) {
	f := startFakeWith(t, &fakeServer{name: "a", on: func(_ net.Conn, c *mysql.Conn, text string) (bool, error) {
		if text != "INSERT" {
			return false, nil
		}
		return true, c.WriteError(mysql.NewError(1290, "HY000", "The MariaDB server is running with the --read-only option so it cannot execute this statement"))
	}})
	g := startGateway(t, gatewayOptions{servers: []*configv1.Server{server(writer, f.addr)}})
	r := g.dial(t, "app", "shop")
	for range 2 {
		r.send(t, mysql.ComQuery, []byte("INSERT")...)
		if e := r.readError(t, 1290); e.State != "HY000" || !strings.Contains(e.Message, "--read-only") {
			t.Error(e)
		}
	}
	if n := f.count("INSERT"); n != 2 {
		t.Errorf("sent %d times", n)
	}
	if n := g.metric(t, "errors_total"); n != 0 {
		t.Errorf("%v errors of the gateway's", n)
	}
	r.exec(t, "DO 1")
}

// TestHeldServerDiesWhileIdle tells the client at its next statement, not with a statement on a server that lacks its state.
func TestHeldServerDiesWhileIdle(t *testing.T) {
	f, other := startFake(t, "a"), startFake(t, "b")
	g := startGateway(t, gatewayOptions{servers: []*configv1.Server{server(writer, f.addr), server(reader, other.addr)}})
	open, free := g.dial(t, "app", "shop"), g.dial(t, "app", "shop")
	open.exec(t, "BEGIN")
	free.exec(t, "DO 1")
	f.stop()
	open.send(t, mysql.ComQuery, []byte("SELECT 1")...)
	open.readError(t, 1158)
	open.expectEnd(t)
	if n := other.count("SELECT 1"); n != 0 {
		t.Errorf("sent to another server %d times", n)
	}
	if got := free.query(t, "SELECT 1"); got != "b" {
		t.Errorf("answered by %s", got)
	}
	if n := len(g.List(Filter{State: "in transaction"})); n != 0 {
		t.Errorf("%d sessions in a transaction", n)
	}
}
