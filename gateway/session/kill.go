package session

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/pointsman/pointsman/gateway/mysql"
)

// kill ends a session's running statement, or the whole session unless query. Only sessions of the same user.
func (g *Gateway) kill(ctx context.Context, by *session, id uint32, query bool) *mysql.Error {
	victim := g.find(id)
	if victim == nil {
		return mysql.NewError(codeNoThread, "HY000", "Unknown thread id: %d", id)
	}
	if user, _ := victim.current(); user != by.login.User {
		return mysql.NewError(codeKillDenied, "HY000", "You are not owner of thread %d", id)
	}
	if !query {
		victim.cancel(errKilled) // kills its statement too
		return nil
	}
	if b := victim.aim(); b != nil {
		if err := b.kill(ctx); err != nil {
			g.Log.Warn("statement not killed", "session", id, "server", b.Addr, "error", err)
		}
	}
	return nil
}

// aim gives the connection that the session waits for, to kill its statement; nil when there is none. No other session gets
// the connection afterwards.
func (s *session) aim() *backend {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.act.running {
		return nil
	}
	s.act.on.aimed.Store(true)
	return s.act.on
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

// WatchClients ends the sessions of clients that have gone in the middle of a statement, which servers would carry on with
// to the end, and of those that were idle for too long. It returns when ctx ends.
func (g *Gateway) WatchClients(ctx context.Context) {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for _, s := range g.watched() {
			if s.client.Peer() == mysql.PeerGone {
				s.log.Info("client gone: its statement is killed")
				s.cancel(errAbandoned)
			}
		}
	}
}

// watched gives the sessions that have waited for a server for a while, and wakes those that were idle for too long.
func (g *Gateway) watched() []*session {
	var limit time.Duration
	if snap := g.Snapshots.Current(); snap != nil {
		limit = snap.Settings.WaitTimeout
	}
	now := g.clock()
	g.mu.Lock()
	defer g.mu.Unlock()
	var waiting []*session
	for _, s := range g.sessions {
		if s.overdue(now, limit) {
			waiting = append(waiting, s)
		}
	}
	return waiting
}
