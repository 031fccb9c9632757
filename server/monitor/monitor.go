package monitor

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/live"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/metrics"
	"github.com/pointsman/pointsman/server/observed"
)

const (
	// DefaultInterval is how often servers are looked at.
	DefaultInterval = 2 * time.Second

	// timeout bounds one look: the login, if need be, and the question.
	timeout = time.Second
	// prepareTimeout bounds how long a generation waits for the look at its servers.
	prepareTimeout = 2 * time.Second
	// atOnce is how many servers are looked at at a time.
	atOnce = 64
)

// Options are what a monitor works with; all are required, but for Password and, without servers that have use_ssl, TLS.
type Options struct {
	// Live has the generation in force.
	Live *live.Holder[loaded.Generation]
	// Observed is told the servers' states.
	Observed *observed.Holder
	// User and Password are for the login to every server.
	User, Password string
	// TLS is how servers with use_ssl are spoken to.
	TLS *tls.Config
	// Interval is how often servers are looked at.
	Interval time.Duration
	// Metrics counts.
	Metrics *metrics.Metrics
	// Logger gets a line for each change of a server.
	Logger *slog.Logger
}

// Monitor looks at servers.
type Monitor struct {
	Options

	mu      sync.Mutex // held while servers are looked at
	servers map[string]*watched
	next    *loaded.Generation // the last one prepared; it may not be in force yet
}

// New makes a monitor. Whoever calls Prepare must call Run too: it ends what Prepare has begun.
func New(o Options) *Monitor {
	return &Monitor{Options: o, servers: make(map[string]*watched)}
}

// Prepare looks once at the servers of a generation that is about to come into force, those that nobody has looked at yet,
// so that its first writes go to who is a primary now and not to who was one when the configuration was written.
func (m *Monitor) Prepare(ctx context.Context, g *loaded.Generation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ctx.Err() != nil { // Run may have ended, too: nobody would close what begins here
		return
	}
	m.next = g
	fresh := m.watch(addresses(g))
	if len(fresh) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	m.look(ctx, fresh)
}

// Run looks at the servers of the generation in force until ctx ends.
func (m *Monitor) Run(ctx context.Context) {
	defer m.end()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		changed := m.Live.Changed()
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-timer.C:
		}
		start := time.Now()
		m.round(ctx)
		timer.Reset(max(0, m.Interval-time.Since(start)))
	}
}

// round watches exactly the servers of the generation in force, and of one that is about to be, and looks at each once.
func (m *Monitor) round(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	wanted := addresses(m.Live.Current())
	if m.next != nil && m.next.Number > m.Live.Generation() {
		maps.Copy(wanted, addresses(m.next))
	}
	m.keep(wanted)
	m.watch(wanted)
	m.look(ctx, slices.Collect(maps.Values(m.servers)))
}

func (m *Monitor) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keep(nil)
}

// wish is how servers are to be watched, by address: over TLS or in plain text.
type wish map[string]bool

// keep ends watching all but these servers, in this way. m.mu is held.
func (m *Monitor) keep(addresses wish) {
	for addr, w := range m.servers {
		if overTLS, wanted := addresses[addr]; !wanted || overTLS != w.overTLS {
			_ = w.db.Close() // it is of no use any more, whatever it says
			delete(m.servers, addr)
		}
	}
}

// addresses are the servers to look at: all that may ever be used, while a guideline is in force.
func addresses(g *loaded.Generation) wish {
	out := make(wish)
	if g == nil || g.Core.Guide() == nil {
		return out
	}
	for _, s := range g.Core.Servers() {
		if *s.Status != "OFFLINE_HARD" {
			out[s.Address()] = out[s.Address()] || s.UseSSL
		}
	}
	return out
}

// watch begins to watch those of the servers that are not watched yet, and gives them. m.mu is held.
func (m *Monitor) watch(addresses wish) []*watched {
	var fresh []*watched
	for addr, overTLS := range addresses {
		if m.servers[addr] != nil {
			continue
		}
		var config *tls.Config
		if overTLS {
			config = m.TLS
		}
		db, err := open(addr, m.User, m.Password, config)
		if err != nil {
			m.Logger.Error("a server can't be monitored", "server", addr, "error", err)
			continue
		}
		w := &watched{addr: addr, db: db, overTLS: overTLS}
		m.servers[addr] = w
		fresh = append(fresh, w)
	}
	return fresh
}

// look looks once at some of the servers and tells what is known of all. m.mu is held.
func (m *Monitor) look(ctx context.Context, servers []*watched) {
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, w := range servers {
		group.Go(func() error {
			lookCtx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			role, err := role(lookCtx, w.db)
			if ctx.Err() != nil { // it is over: this says nothing about the server
				return nil
			}
			if errors.Is(err, context.DeadlineExceeded) {
				err = errNoAnswer
			}
			m.Metrics.Monitored(result(err))
			w.note(ctx, role, err, m.Logger)
			return nil
		})
	}
	_ = group.Wait()
	states := make(map[string]decision.ServerState, len(m.servers))
	available := 0
	for addr, w := range m.servers {
		if w.known {
			states[addr] = w.state
		}
		if w.state.Unavailable == "" {
			available++
		}
	}
	m.Metrics.MonitoredServers(available, len(m.servers)-available)
	m.Observed.SetServers(states)
}

var errNoAnswer = errors.New("no answer within " + timeout.String())

// result is the metric's label.
func result(err error) string {
	switch _, refused := errors.AsType[*refusedError](err); {
	case err == nil:
		return "ok"
	case refused:
		return "refused"
	default:
		return "failed"
	}
}
