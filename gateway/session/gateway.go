package session

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/pointsman/pointsman/gateway/mysql"
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
	codeNoThread        uint16 = 1094
	codeKillDenied      uint16 = 1095
)

// maxHandshakes bounds the logins that are verified at once.
const maxHandshakes = 64

// defaultCharset is the low byte of utf8mb4_general_ci's id, known to MySQL and MariaDB alike.
const defaultCharset = 45

// Gateway is what all sessions share. Fill the exported fields, then call Init.
type Gateway struct {
	Snapshots      *snapshot.Holder
	Router         *route.Router
	Auth           *mysql.Authenticator
	Metrics        *Metrics
	Log            *slog.Logger
	MaxConnections int // client connections at once

	handshakes chan struct{}
	lastID     atomic.Uint32
	version    atomic.Pointer[string] // of the first server that was logged in to
	counts     counts

	mu        sync.Mutex
	admitting int
	sessions  map[uint32]*session
	perUser   map[string]uint32
}

// Init makes the gateway ready for Serve.
func (g *Gateway) Init() {
	g.handshakes = make(chan struct{}, maxHandshakes)
	g.sessions = map[uint32]*session{}
	g.perUser = map[string]uint32{}
	g.counts.init()
	g.lastID.Store(1 << 30) // far from the servers' own ids, so that KILL can tell them apart
}

func (g *Gateway) nextID() uint32 { return g.lastID.Add(1) }

func (g *Gateway) greeting(id uint32) mysql.Greeting {
	version := g.Snapshots.Current().Settings.ServerVersion
	if v := g.version.Load(); v != nil {
		version = *v
	}
	return mysql.Greeting{
		ServerVersion: version, ConnectionID: id, Capabilities: mysql.OfferedCapabilities(),
		Charset: defaultCharset, Status: mysql.StatusAutocommit,
	}
}

// admit reserves a place for a client that logs in.
func (g *Gateway) admit() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.MaxConnections > 0 && len(g.sessions)+g.admitting >= g.MaxConnections {
		return false
	}
	g.admitting++
	return true
}

func (g *Gateway) admitted() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.admitting--
}

func (g *Gateway) register(s *session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sessions[s.id] = s
}

func (g *Gateway) unregister(s *session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.sessions, s.id)
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

// Drain asks all sessions to end as soon as they hold no transaction.
func (g *Gateway) Drain() {
	g.mu.Lock()
	defer g.mu.Unlock()
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

// kill ends a session's running statement, or the whole session unless query. Only sessions of the same user.
func (g *Gateway) kill(ctx context.Context, by *session, id uint32, query bool) *mysql.Error {
	victim := g.find(id)
	if victim == nil {
		return mysql.NewError(codeNoThread, "HY000", "Unknown thread id: %d", id)
	}
	victim.mu.Lock()
	user, b := victim.user, victim.running
	victim.mu.Unlock()
	if user != by.login.User {
		return mysql.NewError(codeKillDenied, "HY000", "You are not owner of thread %d", id)
	}
	if b != nil {
		if err := b.kill(ctx); err != nil {
			g.Log.Warn("statement not killed", "session", id, "server", b.Addr, "error", err)
		}
	}
	if !query {
		_ = victim.client.Close() // ends its goroutine
	}
	return nil
}

// counts are the gateway's connections in use, by server.
type counts struct {
	mu     sync.Mutex
	byAddr map[string]uint32
}

func (c *counts) init() { c.byAddr = map[string]uint32{} }

func (c *counts) add(addr string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byAddr[addr] += uint32(n); c.byAddr[addr] == 0 { //nolint:gosec // n is 1 or -1, and wraps as meant
		delete(c.byAddr, addr)
	}
}

func (c *counts) of(addr string) uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byAddr[addr]
}
