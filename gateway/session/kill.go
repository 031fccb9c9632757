package session

import (
	"context"
	"regexp"
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

// killForm is KILL with an id, as of MySQL and MariaDB; killComment is what may stand in between.
var (
	killForm    = regexp.MustCompile(`(?i)^\s*KILL(?:\s+(?:HARD|SOFT))?(?:\s+(CONNECTION|QUERY))?\s+(\d+)[\s;]*$`)
	killComment = regexp.MustCompile(`(?s)/\*.*?\*/|--\s[^\n]*|#[^\n]*`)
)

// killTarget reads KILL [HARD | SOFT] [CONNECTION | QUERY] id. ok is false for other forms, which only servers know: the id of a
// query, USER name, an expression.
func killTarget(text string) (id uint32, query, ok bool) {
	m := killForm.FindStringSubmatch(killComment.ReplaceAllString(text, " "))
	if m == nil {
		return 0, false, false
	}
	n, err := strconv.ParseUint(m[2], 10, 32)
	return uint32(n), strings.EqualFold(m[1], "QUERY"), err == nil
}

// killStatement handles KILL of a session of this gateway. All else is the servers' affair.
func (s *session) killStatement(ctx context.Context, st *statement) (handled bool, err error) {
	id, query, ok := killTarget(string(st.text))
	if !ok || s.find(id) == nil {
		return false, nil
	}
	return true, s.answerKill(s.kill(ctx, s, id, query))
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
			s.seen(s.client.Peer())
		}
	}
}

// watched gives the sessions that have waited for a server for a while, or for a client since a while ago, and wakes those that were idle for too long.
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
