package route

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// Decider answers questions; the remote client does, and tests bring their own.
type Decider interface {
	Route(ctx context.Context, req *decisionv1.RouteStatementRequest) (*decisionv1.RouteStatementResponse, error)
}

// Source says where an answer came from.
type Source uint8

// The sources. All but Cached and Asked mean that there was no answer in time; see [Cause].
const (
	Cached  Source = iota // the cache, by cookie
	Asked                 // the decision service
	Stale                 // the last good answer, of an older generation
	Default               // the user's default hostgroup
	Refused               // nowhere: the answer is that of Default, for statements that must go on
)

// Sources counts the sources.
const Sources = 5

var sourceNames = [Sources]string{"cache", "asked", "stale", "default", "refused"}

// String gives the source as metrics name it.
func (s Source) String() string { return sourceNames[s] }

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
	lastClass  *class        // for last good answers
	questions  *atomic.Int32 // that are on their way
}

// enter notes the class that the session is in; nil: none is known.
func (s *Session) enter(c *class) {
	if s.class != nil && s.class != c {
		s.lastClass = s.class
	}
	if s.class = c; c != nil {
		s.classID, s.generation = c.id, c.generation
	}
}

// Changed says that a field has changed: the session's class must be found anew.
func (s *Session) Changed() { s.class, s.lastClass = nil, nil }

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

// Options say how long answers are waited for, and what counts without one.
type Options struct {
	// Budget is how long a statement waits for its answer; to it comes 1 ms for each 4 KiB of its text.
	Budget time.Duration
	// Fallback is what counts when there is no answer in time. Empty: FallbackStale.
	Fallback Fallback
}

// Router answers where statements go.
type Router struct {
	decider  Decider
	budget   time.Duration
	silence  time.Duration // how long the service may answer nothing
	fallback Fallback
	log      *slog.Logger

	newest  atomic.Uint64 // the newest generation seen anywhere
	classes classes
	cache   *cache
	breaker breaker
	flights flights
	causes  [Causes]atomic.Uint64 // statements without an answer

	waiting atomic.Int64 // bytes of the statements that are asked about
	probing atomic.Bool  // whether a probe is on its way
	tooSlow atomic.Uint64

	ctx     context.Context // of the questions, which outlive the statements that they are asked for
	end     context.CancelFunc
	running sync.WaitGroup
}

// New makes a router. Close ends it.
func New(d Decider, o Options, log *slog.Logger) *Router {
	ctx, end := context.WithCancel(context.Background())
	if o.Fallback == "" {
		o.Fallback = FallbackStale
	}
	r := &Router{
		decider: d, budget: o.Budget, silence: max(o.Budget, minSilence), fallback: o.Fallback, log: log,
		cache: new(cache), ctx: ctx, end: end,
	}
	r.flights.byKey = map[flightKey]*flight{}
	return r
}

// Close gives up all questions and waits for their end. Nothing is asked any more.
func (r *Router) Close() {
	r.end()
	r.flights.close()
	r.running.Wait()
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

// Unanswered counts the statements without an answer in time.
func (r *Router) Unanswered(c Cause) uint64 { return r.causes[c].Load() }

// Budget is how long statements wait for an answer, not counted what large ones get on top.
func (r *Router) Budget() time.Duration { return r.budget }

// Decide gives the answer for one statement, within the budget. It always gives one, and it must not be changed: sessions
// share it.
func (r *Router) Decide(ctx context.Context, s *Session, st *Statement) (*decisionv1.RouteStatementResponse, Source) {
	if newest := r.newest.Load(); s.class == nil || s.generation != newest {
		s.enter(r.classes.find(newest, s))
	}
	var keys keys
	keys.of(st)
	if s.class != nil {
		if a := r.lookup(s.class, s.classID, st, &keys, st.Generation == s.generation); a != nil {
			return a, Cached
		}
	}
	a, cause := r.await(ctx, s, st, &keys)
	if a != nil {
		return a, Asked
	}
	r.causes[cause].Add(1)
	return r.without(s, st, &keys)
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
