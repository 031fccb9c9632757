package session

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pointsman/pointsman/gateway/mysql"
)

// kill ends a session's running statement, or the whole session unless query. Only sessions of the same user.
func (g *Gateway) kill(ctx context.Context, by *session, id uint32, query bool) *mysql.Error {
	victim := g.find(id)
	if victim == nil {
		return mysql.NewError(codeNoThread, "HY000", "Unknown thread id: %d", id)
	}
	user, b, _ := victim.current()
	if user != by.login.User {
		return mysql.NewError(codeKillDenied, "HY000", "You are not owner of thread %d", id)
	}
	if b != nil {
		if err := b.kill(ctx); err != nil {
			g.Log.Warn("statement not killed", "session", id, "server", b.Addr, "error", err)
			if !query {
				_ = b.Conn.Close() // the session waits for it no longer
			}
		}
	}
	if !query {
		_ = victim.client.Close() // ends its goroutine
	}
	return nil
}

// killStatement handles KILL [QUERY|CONNECTION] id of a session of this gateway. Other ids are the servers' affair.
func (s *session) killStatement(ctx context.Context, st *statement) (handled bool, err error) {
	words := strings.Fields(strings.TrimRight(string(st.text), "; \t\r\n"))
	id, err := strconv.ParseUint(words[len(words)-1], 10, 32)
	if err != nil || s.find(uint32(id)) == nil {
		return false, nil //nolint:nilerr // not a number: an expression, which the server knows to evaluate
	}
	query := len(words) > 2 && strings.EqualFold(words[len(words)-2], "QUERY")
	return true, s.answerKill(s.kill(ctx, s, uint32(id), query))
}

// processKill handles COM_PROCESS_KILL.
func (s *session) processKill(ctx context.Context, cmd *mysql.Command) error {
	arg := cmd.Arg()
	if len(arg) != 4 {
		return s.client.WriteError(mysql.NewError(mysql.CodeUnknownCommand, "08S01", "Malformed kill command"))
	}
	id := uint32(arg[0]) | uint32(arg[1])<<8 | uint32(arg[2])<<16 | uint32(arg[3])<<24
	return s.answerKill(s.kill(ctx, s, id, false))
}

func (s *session) answerKill(e *mysql.Error) error {
	if e != nil {
		return s.client.WriteError(e)
	}
	return s.client.WriteOK(mysql.OK{Status: s.status()})
}

// watchInterval is how often WatchClients looks, and from which age on it looks after a statement.
const watchInterval = time.Second

// WatchClients kills the running statements of clients that have gone, which servers would carry on with to the end.
// It returns when ctx ends.
func (g *Gateway) WatchClients(ctx context.Context) {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	var kills sync.WaitGroup
	defer kills.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for _, s := range g.busySessions() {
			if s.client.Peer() != mysql.PeerGone || s.abandoned.Swap(true) {
				continue
			}
			kills.Go(func() {
				if _, b, _ := s.current(); b != nil {
					s.log.Info("client gone: its statement is killed", "server", b.Addr)
					if err := b.kill(ctx); err != nil {
						s.log.Warn("statement not killed", "server", b.Addr, "error", err)
						_ = b.Conn.Close() // the session waits for it no longer
					}
				}
				_ = s.client.Close()
			})
		}
	}
}

// busySessions gives the sessions whose statement has been running for a while.
func (g *Gateway) busySessions() []*session {
	g.mu.Lock()
	defer g.mu.Unlock()
	var busy []*session
	for _, s := range g.sessions {
		if _, b, since := s.current(); b != nil && time.Since(since) > watchInterval {
			busy = append(busy, s)
		}
	}
	return busy
}

// current gives the session's user and the connection that it waits for, if any.
func (s *session) current() (user string, running *backend, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.user, s.running, s.since
}

func (s *session) setRunning(b *backend, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running, s.since = b, since
}
