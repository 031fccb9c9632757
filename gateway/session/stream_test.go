package session

import (
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/pointsman/pointsman/gateway/mysql"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// TestStreamedMemory has 16 clients with a statement of 20 MB each: none of them may be in memory whole.
func TestStreamedMemory(t *testing.T) {
	f := startFake(t, "a")
	g := startGateway(t, gatewayOptions{servers: []*configv1.Server{server(writer, f.addr), server(reader, f.addr)}})
	const clients, size = 16, 20 << 20
	var all []*raw
	for range clients {
		r := g.dial(t, "app", "")
		r.exec(t, "DO 1")
		all = append(all, r)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var answered sync.WaitGroup
	for _, r := range all {
		r.sendLarge(mysql.ComQuery, []byte("INSERT INTO big VALUES ('"), 'x', size)
		answered.Go(func() {
			if p, err := r.tryRead(); err != nil || p[0] != 0 {
				t.Errorf("% x, %v", p, err)
			}
		})
	}
	answered.Wait()
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / clients; each > 8<<20 {
		t.Errorf("%d bytes were allocated for each statement of %d", each, size)
	}
}

func TestPreparedIsBounded(t *testing.T) {
	p := prepared{texts: maxPreparedTexts - 10, statements: map[uint32]*preparedStatement{}}
	if e := p.full(10); e != nil {
		t.Error(e)
	}
	if e := p.full(11); e == nil || e.Code != codeStatementLimit || !strings.Contains(e.Message, "67108854 bytes") {
		t.Error(e)
	}
	for id := range uint32(maxPrepared) {
		p.statements[id] = nil
	}
	if e := p.full(1); e == nil || !strings.Contains(e.Message, "max_prepared_stmt_count") {
		t.Error(e)
	}
}
