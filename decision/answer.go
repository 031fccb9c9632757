package decision

import "github.com/pointsman/pointsman/decision/rules"

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
	ReasonGuideline
)

// CacheScope says how far an answer may be reused by sessions with the same cookie.
type CacheScope uint8

// The cache scopes.
const (
	// ScopeNone is for this statement only: the answer is random, depends on the time, or names the hostgroup that
	// a transaction or lock holds.
	ScopeNone CacheScope = iota + 1
	// ScopeDigest is for statements with the same cookie, command and digest, but only for those that have no first
	// comment or whose first comment holds no "=". One with a "=" may hold annotations, which no digest shows.
	ScopeDigest
	// ScopeText is for statements with the same cookie, command and text, byte for byte.
	ScopeText
)

// Field names an effect; Answer.Has tells whether it is set.
type Field = rules.Field

// The effects, named as the columns of mysql_query_rules and the annotations.
const (
	CacheTTL          = rules.CacheTTL
	CacheEmptyResult  = rules.CacheEmptyResult
	CacheTimeout      = rules.CacheTimeout
	Timeout           = rules.Timeout
	Retries           = rules.Retries
	Delay             = rules.Delay
	Reconnect         = rules.Reconnect
	MirrorHostgroup   = rules.MirrorHostgroup
	MirrorFlagOut     = rules.MirrorFlagOut
	NextQueryFlagIn   = rules.NextQueryFlagIn
	StickyConn        = rules.StickyConn
	Multiplex         = rules.Multiplex
	GTIDFromHostgroup = rules.GTIDFromHostgroup
	Log               = rules.Log
	MaxLagMS          = rules.MaxLagMS
	CreateNewConn     = rules.CreateNewConn
	MinGTID           = rules.MinGTID
	ErrorMsg          = rules.ErrorMsg
	OKMsg             = rules.OKMsg
)

// Effects are what the caller must do besides sending the statement somewhere. A value counts only if its
// field is in Set. Times are in ms.
type Effects = rules.Effects

// MaxMatchedRules is the most rule ids that an answer lists.
const MaxMatchedRules = rules.MaxMatchedRules

// Mirror is the mirrored copy's own way. The copy has the text that the statement has after rewriting.
type Mirror struct {
	DestinationHostgroup int32 // None: an OK or error message of a rule answers the copy, so it is not sent
	MatchedRules         []uint32
}

// Answer is a decision. It is reused from question to question: Route overwrites it, and its slices stay valid
// until the next Route with the same Answer. The zero value is ready.
type Answer struct {
	Generation            uint64
	Reason                Reason
	CacheScope            CacheScope
	DestinationHostgroup  int32 // None when answered by OKMsg or ErrorMsg, be it a rule's or the guideline's refusal
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
	// TooComplex tells that a rule on the statement's way, or its mirrored copy's, may not have done all it should: an
	// expression was left out, or ran out of its bound, so that the rule does not match or rewrite.
	TooComplex bool
	// HasGuideline tells that the destination is one of the hostgroups that the routing guideline stands in for, and Guideline
	// what it says. For a session that a transaction or lock holds there, only if a route matches.
	HasGuideline bool
	Guideline    Choice
	Cookie       []byte
	Effects

	scratch scratch
}
