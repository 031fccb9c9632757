package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// goal is where a session reads and writes.
type goal struct{ reads, writes int }

// round is a guideline with where it sends users.
type round struct {
	document string
	goals    map[string]goal
}

// rounds is what is published in turn.
type rounds struct {
	all []round
	// phase counts: while the gateway is known to route by round n it is 2n, while round n+1 is being published 2n+1.
	phase atomic.Int64
}

// check gives an error if no round of the phases that a statement ran in sends a user's statement there.
func (r *rounds) check(user string, got goal, begin, end int64) error {
	for n := begin / 2; n <= (end+1)/2; n++ {
		want := r.of(n).goals[user]
		if (got.reads == 0 || got.reads == want.reads) && (got.writes == 0 || got.writes == want.writes) {
			return nil
		}
	}
	return fmt.Errorf("goes to %+v in the phases %d to %d, want %+v or, while another guideline is published, %+v",
		got, begin, end, r.of(begin / 2).goals[user], r.of((end + 1) / 2).goals[user])
}

func (r *rounds) of(n int64) round { return r.all[n%int64(len(r.all))] }

// TestLoad: while one guideline after the other is published, no statement fails and none goes where neither the old nor the
// new one sends it; once the gateway has taken one up, each statement goes where that one says.
func (d *guidelineDatabases) TestLoad(t *testing.T) {
	const (
		batch        = "$.session.user = 'batch'"
		publications = 16
	)
	// Equal names of routes mean other things in other rounds.
	r := &rounds{all: []round{
		{guideline(t, "load", to("one", batch, "Remote", "Canary"), to("two", "TRUE", "Main")), map[string]goal{"batch": {4, 3}, appUser: {2, 1}}},
		{guideline(t, "load", to("one", "NOT "+batch, "Remote", "Main"), to("two", batch, "Canary")), map[string]goal{"batch": {3, 3}, appUser: {4, 1}}},
		{guideline(t, "load", to("three", "TRUE", "Canary")), map[string]goal{"batch": {3, 3}, appUser: {3, 3}}},
		{"", map[string]goal{"batch": {2, 1}, appUser: {2, 1}}},
	}}
	f := d.newFleet(t, r.all[0].document)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(func() { stop(); running.Wait() })
	var failure atomic.Pointer[error]
	var steps atomic.Int64
	for _, user := range []string{"batch", appUser} {
		for range 6 {
			conn := f.session(t, login{user: user})
			running.Go(func() {
				for i := 0; ctx.Err() == nil && failure.Load() == nil; i++ {
					begin := r.phase.Load()
					got, err := loadStep(context.WithoutCancel(ctx), conn, i)
					if err == nil {
						err = r.check(user, got, begin, r.phase.Load())
					}
					if err != nil {
						err = fmt.Errorf("session of %s, step %d: %w", user, i, err)
						failure.CompareAndSwap(nil, &err)
					}
					steps.Add(1)
				}
			})
		}
	}
	for n := range int64(publications) {
		seen := steps.Load()
		eventually(t, "sessions go on", patience, func() (bool, string) {
			done := steps.Load() - seen
			return done >= 100 || failure.Load() != nil, fmt.Sprint(done, " steps")
		})
		r.phase.Add(1)
		f.guide(t, r.of(n+1).document)
		r.phase.Add(1)
	}
	stop()
	running.Wait()
	if err := failure.Load(); err != nil {
		t.Error(*err)
	}
	t.Logf("%d steps", steps.Load())
}

// loadStep is a read, a write or a short transaction, and gives the servers of both, 0 for none.
func loadStep(ctx context.Context, conn *sql.Conn, i int) (got goal, err error) {
	switch i % 8 {
	case 3:
		err = conn.QueryRowContext(ctx, writeQuery).Scan(&got.writes)
	case 7:
		tx, err := conn.BeginTx(ctx, nil)
		if err != nil {
			return got, fmt.Errorf("begin: %w", err)
		}
		defer tx.Rollback() // Of no effect after Commit.
		for range 3 {
			server := 0
			if err := tx.QueryRowContext(ctx, readQuery).Scan(&server); err != nil {
				return got, fmt.Errorf("in a transaction: %w", err)
			}
			if got.writes != 0 && got.writes != server {
				return got, fmt.Errorf("a transaction moves from server %d to %d", got.writes, server)
			}
			got.writes = server
		}
		return got, tx.Commit()
	default:
		err = conn.QueryRowContext(ctx, readQuery).Scan(&got.reads)
	}
	return got, err
}
