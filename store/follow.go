package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// DefaultFollowInterval is how often a follower reads head when nothing seems to happen.
	DefaultFollowInterval = 5 * time.Second

	minFollowBackoff = 100 * time.Millisecond
)

// FollowOptions tell a follower what to do. Only OnHead is required. The functions are called one at a time.
type FollowOptions struct {
	// Interval between readings of head, DefaultFollowInterval when 0. Also the longest pause after an error.
	Interval time.Duration
	// Running is what the caller already runs, as from a copy on disk: StoreID, Generation and Digest. It is not
	// offered again, and nothing older is offered.
	Running Head
	// OnRead, if given, is called with each head that was read, before any other of these functions.
	OnRead func(h Head)
	// OnHead is called when head differs from what was offered last. States in between may be skipped. After an error
	// the same head is offered again, later; so a generation that was looked at and rejected for good is no error. ctx
	// is the follower's.
	OnHead func(ctx context.Context, h Head) error
	// OnAlarm is called with ErrWentBack when the same store names an older generation (nothing is offered until a
	// newer one is published), with ErrStoreChanged when the store is another one (what is published there is offered),
	// and with nil when either is over. The alarm is logged in any case.
	OnAlarm func(err error)
}

// Follow keeps the caller at head until ctx ends. Head is read on every hint that something may have happened (a watch
// event, a watch that opened or broke for whatever reason) and at every interval; only what is read counts. Trouble
// with etcd is logged and waited out: the caller goes on with what it has.
func (s *Store) Follow(ctx context.Context, o FollowOptions) {
	if o.Interval == 0 {
		o.Interval = DefaultFollowInterval
	}
	f := &follower{FollowOptions: o, store: s, seen: o.Running, hints: make(chan struct{}, 1)}
	var wg sync.WaitGroup
	wg.Go(func() { f.watch(ctx, s.keys.head()) })
	wg.Go(func() { f.watch(ctx, s.keys.rejection()) })
	f.confirmAll(ctx)
	wg.Wait()
}

type follower struct {
	FollowOptions
	store *Store
	// seen is the last head that was taken over.
	seen Head
	// alarm is the text of the alarm that is on.
	alarm string
	// silent says that the last reading of head got no answer.
	silent bool
	hints  chan struct{}
}

// confirmAll reads head again and again.
func (f *follower) confirmAll(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	backoff := minFollowBackoff
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.hints:
		case <-timer.C:
		}
		if err := f.confirm(ctx); err != nil {
			timer.Reset(jitter(backoff))
			backoff = min(backoff*2, f.Interval)
			continue
		}
		backoff = minFollowBackoff
		timer.Reset(jitter(f.Interval))
	}
}

// confirm reads head once and offers it if need be.
func (f *follower) confirm(ctx context.Context) error {
	h, err := f.store.Head(ctx)
	f.noteSilence(ctx, err)
	if err != nil {
		return err
	}
	if f.OnRead != nil {
		f.OnRead(h)
	}
	if f.seen.StoreID == "" {
		f.seen.StoreID = h.StoreID
	}
	switch {
	case h.StoreID != f.seen.StoreID:
		f.raise(ctx, fmt.Errorf("%w: store %q at generation %d, before it was store %q at generation %d",
			ErrStoreChanged, h.StoreID, h.Generation, f.seen.StoreID, f.seen.Generation))
		if h.Generation == 0 {
			return nil
		}
	case h.Generation < f.seen.Generation:
		f.raise(ctx, fmt.Errorf("%w: generation %d, before it was %d; publish again to go on",
			ErrWentBack, h.Generation, f.seen.Generation))
		return nil
	case h.Generation == f.seen.Generation && (h.Generation == 0 || h.Digest == f.seen.Digest):
		f.raise(ctx, nil)
		return nil
	}
	if err := f.OnHead(ctx, h); err != nil {
		if ctx.Err() == nil {
			f.store.log.WarnContext(ctx, "a generation could not be taken over; it is tried again",
				"generation", h.Generation, "error", err)
		}
		return err
	}
	f.seen = h
	f.raise(ctx, nil)
	return nil
}

// raise turns the alarm on, changes it, or turns it off.
func (f *follower) raise(ctx context.Context, alarm error) {
	var text string
	if alarm != nil {
		text = alarm.Error()
	}
	if text == f.alarm {
		return
	}
	f.alarm = text
	if alarm != nil {
		f.store.log.ErrorContext(ctx, "alarm: the store is not what it was", "error", alarm)
	}
	if f.OnAlarm != nil {
		f.OnAlarm(alarm)
	}
}

// noteSilence logs when etcd falls silent and when it is back, not each attempt between.
func (f *follower) noteSilence(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
	case err != nil && !f.silent:
		f.store.log.WarnContext(ctx, "the store can't be read; the running generation stays", "error", err)
	case err == nil && f.silent:
		f.store.log.InfoContext(ctx, "the store can be read again")
	}
	f.silent = err != nil
}

// watch turns whatever happens to a watch on a key into hints. It watches from now on, not from a revision: head is
// read after the watch opened, so nothing is missed, and neither compaction nor a restored backup can mislead it.
func (f *follower) watch(ctx context.Context, key string) {
	backoff := minFollowBackoff
	for ctx.Err() == nil {
		watchCtx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
		for resp := range f.store.client.Watch(watchCtx, key, clientv3.WithCreatedNotify()) {
			if err := resp.Err(); err != nil {
				f.store.log.DebugContext(ctx, "a watch broke; it is opened again", "key", key, "error", err)
			} else {
				backoff = minFollowBackoff
			}
			f.hint()
		}
		cancel()
		f.hint()
		if !pause(ctx, backoff) {
			return
		}
		backoff = min(backoff*2, f.Interval)
	}
}

func (f *follower) hint() {
	select {
	case f.hints <- struct{}{}:
	default:
	}
}
