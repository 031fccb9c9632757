package session

import (
	"net"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/gateway/mysql"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// TestWaitTimeout ends clients that idle, with or without a transaction, and none whose statement runs.
func TestWaitTimeout(t *testing.T) {
	f := startFake(t, "a")
	g := startGateway(t, gatewayOptions{servers: []*configv1.Server{server(writer, f.addr)}, settings: &configv1.Settings{WaitTimeout: proto.Uint32(100)}})
	busy := g.dial(t, "app", "shop")
	busy.send(t, mysql.ComQuery, []byte("HANG")...)
	idle, open := g.dial(t, "app", "shop"), g.dial(t, "app", "shop")
	open.send(t, mysql.ComQuery, []byte("BEGIN")...)
	open.readOK(t)
	for _, r := range []*raw{idle, open} {
		if e := r.readError(t, 4031); e.State != "HY000" {
			t.Error(e)
		}
		r.expectEnd(t)
	}
	eventually(t, "the other goes on", func() bool {
		list := g.List(Filter{})
		return len(list) == 1 && list[0].State == "running" && list[0].ID == busy.ThreadID
	})
	if n := g.metric(t, "disconnects_total"); n != 2 {
		t.Errorf("%v disconnects", n)
	}
}

// TestPingWhileLeaving has a gateway that is about to end.
func TestPingWhileLeaving(t *testing.T) {
	f := startFake(t, "a")
	g := startGateway(t, gatewayOptions{servers: []*configv1.Server{server(writer, f.addr)}})
	free, open := g.dial(t, "app", "shop"), g.dial(t, "app", "shop")
	open.exec(t, "BEGIN")
	g.Leave()
	free.exec(t, "DO 1") // is served
	open.send(t, mysql.ComPing)
	open.readOK(t)
	free.send(t, mysql.ComPing)
	if e := free.readError(t, 1053); e.State != "08S01" {
		t.Error(e)
	}
	free.expectEnd(t)
	open.exec(t, "COMMIT")
	open.send(t, mysql.ComPing)
	open.readError(t, 1053)
	open.expectEnd(t)
}

// TestHalfClosed has clients, or proxies before them, that send their last command and the end of their stream together.
func TestHalfClosed(t *testing.T) {
	f := startFake(t, "a")
	g := startGateway(t, gatewayOptions{servers: []*configv1.Server{server(writer, f.addr)}})
	clients := make([]*raw, 50)
	for i := range clients {
		clients[i] = g.dial(t, "app", "shop")
	}
	for _, r := range clients {
		r.send(t, mysql.ComPing)
		if err := r.Conn.NetConn().(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range clients {
		r.readOK(t)
		r.expectEnd(t)
	}
}
