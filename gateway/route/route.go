package route

import (
	"bytes"
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// Decider answers questions; the remote client does, and tests bring their own.
type Decider interface {
	Route(ctx context.Context, req *decisionv1.RouteStatementRequest) (*decisionv1.RouteStatementResponse, error)
}

// Source says where an answer came from.
type Source string

// The sources. All but Cached and Asked mean that the decision service could not be asked, refused, or took too long.
const (
	Cached  Source = "cache"   // the cache, by cookie
	Asked   Source = "asked"   // the decision service
	Stale   Source = "stale"   // the last good answer, of an older generation
	Default Source = "default" // the user's default hostgroup
)

// Session is what is known of a client's session. It belongs to one goroutine. A changed field counts from
// the next Decide on, after Changed was called.
type Session struct {
	Username        string
	Schemaname      string
	ClientAddr      string
	ClientPort      uint32
	ProxyAddr       string
	ProxyPort       uint32
	ConnectAttrs    map[string]string // UTF-8
	NextQueryFlagIn *int32
	RandomValue     float64            // in [0,1)
	Router          *decisionv1.Router // the gateway and the session's listener
	RouterKey       string             // equal for equal Routers
	// DefaultHostgroup is where statements go while the decision service can't be asked.
	DefaultHostgroup int32

	class      *class // of the last answer; nil: to be found
	classID    uint64 // of class, with its generation
	generation uint64
	lastClass  *class // for last good answers
}

// enter notes the class that the session is in; nil: none is known.
func (s *Session) enter(c *class) {
	if s.class = c; c != nil {
		s.classID, s.generation = c.id, c.generation
	}
}

// Changed says that a field has changed: the session's class must be found anew.
func (s *Session) Changed() { s.class = nil }

// Statement is one statement to route. Transactions and locks are not part of it: they change only the destination,
// and the session sees to that itself.
type Statement struct {
	Text         []byte
	DigestText   []byte // nil when digests are off
	DigestHash   Hash   // HashOfDigest of DigestText
	TextHash     Hash   // HashOf(Text) if the caller has kept it: else it is made when it is needed
	FirstComment []byte // nil when there is none
	Generation   uint64 // whose options the digest was made with
	Command      decisionv1.Command
}

// Router answers where statements go.
type Router struct {
	decider Decider
	budget  time.Duration
	log     *slog.Logger

	newest  atomic.Uint64 // the newest generation seen anywhere
	classes classes
	cache   *cache
	breaker breaker

	waiting atomic.Int64 // bytes of the statements whose answers are waited for
	probing atomic.Bool  // whether a probe is on its way
	tooSlow atomic.Uint64
}

// New makes a router that takes the service for down when it answers nothing for the budget. The answer to one question
// is waited for up to 20 budgets while others are answered.
func New(d Decider, budget time.Duration, log *slog.Logger) *Router {
	return &Router{decider: d, budget: budget, log: log, cache: new(cache), breaker: breaker{start: time.Now()}}
}

// Observe says that a generation was seen: answers of older ones are retired.
func (r *Router) Observe(generation uint64) {
	for {
		old := r.newest.Load()
		if generation <= old || r.newest.CompareAndSwap(old, generation) {
			return
		}
	}
}

// Newest is the newest generation seen.
func (r *Router) Newest() uint64 { return r.newest.Load() }

// Cached is the number of answers kept.
func (r *Router) Cached() int { return r.cache.len() }

// Up tells whether the service answers.
func (r *Router) Up() bool { return !r.breaker.down.Load() }

// TooSlow counts the questions that were given up although the service answered others.
func (r *Router) TooSlow() uint64 { return r.tooSlow.Load() }

// Decide gives the answer for one statement. It always gives one, and it must not be changed: sessions share it.
func (r *Router) Decide(ctx context.Context, s *Session, st *Statement) (*decisionv1.RouteStatementResponse, Source) {
	newest := r.newest.Load()
	if s.class == nil || s.generation != newest {
		s.enter(r.classes.find(newest, s))
	}
	var keys keys
	keys.of(st)
	if s.class != nil {
		if a := r.lookup(s.class, s.classID, st, &keys, st.Generation == s.generation); a != nil {
			return a, Cached
		}
	}
	if r.breaker.allows() {
		if a, ok := r.ask(ctx, s, st, &keys); ok {
			return a, Asked
		}
	}
	for _, c := range []*class{s.class, s.lastClass} {
		if c != nil {
			if a := r.lookup(c, c.id, st, &keys, true); a != nil {
				return a, Stale
			}
		}
	}
	return &decisionv1.RouteStatementResponse{
		DestinationHostgroup: new(s.DefaultHostgroup),
		Reason:               decisionv1.Reason_REASON_DEFAULT_HOSTGROUP,
		CacheScope:           decisionv1.CacheScope_CACHE_SCOPE_NONE,
	}, Default
}

// keys are a statement's two cache keys, but for the class. The text is hashed only when it is needed. (They are filled
// in and used where they are, and don't hold the statement: copies would take most of a lookup's time, and the caller's
// statement an allocation.)
type keys struct {
	byDigest bool // whether answers with scope DIGEST may be used
	byText   bool // whether text is filled in
	digest   key
	text     key
}

func (k *keys) of(st *Statement) {
	// A DIGEST answer holds for statements whose first comment can't be an annotation.
	k.byDigest = st.DigestText != nil && (len(st.FirstComment) == 0 || bytes.IndexByte(st.FirstComment, '=') < 0)
	if !k.byDigest {
		return
	}
	k.digest.command = st.Command
	k.digest.sum = st.DigestHash
}

func (k *keys) ofDigest(class uint64) *key {
	k.digest.class = class
	return &k.digest
}

func (k *keys) ofText(class uint64, st *Statement) *key {
	if !k.byText {
		if k.text.sum.b = st.TextHash.b; k.text.sum.b != 0 {
			k.text.sum.a = st.TextHash.a
		} else {
			k.text.sum = HashOf(st.Text)
		}
		k.text.command, k.text.byText = st.Command, true
		k.byText = true
	}
	k.text.class = class
	return &k.text
}

// lookup finds an answer of the class, whose id comes along so that the class need not be read. digests tells whether the statement's digest is the class's generation's own:
// other digest options make other digests, and what they make equal may differ under these.
func (r *Router) lookup(c *class, id uint64, st *Statement, k *keys, digests bool) *decisionv1.RouteStatementResponse {
	if k.byDigest && digests {
		if a := r.cache.get(k.ofDigest(id)); a != nil {
			return a
		}
	}
	if c.hasText.Load() {
		return r.cache.get(k.ofText(id, st))
	}
	return nil
}
