package route

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"time"

	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// Bounds of the questions that are on their way. They outlive the statements that they are asked for, so a client that makes
// many slow ones must not hold all of them.
const (
	maxQuestions        = 1000 // as many as a decision server takes at once
	maxSessionQuestions = 8
	maxQuestionBytes    = 128 << 20
)

// flight is a question on its way, for all who need its answer.
type flight struct {
	key  flightKey
	done chan struct{} // closed when what follows is there

	answer *decisionv1.RouteStatementResponse // nil: there is none
	class  *class                             // of the answer
	cause  Cause                              // why there is no answer

	// What is asked, on behalf of a session that may have moved on.
	session   Session
	statement Statement
	keys      keys
}

// flightKey tells questions apart. Sessions of no known class share theirs when they look alike; they see by the answer's class whether
// it is for them.
type flightKey struct {
	key
	user, schema string // where no class is known
}

// sharing says whose question may serve a statement.
type sharing uint8

const (
	byDigest sharing = iota
	byText
	alone
)

// flights are the questions on their way.
type flights struct {
	mu     sync.Mutex
	byKey  map[flightKey]*flight
	count  int
	bytes  int
	closed bool
}

func (fs *flights) close() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.closed = true
}

// spawn runs a goroutine of the router's own, unless it has ended.
func (r *Router) spawn(f func()) bool {
	r.flights.mu.Lock()
	defer r.flights.mu.Unlock()
	if r.flights.closed {
		return false
	}
	r.running.Go(f)
	return true
}

// await gives the answer of a question, the caller's own or an equal one that is on its way already, as long as it
// comes within the budget. No answer: the cause says why.
func (r *Router) await(ctx context.Context, s *Session, st *Statement, k *keys) (*decisionv1.RouteStatementResponse, Cause) {
	if r.breaker.down.Load() {
		return nil, Down
	}
	var t *time.Timer
	how := byDigest
	for {
		f, mine := r.join(s, st, k, how) //nolint:contextcheck // it outlives the statement, under the router's own
		if f == nil {
			return nil, Full
		}
		if t == nil {
			t = time.NewTimer(r.budget + travel(int64(len(st.Text))))
			defer t.Stop()
		}
		select {
		case <-f.done:
		case <-t.C:
			return nil, Overrun
		case <-ctx.Done():
			return nil, Ended
		}
		switch {
		case f.answer == nil:
			return nil, f.cause
		case mine:
			s.enter(f.class)
			return f.answer, 0
		}
		s.enter(r.classes.find(r.newest.Load(), s))
		if s.class != nil {
			if a := r.lookup(s.class, s.classID, st, k, st.Generation == s.generation); a != nil {
				return a, 0
			}
		}
		how++
		if f.answer.GetCacheScope() != decisionv1.CacheScope_CACHE_SCOPE_TEXT {
			how = alone
		}
	}
}

// join gives a question on its way that may serve the statement, or puts one. nil: there are too many.
func (r *Router) join(s *Session, st *Statement, k *keys, how sharing) (f *flight, mine bool) {
	var key flightKey
	if s.class == nil {
		key.user, key.schema = s.Username, s.Schemaname
	}
	switch {
	case how == byDigest && k.byDigest && st.Generation == r.newest.Load():
		key.key = *k.ofDigest(s.knownClass())
	case how != alone:
		key.key = *k.ofText(s.knownClass(), st)
	}
	fs := &r.flights
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f := fs.byKey[key]; f != nil && how != alone {
		return f, false
	}
	if s.questions == nil {
		s.questions = new(atomic.Int32)
	}
	switch {
	case fs.closed, fs.count >= maxQuestions, s.questions.Load() >= maxSessionQuestions,
		fs.count > 0 && fs.bytes+len(st.Text) > maxQuestionBytes:
		return nil, false
	}
	f = &flight{key: key, done: make(chan struct{}), session: *s, statement: *st, keys: *k}
	f.statement.Text = bytes.Clone(st.Text)
	f.statement.DigestText, f.statement.FirstComment = nil, nil // the keys have them
	fs.count++
	fs.bytes += len(st.Text)
	s.questions.Add(1)
	if how != alone {
		fs.byKey[key] = f
	}
	r.running.Go(func() { r.fly(f) })
	return f, true
}

// knownClass is the id of the session's class, 0 when none is known.
func (s *Session) knownClass() uint64 {
	if s.class == nil {
		return 0
	}
	return s.classID
}

// fly asks, and lands the answer in the cache before it is told.
func (r *Router) fly(f *flight) {
	defer func() {
		fs := &r.flights
		fs.mu.Lock()
		if fs.byKey[f.key] == f {
			delete(fs.byKey, f.key)
		}
		fs.count--
		fs.bytes -= len(f.statement.Text)
		fs.mu.Unlock()
		f.session.questions.Add(-1)
		close(f.done)
	}()
	ctx, giveUp := context.WithCancelCause(r.ctx)
	defer giveUp(nil)
	defer r.watch(ctx, giveUp, f.session.Username, len(f.statement.Text))()
	a, err := r.put(ctx, &f.session, &f.statement)
	if err != nil {
		f.cause = r.unanswered(ctx, &f.session, len(f.statement.Text), err)
		return
	}
	r.Observe(a.GetGeneration())
	f.class = r.keep(a, f)
	f.answer = a
}

// keep keeps an answer for all statements that it is for, and gives its class.
func (r *Router) keep(a *decisionv1.RouteStatementResponse, f *flight) *class {
	c := r.classes.learn(a.GetGeneration(), a.GetCookie(), a.GetSessionAttributes(), &f.session)
	switch a.GetCacheScope() {
	case decisionv1.CacheScope_CACHE_SCOPE_DIGEST:
		if f.keys.byDigest && f.statement.Generation == a.GetGeneration() {
			r.cache.put(f.keys.ofDigest(c.id), a)
			break
		}
		fallthrough // keep it for this text alone
	case decisionv1.CacheScope_CACHE_SCOPE_TEXT:
		r.cache.put(f.keys.ofText(c.id, &f.statement), a)
		c.hasText.Store(true)
	case decisionv1.CacheScope_CACHE_SCOPE_NONE, decisionv1.CacheScope_CACHE_SCOPE_UNSPECIFIED:
	}
	return c
}
