package session

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pointsman/pointsman/gateway/pool"
)

// outagePause is how long a server that could not be reached is left alone by draws of a hostgroup, if there are others.
// Without it each session would wait for it anew.
const outagePause = 2 * time.Second

// outages are the servers that could not be reached, by address.
type outages struct {
	mu sync.Mutex
	of map[string]outage
	n  atomic.Int32 // length of of, for a look at the usual case without the lock
}

type outage struct {
	until  time.Time   // the end of the pause
	target pool.Target // the login that failed
}

func (o *outages) init() { o.of = map[string]outage{} }

// begin notes a failed login. fresh: the server was not known to be out.
func (o *outages) begin(t pool.Target) (fresh bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, known := o.of[t.Addr]
	o.of[t.Addr] = outage{time.Now().Add(outagePause), t}
	o.n.Store(int32(len(o.of)))
	return !known
}

// end notes a connection that came about. known: the server was out before.
func (o *outages) end(addr string) (known bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, known = o.of[addr]
	delete(o.of, addr)
	o.n.Store(int32(len(o.of)))
	return known
}

// some tells whether some server may have to be left alone.
func (o *outages) some() bool { return o.n.Load() > 0 }

// paused tells whether a server is to be left alone by draws of a hostgroup.
func (o *outages) paused(addr string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	of, known := o.of[addr]
	return known && time.Now().Before(of.until)
}

// out tells whether no login to the server has come about since one failed.
func (o *outages) out(addr string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, known := o.of[addr]
	return known
}

// targets gives the logins that failed.
func (o *outages) targets() []pool.Target {
	o.mu.Lock()
	defer o.mu.Unlock()
	targets := make([]pool.Target, 0, len(o.of))
	for _, each := range o.of {
		targets = append(targets, each.target)
	}
	return targets
}

// probeInterval is how often WatchOutages looks after servers that are out.
const probeInterval = time.Second

// WatchOutages tries the logins that failed again while a routing guideline is in force, so that its sessions come back to
// a better tier without having to try it at the cost of a statement. It returns when ctx ends.
func (g *Gateway) WatchOutages(ctx context.Context) {
	ticker := time.NewTicker(probeInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if snap := g.Snapshots.Current(); snap == nil || snap.Guide() == nil {
			continue
		}
		var probes sync.WaitGroup
		for _, t := range g.outages.targets() {
			probes.Go(func() { g.probe(ctx, t) })
		}
		probes.Wait()
	}
}

// probe ends an outage when the server takes the login, or refuses it for a reason that other servers would have too, and
// when the configuration does not name the server any more.
func (g *Gateway) probe(ctx context.Context, t pool.Target) {
	if g.Snapshots.Current().Has(t.Addr) {
		_, err := pool.Probe(ctx, t)
		var dial *pool.DialError
		if ctx.Err() != nil || errors.As(err, &dial) && dial.TryElsewhere() {
			return
		}
	}
	if g.outages.end(t.Addr) {
		g.Log.Info("server reached again", "server", t.Addr)
	}
}
