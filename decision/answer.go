package decision

// Reason says which step gave the destination.
type Reason uint8

// The reasons.
const (
	ReasonRule Reason = iota + 1
	ReasonFastRoute
	ReasonAnnotation
	ReasonDefaultHostgroup
	ReasonTransaction
	ReasonLocked
	ReasonAnswered
)

// CacheScope says how far an answer may be reused by sessions with the same cookie.
type CacheScope uint8

// The cache scopes.
const (
	// ScopeNone: for this statement only.
	ScopeNone CacheScope = iota + 1
	// ScopeDigest: for the same cookie, command and digest.
	ScopeDigest
	// ScopeText: for the same cookie, command and text.
	ScopeText
)

// Field names an effect; Answer.Has tells whether it is set.
type Field uint32

// The effects, named as the columns of mysql_query_rules and the annotations.
const (
	CacheTTL Field = 1 << iota
	CacheEmptyResult
	CacheTimeout
	Timeout
	Retries
	Delay
	Reconnect
	MirrorHostgroup
	MirrorFlagOut
	NextQueryFlagIn
	StickyConn
	Multiplex
	GTIDFromHostgroup
	Log
	MaxLagMS
	CreateNewConn
	MinGTID
	ErrorMsg
	OKMsg
)

// Effects are what the caller must do besides sending the statement somewhere. A value counts only if its
// field is in Set. Times are in ms.
type Effects struct {
	Set               Field
	CacheTTL          uint32
	CacheEmptyResult  bool
	CacheTimeout      uint32
	Timeout           uint32
	Retries           uint32
	Delay             uint32
	Reconnect         bool
	MirrorHostgroup   int32
	MirrorFlagOut     int32
	NextQueryFlagIn   int32
	StickyConn        bool
	Multiplex         uint32
	GTIDFromHostgroup int32
	Log               bool
	MaxLagMS          uint32
	CreateNewConn     bool
	MinGTID           []byte // aliases the answer's buffers
	ErrorMsg          string
	OKMsg             string
}

// Has tells whether all of the given fields are set.
func (e *Effects) Has(f Field) bool { return e.Set&f == f }

// MaxMatchedRules is the most rule ids that an answer lists.
const MaxMatchedRules = 1000

// Mirror is the mirrored copy's own way.
type Mirror struct {
	DestinationHostgroup int32
	MatchedRules         []uint32
}

// Answer is a decision. It is reused from question to question: Route overwrites it, and its slices stay valid
// until the next Route with the same Answer. The zero value is ready.
type Answer struct {
	Generation            uint64
	Reason                Reason
	CacheScope            CacheScope
	DestinationHostgroup  int32 // None when answered by OKMsg or ErrorMsg
	FinalFlagIn           int32
	FastRoute             bool // a fast route set the destination; an annotation may have overridden it
	MatchedRules          []uint32
	MatchedRulesTruncated bool
	HasDigest             bool // false when digests are off
	Digest                uint64
	DigestText            []byte
	Rewritten             []byte // valid when IsRewritten
	IsRewritten           bool
	ExecuteNeedsText      bool // see RouteStatementResponse.execute_needs_text
	HasMirror             bool
	Mirror                Mirror
	IgnoredAnnotations    uint32 // annotations whose value was too large to be obeyed
	Cookie                []byte
	Effects

	scratch scratch
}
