package monitor

import (
	"context"
	"errors"
	"log/slog"
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
	// atOnce is how many servers are looked at at a time.
	atOnce = 64
)

// Options are what a monitor works with; all are required, but for Password.
type Options struct {
	// Live has the generation in force.
	Live *live.Holder[loaded.Generation]
	// Observed is told the servers' states.
	Observed *observed.Holder
	// User and Password are for the login to every server.
	User, Password string
	// Interval is how often servers are looked at.
	Interval time.Duration
	// Metrics counts.
	Metrics *metrics.Metrics
	// Logger gets a line for each change of a server.
	Logger *slog.Logger
}

// Run looks at the servers until ctx ends.
func Run(ctx context.Context, o Options) {
	m := &monitor{Options: o, servers: make(map[string]*watched)}
	defer m.follow(nil)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		changed := o.Live.Changed()
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-timer.C:
		}
		start := time.Now()
		m.follow(addresses(o.Live.Current()))
		m.look(ctx)
		timer.Reset(max(0, o.Interval-time.Since(start)))
	}
}

// addresses are the servers to look at: all that may ever be used, while a guideline is in force.
func addresses(g *loaded.Generation) map[string]bool {
	if g == nil || g.Core.Guide() == nil {
		return nil
	}
	out := make(map[string]bool)
	for _, s := range g.Core.Servers() {
		if *s.Status != "OFFLINE_HARD" {
			out[s.Address()] = true
		}
	}
	return out
}

type monitor struct {
	Options

	servers map[string]*watched
}

// follow begins and ends watching, so that exactly these servers are watched.
func (m *monitor) follow(addresses map[string]bool) {
	for addr, w := range m.servers {
		if !addresses[addr] {
			_ = w.db.Close() // it is of no use any more, whatever it says
			delete(m.servers, addr)
		}
	}
	for addr := range addresses {
		if m.servers[addr] != nil {
			continue
		}
		db, err := open(addr, m.User, m.Password)
		if err != nil {
			m.Logger.Error("a server can't be monitored", "server", addr, "error", err)
			continue
		}
		m.servers[addr] = &watched{addr: addr, db: db}
	}
}

// look looks at each server once and tells what was seen.
func (m *monitor) look(ctx context.Context) {
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, w := range m.servers {
		group.Go(func() error {
			lookCtx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			role, err := role(lookCtx, w.db)
			if ctx.Err() != nil { // the monitor ends: this says nothing about the server
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
