package decision

import (
	"fmt"

	"github.com/pointsman/pointsman/decision/rules"
)

// scope says why the answer's cache scope is not wider: see Generation.scope.
func (e *explainer) scope() {
	var none, text []string
	by := e.x.lastDestination().By
	if by == ReasonLocked {
		none = append(none, "the session's lock holds it in this hostgroup")
	}
	if by == ReasonTransaction {
		none = append(none, "the open transaction holds it in this hostgroup")
	}
	if g := e.x.Guideline; g != nil && by == ReasonGuideline && g.failed && e.q.Session.RandomDrawn {
		none = append(none, "a route can't be evaluated, and the next random_value that is drawn may come to another one")
	}
	if e.usesTime {
		none = append(none, "min_epoch_ms makes it depend on the time")
	}
	if e.commented {
		text = append(text, "a first comment with a = may hold annotations, which no digest shows")
	}
	switch a := &e.x.Answer; {
	case !a.HasDigest && e.user.FastForward:
		text = append(text, "statements of users with fast_forward are not digested")
	case !a.HasDigest:
		text = append(text, "query_digests is off")
	case len(a.DigestText) >= e.g.digestOptions.MaxDigestLength:
		text = append(text, fmt.Sprintf("only the first %d bytes of a digest text are hashed", e.g.digestOptions.MaxDigestLength))
	}
	for _, t := range [...]*rules.Trace{&e.trace, &e.mirrorTrace} {
		of := ""
		if t == &e.mirrorTrace {
			of = " for the mirrored copy"
		}
		if t.Drew != 0 {
			none = append(none, fmt.Sprintf("rule %d draws a flag%s", t.Drew, of))
		}
		if t.LackedText != 0 {
			none = append(none, fmt.Sprintf("rule %d has a match_pattern, but there is no text%s", t.LackedText, of))
		}
		if t.SawText != 0 {
			text = append(text, fmt.Sprintf("rule %d looks at the text with match_pattern%s", t.SawText, of))
		}
	}
	e.x.scope, e.x.ScopeReasons = ScopeDigest, text
	switch {
	case len(none) > 0:
		e.x.scope, e.x.ScopeReasons = ScopeNone, none
	case len(text) > 0 && !e.q.Statement.HasText:
		text = append(text, "there is no text to reuse it for")
		e.x.scope, e.x.ScopeReasons = ScopeNone, text
	case len(text) > 0:
		e.x.scope = ScopeText
	}
}
