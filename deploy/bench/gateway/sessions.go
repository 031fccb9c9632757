package gateway

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

const (
	idleSessions = 1000
	idleTime     = 3 * time.Second // what sessions rest before memory is read
)

const pointSelect = "SELECT c FROM sbtest1 WHERE id=?"

// idleMemory gives the gateway's resident memory in MiB while so many sessions are logged in and rest, each of which has
// run a statement.
func (s *stand) idleMemory(ctx context.Context) (mib float64, err error) {
	db, err := sql.Open("mysql", dsn(s.gateway.port))
	if err != nil {
		return 0, err
	}
	defer db.Close() //nolint:errcheck // nothing is lost with it
	conns := make([]*sql.Conn, 0, idleSessions)
	defer func() {
		for _, conn := range conns {
			err = errors.Join(err, conn.Close())
		}
	}()
	for i := range idleSessions {
		conn, err := db.Conn(ctx)
		if err != nil {
			return 0, fmt.Errorf("session %d: %w", i+1, err)
		}
		conns = append(conns, conn)
		var c string
		if err := conn.QueryRowContext(ctx, pointSelect, 1+i%tableSize).Scan(&c); err != nil {
			return 0, fmt.Errorf("session %d: %w", i+1, err)
		}
	}
	if err := rest(ctx, idleTime); err != nil {
		return 0, err
	}
	return s.gateway.program.rss()
}

// rest waits.
func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// allocations gives how many objects the gateway allocates for a statement whose answer is cached. What it allocates in the
// same time without statements, the reading of the metric with it, is taken off.
func (s *stand) allocations(ctx context.Context, statements int) (float64, error) {
	db, err := sql.Open("mysql", dsn(s.gateway.port))
	if err != nil {
		return 0, err
	}
	defer db.Close() //nolint:errcheck // nothing is lost with it
	conn, err := db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close() //nolint:errcheck // nothing is lost with it
	ask := func(times int) error {
		var c string
		for i := range times {
			if err := conn.QueryRowContext(ctx, pointSelect, 1+i%tableSize).Scan(&c); err != nil {
				return err
			}
		}
		return nil
	}
	if err := ask(100); err != nil { // the answer is cached now
		return 0, err
	}
	start := time.Now()
	with, err := s.mallocs(ctx, func() error { return ask(statements) })
	if err != nil {
		return 0, err
	}
	took := time.Since(start)
	without, err := s.mallocs(ctx, func() error { return rest(ctx, took) })
	if err != nil {
		return 0, err
	}
	return max(with-without, 1) / float64(statements), nil // 0 would say that nothing was measured
}

// mallocs counts the objects that the gateway allocates while f runs.
func (s *stand) mallocs(ctx context.Context, f func() error) (float64, error) {
	const name = "go_memstats_mallocs_total"
	before, err := s.metric(ctx, name)
	if err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	after, err := s.metric(ctx, name)
	return after - before, err
}
