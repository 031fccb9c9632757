package session

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/gateway/mysql"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// sendLarge sends a command with so many bytes after it as packets, in another goroutine: the answer may come first. What it
// returns is closed once all is sent.
func (r *raw) sendLarge(code byte, arg []byte, repeated byte, more int) <-chan struct{} {
	payload := io.MultiReader(bytes.NewReader([]byte{code}), bytes.NewReader(arg), &endless{repeated})
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for seq, left := 0, 1+len(arg)+more; ; seq++ {
			n := min(left, mysql.MaxFragment)
			left -= n
			if _, err := r.nc.Write([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(seq)}); err != nil {
				return // the test sees it when it reads
			}
			if _, err := io.CopyN(r.nc, payload, int64(n)); err != nil || n < mysql.MaxFragment {
				return
			}
		}
	}()
	return sent
}

// endless gives one byte again and again.
type endless struct{ b byte }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.b
	}
	return len(p), nil
}

// liveStreamed has statements that are larger than what they are decided by.
func liveStreamed(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers(), answer: func(text string, req *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse {
		a := split(text, req)
		if strings.HasPrefix(text, "OLD") && req.GetStatement().GetCommand() != decisionv1.Command_COMMAND_EXECUTE {
			a.RewrittenText = new("SELECT" + text[3:])
		}
		if len(text) > 1<<20 && !strings.HasPrefix(text, "OLD") {
			t.Errorf("asked about a text of %d bytes", len(text))
		}
		return a
	}})
	r := g.dial(t, "app", "shop")
	one := func() string {
		t.Helper()
		rows := r.readRows(t)
		return string(rows[0][1 : 1+rows[0][0]])
	}
	check := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, size := range []int{1<<20 - 7, 1<<20 - 1, 1 << 20, 2 << 20, 40 << 20} {
		text := fmt.Sprintf("SELECT CONCAT(@@server_id, ':', LENGTH('%s'))", strings.Repeat("x", size))
		r.sendLarge(mysql.ComQuery, []byte(text), 0, 0)
		check(one(), fmt.Sprintf("2:%d", size))
	}
	if a := g.decider.last(t, "SELECT CONCAT(@@server_id, ':', LENGTH('"+strings.Repeat("x", 1<<20-40)); a == nil {
		t.Error("not asked about the beginning")
	}

	// A rule that rewrites needs the whole text.
	large := "OLD LENGTH('" + strings.Repeat("x", 3<<20) + "')"
	r.sendLarge(mysql.ComQuery, []byte(large), 0, 0)
	check(one(), strconv.Itoa(3<<20))
	r.sendLarge(mysql.ComStmtPrepare, []byte(large), 0, 0)
	r.readPrepared(t)

	// Servers say what is too large for them, and the gateway does where it would have to keep the text.
	for _, tt := range []struct{ begin, want string }{{"SELECT '", "max_allowed_packet"}, {"OLD '", "the gateway's limit"}} {
		c := g.dial(t, "app", "shop")
		c.sendLarge(mysql.ComQuery, []byte(tt.begin), 'z', 100<<20)
		if e := c.readError(t, 1153); !strings.Contains(e.Message, tt.want) {
			t.Error(e)
		}
		c.expectEnd(t)
	}
	if n := g.metric(t, "retries_total"); n != 0 {
		t.Errorf("%v retries", n)
	}
}

// readPrepared reads the answer to a PREPARE and gives the id.
func (r *raw) readPrepared(t *testing.T) uint32 {
	t.Helper()
	p := r.read(t)
	if p[0] != 0 {
		t.Fatalf("not prepared: %v", mysql.ParseError(p))
	}
	for _, n := range []int{int(p[7]), int(p[5])} {
		for range n {
			r.read(t)
		}
		if n > 0 {
			r.read(t) // EOF
		}
	}
	return uint32(p[1]) | uint32(p[2])<<8
}

// liveStreamedPrepared has large texts, values and long data of prepared statements.
func liveStreamedPrepared(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers()})
	r := g.dial(t, "app", "shop")
	const size = 17 << 20
	value := func(rows [][]byte) string { return string(rows[0][3:]) } // 0, bitmap of NULLs, length
	check := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}

	// A text that is remembered by its beginning only stays where it was prepared.
	r.sendLarge(mysql.ComStmtPrepare, []byte("SELECT CONCAT(@@server_id, ':', LENGTH('"+strings.Repeat("x", size)+"'))"), 0, 0)
	id := r.readPrepared(t)
	execute := func(id uint32, rest ...byte) { r.send(t, mysql.ComStmtExecute, executeArg(id, 0, rest...)...) }
	want := fmt.Sprintf("2:%d", size)
	execute(id)
	check(value(r.readRows(t)), want)
	r.exec(t, "BEGIN")
	execute(id)
	if e := r.readError(t, 1243); !strings.Contains(e.Message, "more than 1048576 bytes") {
		t.Error(e)
	}
	r.exec(t, "COMMIT")
	execute(id)
	check(value(r.readRows(t)), want)
	r.send(t, mysql.ComStmtClose, id32(id)...)
	execute(id)
	r.readError(t, 1243)

	// Values, with and without the types before them, also on a server that has not got the types.
	id = r.prepare(t, "SELECT CONCAT(@@server_id, ':', LENGTH(?))")
	length := []byte{0xfe, 0, 0, 0x10, 1, 0, 0, 0, 0} // 17 MiB
	for _, tt := range []struct {
		begin, want string
		bound       []byte
	}{
		{"DO 1", "2", []byte{0, 1, 252, 0}},
		{"DO 1", "2", []byte{0, 0}},
		{"BEGIN", "1", []byte{0, 0}},
		{"COMMIT", "2", []byte{0, 0}},
	} {
		r.exec(t, tt.begin)
		r.sendLarge(mysql.ComStmtExecute, append(executeArg(id, 0, tt.bound...), length...), 'v', size)
		check(value(r.readRows(t)), fmt.Sprintf("%s:%d", tt.want, size))
	}

	// Long data in one packet, and what is too much of it.
	<-r.sendLarge(mysql.ComStmtSendLongData, append(id32(id), 0, 0), 'l', 3<<20)
	execute(id, 0, 1, 252, 0)
	check(value(r.readRows(t)), fmt.Sprintf("2:%d", 3<<20))
	c := g.dial(t, "app", "shop")
	id = c.prepare(t, "SELECT LENGTH(?)")
	<-c.sendLarge(mysql.ComStmtSendLongData, append(id32(id), 0, 0), 'l', 100<<20)
	c.send(t, mysql.ComStmtExecute, executeArg(id, 0, 0, 1, 252, 0)...)
	if p := c.read(t); p[0] != 0xff {
		t.Errorf("% x", p[:min(len(p), 20)])
	}
}
