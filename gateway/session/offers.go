package session

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pointsman/pointsman/decision/selection"
	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/pool"
	"github.com/pointsman/pointsman/gateway/snapshot"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

const (
	// getToKnowInterval is how often WatchServers looks for servers that nothing is known of.
	getToKnowInterval = time.Second
	// getToKnowPause is how long a server is left alone that could not be asked.
	getToKnowPause = 30 * time.Second
	// getToKnowAtOnce is how many servers are asked at a time.
	getToKnowAtOnce = 8
)

// offers are what servers have said of themselves, by address: in the login of a session, or when they were asked.
type offers struct {
	offer atomic.Pointer[offer] // nil: nothing is known yet

	mu     sync.Mutex
	known  map[string]pool.ServerInfo
	paused map[string]time.Time // when servers that could not be asked may be asked again
}

// offer is what all known servers can do together, and who the first of them says to be.
type offer struct {
	version      string
	capabilities uint32
	charset      byte
}

func (o *offers) init() { o.known, o.paused = map[string]pool.ServerInfo{}, map[string]time.Time{} }

// learn notes what a server has said. Most often that is known.
func (o *offers) learn(snap *snapshot.Snapshot, addr string, info pool.ServerInfo) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known[addr] == info {
		return
	}
	o.known[addr] = info
	o.conclude(snap)
}

// conclude works out the offer anew, from the servers of the configuration. o.mu is held.
func (o *offers) conclude(snap *snapshot.Snapshot) {
	var all []uint32
	var of *offer
	for i := range snap.Rows {
		info, known := o.known[snap.Rows[i].Addr]
		if !known || snap.Rows[i].Status == selection.OfflineHard {
			continue
		}
		if of == nil {
			of = &offer{version: info.Version, charset: info.Charset}
		}
		all = append(all, info.Capabilities)
	}
	if of != nil {
		of.capabilities = mysql.OfferedCapabilities(all...)
	}
	o.offer.Store(of)
}

// review drops what is known of servers that the configuration lacks, and gives rows of those that are to be asked now.
func (o *offers) review(snap *snapshot.Snapshot, now time.Time) []*snapshot.Row {
	o.mu.Lock()
	defer o.mu.Unlock()
	named := map[string]bool{}
	var ask []*snapshot.Row
	for i := range snap.Rows {
		r := &snap.Rows[i]
		_, known := o.known[r.Addr]
		if !named[r.Addr] && !known && r.Status != selection.OfflineHard && now.After(o.paused[r.Addr]) {
			ask = append(ask, r)
		}
		named[r.Addr] = true
	}
	for addr := range o.known {
		if !named[addr] {
			delete(o.known, addr)
		}
	}
	for addr := range o.paused {
		if !named[addr] {
			delete(o.paused, addr)
		}
	}
	o.conclude(snap)
	return ask
}

// pause leaves a server alone for a while.
func (o *offers) pause(addr string, until time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.paused[addr] = until
}

// WatchServers gets to know the servers of new configurations, by one login each, so that clients are offered what all of them
// can do. It returns when ctx ends.
func (g *Gateway) WatchServers(ctx context.Context) {
	ticker := time.NewTicker(getToKnowInterval)
	defer ticker.Stop()
	for {
		if snap := g.Snapshots.Current(); snap != nil {
			g.getToKnow(ctx, snap)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// getToKnow asks those servers that nothing is known of.
func (g *Gateway) getToKnow(ctx context.Context, snap *snapshot.Snapshot) {
	var group errgroup.Group
	group.SetLimit(getToKnowAtOnce)
	for _, r := range g.offers.review(snap, time.Now()) {
		t, ok := g.visitor(snap, r)
		if !ok {
			continue // no login is known: the first session will tell
		}
		group.Go(func() error {
			b, err := g.logIn(ctx, t)
			if err != nil { // what a server that refuses the login says of itself counts too
				g.Log.Debug("server not asked what it can do", "server", r.Addr, "error", err)
				g.offers.pause(r.Addr, time.Now().Add(getToKnowPause))
				return nil
			}
			_ = b.Close() // it is not needed any more
			return nil
		})
	}
	_ = group.Wait()
}

// visitor gives the login of a user whose password for servers the configuration tells: one that belongs to the row's
// hostgroup, else the first.
func (g *Gateway) visitor(snap *snapshot.Snapshot, r *snapshot.Row) (t pool.Target, ok bool) {
	t = pool.Target{Addr: r.Addr, ConnectTimeout: snap.Settings.ConnectTimeoutServer}
	if snap.TLS(r.Addr) {
		t.TLS = g.ServerTLS
	}
	for _, u := range snap.Logins() {
		secret := backendSecret(u)
		if !secret.Known() || ok && u.GetDefaultHostgroup() != r.Hostgroup {
			continue
		}
		t.User, t.Secret, ok = backendUser(u), secret, true
		if u.GetDefaultHostgroup() == r.Hostgroup {
			break
		}
	}
	return t, ok
}

// backendUser is the name for logins to servers.
func backendUser(u *configv1.User) string {
	if u.GetBackendUsername() != "" {
		return u.GetBackendUsername()
	}
	return u.GetUsername()
}

// backendSecret is what the configuration alone tells of the password for logins to servers.
func backendSecret(u *configv1.User) mysql.Secret {
	if u.BackendPassword != nil {
		return mysql.ClearSecret(u.GetBackendPassword())
	}
	return mysql.ParseCredential(u.GetPassword()).Secret()
}

// logIn connects to a server and notes what it says of itself, also when it then refuses the login.
func (g *Gateway) logIn(ctx context.Context, t pool.Target) (*pool.BackendConn, error) {
	b, err := g.pool.Dial(ctx, t)
	var info pool.ServerInfo
	var dial *pool.DialError
	switch {
	case err == nil:
		info = b.Info()
	case errors.As(err, &dial) && dial.Server != nil:
		info = *dial.Server
	default:
		return nil, err
	}
	g.offers.learn(g.Snapshots.Current(), t.Addr, info)
	return b, err
}
