package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// trafficGoal is where the sessions of a kind of user read and write.
type trafficGoal struct{ reads, writes int }

// publication is a guideline that the gateway has taken up, with where it sends users. Between two publications it is nil.
type publication struct{ goals map[string]trafficGoal }

// TestLoad: while one guideline after the other is published, no statement fails and none goes where none of them sends it;
// once the gateway has taken one up, each statement goes where that one says.
func (d *guidelineDatabases) TestLoad(t *testing.T) {
	batch := "$.session.user = 'batch'"
	rounds := []struct {
		document string
		goals    map[string]trafficGoal
	}{
		{guideline(t, "load", to("batch", batch, "Remote", "Canary"), toMain), map[string]trafficGoal{"batch": {4, 3}, appUser: {2, 1}}},
		{guideline(t, "load", to("all", "TRUE", "Canary")), map[string]trafficGoal{"batch": {3, 3}, appUser: {3, 3}}},
		{guideline(t, "load", to("rest", "NOT "+batch, "Remote", "Main"), to("batch", batch, "Main")), map[string]trafficGoal{"batch": {2, 1}, appUser: {4, 1}}},
		{"", map[string]trafficGoal{"batch": {2, 1}, appUser: {2, 1}}},
	}
	f := d.newFleet(t, rounds[0].document)
	var now atomic.Pointer[publication]
	now.Store(&publication{rounds[0].goals})

	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(func() { stop(); running.Wait() })
	var failure atomic.Pointer[error]
	var checked atomic.Int64 // Statements of sessions while a publication was in force.
	for _, user := range []string{"batch", appUser} {
		possible := map[trafficGoal]bool{}
		for _, round := range rounds {
			possible[round.goals[user]] = true
		}
		for range 6 {
			conn := f.session(t, login{user: user})
			running.Go(func() {
				for i := 0; ctx.Err() == nil && failure.Load() == nil; i++ {
					before := now.Load()
					got, err := loadStep(context.WithoutCancel(ctx), conn, i)
					after := now.Load()
					switch {
					case err != nil:
					case before != nil && before == after:
						checked.Add(1)
						if want := before.goals[user]; got.reads != 0 && got.reads != want.reads || got.writes != 0 && got.writes != want.writes {
							err = fmt.Errorf("goes to %+v, want %+v", got, want)
						}
					case !isOneOf(possible, got):
						err = fmt.Errorf("goes to %+v, which no guideline says", got)
					}
					if err != nil {
						err = fmt.Errorf("session of %s, step %d: %w", user, i, err)
						failure.CompareAndSwap(nil, &err)
					}
				}
			})
		}
	}
	for i := range 12 {
		seen := checked.Load()
		eventually(t, "sessions go on", patience, func() (bool, string) {
			done := checked.Load() - seen
			return done >= 100 || failure.Load() != nil, fmt.Sprint(done, " statements")
		})
		next := rounds[(i+1)%len(rounds)]
		now.Store(nil)
		f.guide(t, next.document)
		now.Store(&publication{next.goals})
	}
	stop()
	running.Wait()
	if err := failure.Load(); err != nil {
		t.Error(*err)
	}
	t.Logf("%d steps while a publication was in force", checked.Load())
}

// loadStep is a read, a write or a short transaction, and gives the servers of both, 0 for none.
func loadStep(ctx context.Context, conn *sql.Conn, i int) (got trafficGoal, err error) {
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

// isOneOf says whether some guideline sends there.
func isOneOf(possible map[trafficGoal]bool, got trafficGoal) bool {
	for goal := range possible {
		if (got.reads == 0 || got.reads == goal.reads) && (got.writes == 0 || got.writes == goal.writes) {
			return true
		}
	}
	return false
}
