package route

import (
	"fmt"

	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// Fallback says what counts for a statement without an answer in time.
type Fallback string

// The fallbacks.
const (
	// FallbackStale is the last good answer, else the user's default hostgroup.
	FallbackStale Fallback = "stale"
	// FallbackDefault is always the user's default hostgroup.
	FallbackDefault Fallback = "default"
	// FallbackError refuses the statement.
	FallbackError Fallback = "error"
)

// ParseFallback takes a fallback's name.
func ParseFallback(name string) (Fallback, error) {
	switch f := Fallback(name); f {
	case FallbackStale, FallbackDefault, FallbackError:
		return f, nil
	}
	return "", fmt.Errorf("%q is none of stale, default, error", name)
}

// Cause says why a statement has no answer in time.
type Cause uint8

// The causes.
const (
	Overrun  Cause = iota // it takes longer than the budget
	Down                  // the service is down
	Rejected              // the service refused to answer this one
	Full                  // too many questions are on their way
	Ended                 // the session ends
)

// Causes counts the causes.
const Causes = 5

var causeNames = [Causes]string{"timeout", "down", "refused", "full", "ended"}

// String gives the cause as metrics name it.
func (c Cause) String() string { return causeNames[c] }

// without is what counts for a statement without an answer.
func (r *Router) without(s *Session, st *Statement, k *keys) (*decisionv1.RouteStatementResponse, Source) {
	source := Default
	switch r.fallback {
	case FallbackDefault:
	case FallbackError:
		source = Refused
	case FallbackStale:
		for _, c := range [...]*class{s.class, s.lastClass, r.classes.latest(s)} {
			if c == nil {
				continue
			}
			if a := r.lookup(c, c.id, st, k, true); a != nil {
				return a, Stale
			}
		}
	}
	return &decisionv1.RouteStatementResponse{
		DestinationHostgroup: new(s.DefaultHostgroup),
		Reason:               decisionv1.Reason_REASON_DEFAULT_HOSTGROUP,
		CacheScope:           decisionv1.CacheScope_CACHE_SCOPE_NONE,
	}, source
}
