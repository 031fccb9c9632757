package decision

// Explanation is the whole way of one statement. Texts that may be long are cut by [rules.Excerpt].
type Explanation struct {
	Answer  Answer // what Route gives
	Session ExplainedSession
	Walk    ExplainedWalk // empty for users with fast_forward
	// NotLoaded are rules that no statement can match: those that are not active, and without digests those that
	// look at one. By rule_id, at most MaxMatchedRules.
	NotLoaded    []uint32
	FastRoute    ExplainedFastRoute
	Comment      ExplainedComment
	Destinations []DestinationStep   // what gave a destination, in order; the last one counts
	Mirror       *ExplainedMirror    // set like Answer.HasMirror
	Guideline    *ExplainedGuideline // nil: no guideline is in force
	ScopeReasons []string            // why Answer.CacheScope is not wider; empty for ScopeDigest

	scope CacheScope // what the reasons come to
}

// ExplainedSession is the session as the rules see it.
type ExplainedSession struct {
	Username         string
	Schemaname       string
	SchemaFrom       SchemaSource
	ClientAddr       string // empty: unknown, client_addr passes
	ProxyAddr        string // empty: unknown, proxy_addr passes
	ProxyPort        uint32
	FlagIn           int32 // the flag that the walk starts from
	DefaultHostgroup int32 // of the user
	FastForward      bool  // of the user: no digest, rules, fast routes and annotations
}

// SchemaSource says where a session's schema comes from.
type SchemaSource uint8

// The sources.
const (
	SchemaOfSession SchemaSource = iota // the session named it
	SchemaOfUser                        // the user's default_schema
	SchemaOfSetting                     // the setting default_schema
)

// ExplainedFastRoute is the look into the fast routes.
type ExplainedFastRoute struct {
	Skipped string // why no key was tried; empty: Keys were
	Keys    []FastRouteKey
}

// FastRouteKey is a key that was tried. Only the last one can be found.
type FastRouteKey struct {
	Username   string // empty: the row for any user
	Schemaname string
	FlagIn     int32
	Found      bool
	Hostgroup  int32 // of the row; None when there is none
}

// ExplainedComment is the statement's first comment and the annotations in it.
type ExplainedComment struct {
	HasComment  bool
	Text        string // its body
	Skipped     string // why it was not read for annotations; empty: it was
	Annotations []ExplainedAnnotation
}

// ExplainedAnnotation is one piece of the comment: a key, "=" and a value.
type ExplainedAnnotation struct {
	Key, Value string
	Set        *Setting // what it set; nil when it was passed over
	Why        string   // why it was passed over
}

// DestinationStep is one thing that gave the statement a destination.
type DestinationStep struct {
	By        Reason
	RuleID    uint32 // the rule, for ReasonRule and ReasonAnswered
	Hostgroup int32  // None for ReasonAnswered, and for a ReasonGuideline that refuses the statement
}

// ExplainedMirror is the mirrored copy's way.
type ExplainedMirror struct {
	Walked       bool          // a mirror_flagOUT leads through the rules
	Walk         ExplainedWalk // only what acts on a copy is among its settings
	Destinations []DestinationStep
}

// Explain decides one statement like Route and tells every step, by testing one rule after the other. The error is
// Route's. It takes much longer than Route, though bounded time, and may take memory.
func (g *Generation) Explain(q *Question) (*Explanation, error) {
	x := &Explanation{}
	if err := g.Route(q, &x.Answer); err != nil {
		return nil, err
	}
	e := explainer{g: g, q: q, user: g.byName[q.Session.Username], x: x}
	e.session()
	if e.user.FastForward {
		e.fastForward()
	} else {
		e.way()
	}
	return x, nil
}
