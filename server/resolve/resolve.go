package resolve

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pointsman/pointsman/decision/guideline"
	"github.com/pointsman/pointsman/decision/live"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/observed"
)

const (
	// DefaultInterval is how often names are looked up.
	DefaultInterval = time.Minute

	// roundTimeout bounds the look-up of all names, and so how long a generation waits for them.
	roundTimeout = 2 * time.Second
	// retryPause is the first pause after a look-up that failed; it doubles up to the interval.
	retryPause = 2 * time.Second
	// atOnce is how many names are looked up at a time.
	atOnce = 64
)

// Options are what a resolver works with; all are required.
type Options struct {
	// Live has the generation in force.
	Live *live.Holder[loaded.Generation]
	// Observed is told the addresses.
	Observed *observed.Holder
	// Lookup finds addresses.
	Lookup LookupFunc
	// Interval is how often.
	Interval time.Duration
	// Logger gets a line for each name that is lost or found again.
	Logger *slog.Logger
}

// Resolver looks up names.
type Resolver struct {
	Options

	mu     sync.Mutex // held while names are looked up
	names  guideline.Names
	failed map[guideline.Host]bool // the last look-up failed
}

// New makes a resolver.
func New(o Options) *Resolver {
	return &Resolver{Options: o, names: guideline.Names{}, failed: make(map[guideline.Host]bool)}
}

// Prepare looks up the names of a generation that is about to come into force, those that have no address yet.
func (r *Resolver) Prepare(ctx context.Context, g *loaded.Generation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var missing []guideline.Host
	for _, host := range hosts(g) {
		if _, known := r.names[host]; !known {
			missing = append(missing, host)
		}
	}
	r.look(ctx, missing)
	r.Observed.SetNames(maps.Clone(r.names))
}

// Run keeps the names of the generation in force until ctx ends.
func (r *Resolver) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	pause := min(retryPause, r.Interval)
	for {
		changed := r.Live.Changed()
		select {
		case <-ctx.Done():
			return
		case <-changed:
			pause = min(retryPause, r.Interval)
		case <-timer.C:
		}
		if r.refresh(ctx) {
			pause = min(retryPause, r.Interval)
			timer.Reset(r.Interval)
		} else {
			timer.Reset(pause)
			pause = min(2*pause, r.Interval)
		}
	}
}

// refresh looks up all names of the generation in force, forgets others, and tells whether every one was found.
func (r *Resolver) refresh(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	wanted := make(map[guideline.Host]bool)
	for _, host := range hosts(r.Live.Current()) {
		wanted[host] = true
	}
	r.look(ctx, slices.Collect(maps.Keys(wanted)))
	maps.DeleteFunc(r.names, func(h guideline.Host, _ string) bool { return !wanted[h] })
	maps.DeleteFunc(r.failed, func(h guideline.Host, _ bool) bool { return !wanted[h] })
	r.Observed.SetNames(maps.Clone(r.names))
	return len(r.failed) == 0
}

// hosts are the names that a generation's guideline resolves.
func hosts(g *loaded.Generation) []guideline.Host {
	if g == nil || g.Core.Guide() == nil {
		return nil
	}
	return g.Core.Guide().Guideline().Hosts()
}

// look looks hosts up. r.mu is held.
func (r *Resolver) look(ctx context.Context, hosts []guideline.Host) {
	roundCtx, cancel := context.WithTimeout(ctx, roundTimeout)
	defer cancel()
	found := make([]string, len(hosts))
	errs := make([]error, len(hosts))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, host := range hosts {
		old := r.names[host]
		group.Go(func() error {
			addresses, err := r.Lookup(roundCtx, host)
			if errs[i] = err; err == nil {
				found[i] = choose(addresses, old)
			}
			return nil
		})
	}
	_ = group.Wait()
	if ctx.Err() != nil { // what failed says nothing about the names
		return
	}
	for i, host := range hosts {
		r.note(ctx, host, found[i], errs[i])
	}
}

// note takes the outcome of one look-up. A name's loss and its return are logged once.
func (r *Resolver) note(ctx context.Context, host guideline.Host, address string, err error) {
	switch {
	case err != nil && !r.failed[host]:
		r.failed[host] = true
		r.Logger.WarnContext(ctx, "Routing guidelines could not resolve: "+host.Name, //nolint:sloglint // MySQL Router's very line, for whoever looks for it.
			"ipv6", host.V6, "address_kept", r.names[host], "error", err)
	case err == nil:
		if r.failed[host] {
			delete(r.failed, host)
			r.Logger.InfoContext(ctx, "a name of the routing guideline can be resolved again", "name", host.Name, "ipv6", host.V6, "address", address)
		}
		r.names[host] = address
	}
}
