package session

import (
	"crypto/tls"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pointsman/pointsman/gateway/mirror"
	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/pool"
	"github.com/pointsman/pointsman/gateway/resultcache"
	"github.com/pointsman/pointsman/gateway/route"
	"github.com/pointsman/pointsman/gateway/snapshot"
)

// Error codes of the gateway's own.
const (
	codeNoConfiguration uint16 = 1053
	codeLostBackend     uint16 = 1158
	codeRuleError       uint16 = 1148
	codeQueryTimeout    uint16 = 1907
	codeUnreachable     uint16 = 9001
	codeLocked          uint16 = 9006
	codeNoThread        uint16 = 1094
	codeKillDenied      uint16 = 1095
	codeUserLimit       uint16 = 1203
	codeNotPreparable   uint16 = 1295
	codeStatementLimit  uint16 = 1461
	codeMalformed       uint16 = 1835
	codeHandedOver      uint16 = 9010
)

// defaultCharset is the low byte of utf8mb4_general_ci's id, known to MySQL and MariaDB alike.
const defaultCharset = 45

// Gateway is what all sessions share. Fill the exported fields, then call Init.
type Gateway struct {
	Snapshots      *snapshot.Holder
	Router         *route.Router
	Results        *resultcache.Cache
	Mirror         *mirror.Mirror
	Auth           *mysql.Authenticator
	Metrics        *Metrics
	Log            *slog.Logger
	MaxConnections int // client connections at once

	ClientTLS  *tls.Config // how clients may speak TLS; nil: they can't
	RequireTLS bool        // they must, but on Unix sockets
	ServerTLS  *tls.Config // how servers with use_ssl are spoken to

	began   time.Time // the clock's zero
	lastID  atomic.Uint32
	offers  offers
	pool    *pool.Shared
	outages outages
	leaving atomic.Bool // pings of free sessions are answered with an error
	turns   turns

	mu       sync.Mutex
	clients  int                   // with those that are logging in
	draining bool                  // no session begins any more
	all      map[*session]struct{} // with those that are logging in
	sessions map[uint32]*session   // that are logged in
	perUser  map[string]uint32
}

// Init makes the gateway ready for Serve.
func (g *Gateway) Init() {
	g.began = time.Now()
	g.all = map[*session]struct{}{}
	g.sessions = map[uint32]*session{}
	g.perUser = map[string]uint32{}
	g.pool = pool.NewShared(g.poolPolicy, g.Metrics.pool)
	g.outages.init()
	g.offers.init()
	g.lastID.Store(1 << 30) // far from the servers' own ids, so that KILL can tell them apart
}

// clock gives the time since Init. It costs half of what time.Now does.
func (g *Gateway) clock() time.Duration { return time.Since(g.began) }

func (g *Gateway) nextID() uint32 { return g.lastID.Add(1) }

func (g *Gateway) greeting(id uint32) mysql.Greeting {
	greeting := mysql.Greeting{ConnectionID: id, Status: mysql.StatusAutocommit}
	if o := g.offers.offer.Load(); o != nil {
		greeting.ServerVersion, greeting.Capabilities, greeting.Charset = o.version, o.capabilities, o.charset
	} else {
		greeting.ServerVersion = g.Snapshots.Current().Settings.ServerVersion
		greeting.Capabilities, greeting.Charset = mysql.OfferedCapabilities(), defaultCharset
	}
	return greeting
}

// enter makes a connection known to the pages; leave ends that.
func (g *Gateway) enter(s *session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all[s] = struct{}{}
}

func (g *Gateway) leave(s *session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.all, s)
	delete(g.sessions, s.id)
	g.Metrics.received.Add(s.client.Received())
	g.Metrics.sent.Add(s.client.Sent())
}

// admit takes a place for a client; dismiss gives it back.
func (g *Gateway) admit() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.MaxConnections > 0 && g.clients >= g.MaxConnections {
		return false
	}
	g.clients++
	return true
}

func (g *Gateway) dismiss() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.clients--
}

// register makes a session known to KILL and Drain.
func (g *Gateway) register(s *session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sessions[s.id] = s
	if g.draining {
		s.drain()
	}
}

func (g *Gateway) countUser(user string, limit uint32) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.perUser[user] >= limit {
		return false
	}
	g.perUser[user]++
	return true
}

func (g *Gateway) releaseUser(user string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.perUser[user]--; g.perUser[user] == 0 {
		delete(g.perUser, user)
	}
}

// Leave says that the gateway will end: from now on sessions that hold nothing end at their next COM_PING, with an error, by which
// clients' pools of connections look for another server before they need one.
func (g *Gateway) Leave() { g.leaving.Store(true) }

// Drain asks all sessions to end as soon as they hold no transaction, also those whose login is still under way.
func (g *Gateway) Drain() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.draining = true
	g.leaving.Store(true)
	for _, s := range g.sessions {
		s.drain()
	}
}

// Sessions is the number of clients that are logged in.
func (g *Gateway) Sessions() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.sessions)
}

// find gives the session with that connection id, nil when there is none.
func (g *Gateway) find(id uint32) *session {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.sessions[id]
}

// serverKey names a server as a row of the configuration does.
type serverKey struct {
	hostgroup int32
	addr      string
}

func (k serverKey) row() pool.Row { return pool.Row{Hostgroup: k.hostgroup, Addr: k.addr} }
