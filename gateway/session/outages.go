package session

import (
	"sync"
	"time"
)

// outagePause is how long a server that could not be reached is left alone, if there are others. Without it each
// session would wait for it anew.
const outagePause = 2 * time.Second

// outages are the servers that could not be reached just now, by address.
type outages struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (o *outages) init() { o.until = map[string]time.Time{} }

// begin notes a failed connection. fresh: the server was not known to be out.
func (o *outages) begin(addr string) (fresh bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, known := o.until[addr]
	o.until[addr] = time.Now().Add(outagePause)
	return !known
}

// end notes a connection that came about.
func (o *outages) end(addr string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.until, addr)
}

// some tells whether some server may have to be left alone.
func (o *outages) some() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.until) > 0
}

// last tells whether a server is to be left alone.
func (o *outages) last(addr string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	until, known := o.until[addr]
	return known && time.Now().Before(until)
}
