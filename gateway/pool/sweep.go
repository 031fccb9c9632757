package pool

import (
	"context"
	"slices"
	"time"
)

// sweepInterval is how often free connections are looked through.
const sweepInterval = time.Second

// maxKinds bounds the kinds that are remembered of a row.
const maxKinds = 8

// seenKind is a login that somebody wanted.
type seenKind struct {
	kind   Kind
	target Target
}

// see notes a wanted login, the latest last; with the lock on the group.
func (at *row) see(want *Want) {
	if want.Target.Addr == "" {
		return
	}
	if i := slices.IndexFunc(at.kinds, func(s seenKind) bool { return s.kind == want.Kind }); i >= 0 {
		seen := at.kinds[i]
		at.kinds = append(slices.Delete(at.kinds, i, i+1), seen)
		return
	}
	if len(at.kinds) >= maxKinds {
		at.kinds = slices.Delete(at.kinds, 0, 1)
	}
	at.kinds = append(at.kinds, seenKind{want.Kind, want.Target.anonymous()})
}

// Run looks after free connections until ctx ends: it closes those that are dead, too old, idle for too long, too many, or of
// servers that are not to be used any more, and logs in ahead where that is wanted. At the end it closes all of them.
func (p *Shared) Run(ctx context.Context) {
	defer p.closeAll()
	ticker := time.NewTicker(sweepInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			p.sweep(now)
			p.warm(ctx)
		}
	}
}

func (p *Shared) sweep(now time.Time) {
	for _, at := range p.all() {
		policy := p.policy(at.Row)
		type dropped struct {
			f     *Free
			cause closeCause
		}
		var all []dropped
		at.group.mu.Lock()
		kept := at.free[:0]
		surplus := len(at.free) - int(policy.MaxFree)
		for _, f := range at.free { // the oldest first
			cause := policy.refuses(f, now)
			switch {
			case cause != closedNot:
			case surplus > 0:
				cause = closedRoom
			case !f.Alive():
				cause = closedDead
			}
			if cause == closedNot {
				kept = append(kept, f)
				continue
			}
			surplus--
			all = append(all, dropped{f, cause})
		}
		clear(at.free[len(kept):])
		at.free = kept
		if !policy.Online && at.total() == 0 && !at.gone {
			p.remove(at)
		}
		at.group.mu.Unlock()
		for _, d := range all {
			p.close(d.f, d.cause)
		}
	}
}

func (p *Shared) closeAll() {
	p.ended.Store(true)
	for _, at := range p.all() {
		at.group.mu.Lock()
		all := at.free
		at.free = nil
		at.group.mu.Unlock()
		for _, f := range all {
			p.close(f, closedEnd)
		}
	}
}

// warm logs in ahead: to each row that is to be warm, for the kinds of logins seen there in turn, until MaxFree connections
// are there, used ones included.
func (p *Shared) warm(ctx context.Context) {
	for _, at := range p.all() {
		if p.policy(at.Row).Warm {
			for turn := 0; p.warmOne(ctx, at, turn); turn++ {
			}
		}
	}
}

// warmHolder has the places of logins ahead.
type warmHolder struct{}

// CallIn gives nothing back: the place is needed for a moment only.
func (warmHolder) CallIn() bool { return false }

// warmOne makes one connection and tells whether the next is worth a try.
func (p *Shared) warmOne(ctx context.Context, at *row, turn int) bool {
	policy, r := p.policy(at.Row), at.Row
	at.group.mu.Lock()
	if at.gone || !policy.Online || len(at.kinds) == 0 || at.total() >= min(policy.MaxFree, policy.Max) {
		at.group.mu.Unlock()
		return false
	}
	seen := at.kinds[turn%len(at.kinds)]
	at.hold(warmHolder{})
	at.group.mu.Unlock()
	b, err := p.warmUp(ctx, r, seen.target)
	if err != nil {
		p.Release(r, warmHolder{}) // the next statement that logs in itself tells why
		return false
	}
	now := time.Now()
	p.Put(r, &Free{BackendConn: b, Kind: seen.kind, Target: seen.target, Born: now, Schema: seen.target.DB}, warmHolder{}, now)
	return true
}

func (p *Shared) warmUp(ctx context.Context, r Row, t Target) (*BackendConn, error) {
	if err := p.Throttle(ctx, r); err != nil {
		return nil, err
	}
	b, err := p.Dial(ctx, t)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, RenewTimeout)
	defer cancel()
	if _, err := b.Exec(limited, Trackers); err != nil {
		_ = b.Conn.Close() // broken, or too old to share
		return nil, err
	}
	return b, nil
}

// RenewTimeout limits what is asked of a server to make a connection fit for the next user.
const RenewTimeout = 2 * time.Second
