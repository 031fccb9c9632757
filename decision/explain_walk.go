package decision

import (
	"strconv"

	"github.com/pointsman/pointsman/decision/digest"
	"github.com/pointsman/pointsman/decision/rules"
)

// ExplainedWalk is a walk through the rules.
type ExplainedWalk struct {
	Steps          []RuleStep
	DroppedMisses  int // looks at rules that didn't match and are in no step, for want of room
	DroppedMatches int // matches that are in no step
	FinalFlag      int32
	Unreached      []uint32 // rules behind the one that stopped the walk, by rule_id, at most MaxMatchedRules
	UnreachedCount int
}

// RuleStep is a rule that was looked at, or neighbouring ones that failed alike.
type RuleStep struct {
	RuleID     uint32
	LastRuleID uint32 // RuleID, unless Rules is above 1
	Rules      int    // how many rules the step stands for
	Comment    string // the rule's
	Flag       int32  // the flag that the walk had

	// Of rules that don't match.
	Failed string // the first column that fails; empty: the rule matches
	Wanted string // the column's value; empty when there are more than 1,000 steps of rules that don't match
	Got    string // the statement's or session's value; empty like Wanted
	Why    string // what to know besides the two values

	// Of rules that match.
	Conditions []Condition
	Set        []Setting
	FlagOut    int32 // the flag it set; None: it set none
	Drawn      bool  // the flag was drawn among several by weight
	Restarted  bool  // the walk began again at the first rule
	Stopped    bool  // the walk ended here (apply)
	Rewrite    *ExplainedRewrite
}

// Condition is a column of a matching rule that was looked at.
type Condition struct {
	Column string
	Wanted string
}

// ExplainedRewrite is what a replace_pattern did.
type ExplainedRewrite struct {
	Replacement string
	Before      string // the text around the first change, before and after; empty when it was not changed
	After       string
	Why         string // why it was not changed
}

// walkTeller makes steps for people of a walk's trace.
type walkTeller struct {
	g          *Generation
	attributes *rules.Attributes // of the session
	question   *rules.Question
	acting     Field // the effects that count
}

func (t *walkTeller) tell(w *rules.Walk, trace *rules.Trace) ExplainedWalk {
	out := ExplainedWalk{
		Steps:          make([]RuleStep, 0, len(trace.Steps)),
		DroppedMisses:  trace.DroppedMisses,
		DroppedMatches: trace.DroppedMatches,
		FinalFlag:      w.Flag,
		UnreachedCount: len(trace.Unreached),
	}
	for i := range trace.Steps {
		from := &trace.Steps[i]
		step := RuleStep{RuleID: from.Rule.ID, LastRuleID: from.Last.ID, Rules: from.Count, Flag: from.Flag, FlagOut: None}
		if from.Failed != 0 {
			t.miss(&step, from)
		} else {
			t.hit(&step, from)
		}
		out.Steps = append(out.Steps, step)
	}
	for _, r := range trace.Unreached[:min(len(trace.Unreached), MaxMatchedRules)] {
		out.Unreached = append(out.Unreached, r.ID)
	}
	return out
}

// miss says why a rule doesn't match.
func (t *walkTeller) miss(step *RuleStep, from *rules.Step) {
	step.Failed = from.Failed.String()
	switch from.Lack {
	case rules.LackNone:
	case rules.LackOfBound:
		step.Why = "the expression takes too many steps on this text, so the rule doesn't match"
	case rules.LackOfOthers:
		step.Why = "the expression was not tried to its end: expressions and rewrites of other rules used the steps, so the rule doesn't match"
	}
	if from.Brief {
		return
	}
	if from.Count == 1 {
		step.Comment = t.g.source(from.Rule.ID).comment
	}
	step.Wanted = t.wanted(from.Rule, from.Failed)
	step.Got = t.got(from)
	if from.Failed == rules.PredicateMatchPattern && !t.question.HasText {
		step.Why = "there is no text, only a digest"
	}
}

// hit says what a rule that matches did.
func (t *walkTeller) hit(step *RuleStep, from *rules.Step) {
	r, h := from.Rule, &from.Hit
	source := t.g.source(r.ID)
	step.Comment = source.comment
	for p := rules.PredicateFlagIn; p <= rules.PredicateMatchPattern; p++ {
		if has(r, p) {
			step.Conditions = append(step.Conditions, Condition{p.String(), t.wanted(r, p)})
		}
	}
	step.Set = settingsOf(r.Destination, &r.Effects, t.acting)
	step.FlagOut, step.Drawn, step.Restarted, step.Stopped = h.FlagOut, h.Drawn, h.Restarted, h.Stopped
	if h.Rewrite != rules.NoRewrite {
		rewrite := &ExplainedRewrite{Replacement: rules.Excerpt([]byte(source.replacement), 0), Before: h.Before, After: h.After}
		switch h.Rewrite {
		case rules.NoRewrite, rules.Rewritten:
		case rules.RewriteUnchanged:
			rewrite.Why = "what it puts in is what was there"
		case rules.RewriteTooLong:
			rewrite.Why = "the text would become too long"
		case rules.RewriteTooComplex:
			rewrite.Why = "to find all that it replaces takes too many steps"
		}
		step.Rewrite = rewrite
	}
}

// has tells whether a rule looks at a column.
func has(r *rules.Rule, p rules.Predicate) bool {
	switch p {
	case rules.PredicateFlagIn:
		return true
	case rules.PredicateUsername:
		return r.Username != ""
	case rules.PredicateSchemaname:
		return r.Schemaname != ""
	case rules.PredicateClientAddr:
		return r.ClientAddr != nil
	case rules.PredicateProxyAddr:
		return r.ProxyAddr != nil
	case rules.PredicateProxyPort:
		return r.ProxyPort != None
	case rules.PredicateDigest:
		return r.HasDigest
	case rules.PredicateMatchDigest:
		return r.MatchDigest != nil
	case rules.PredicateMatchPattern:
		return r.MatchPattern != nil
	}
	return false
}

// wanted gives a rule's column as configured.
func (t *walkTeller) wanted(r *rules.Rule, p rules.Predicate) string {
	source := t.g.source(r.ID)
	text := ""
	switch p {
	case rules.PredicateFlagIn:
		return strconv.Itoa(int(r.FlagIn))
	case rules.PredicateUsername:
		text = r.Username
	case rules.PredicateSchemaname:
		text = r.Schemaname
	case rules.PredicateClientAddr:
		text = source.clientAddr
	case rules.PredicateProxyAddr:
		text = source.proxyAddr
	case rules.PredicateProxyPort:
		return strconv.Itoa(int(r.ProxyPort))
	case rules.PredicateDigest:
		return digest.Format(r.Digest)
	case rules.PredicateMatchDigest:
		text = source.expression(source.matchDigest, r.Negate)
	case rules.PredicateMatchPattern:
		text = source.expression(source.matchPattern, r.Negate)
	}
	return rules.Excerpt([]byte(text), 0)
}

// got gives what a rule's column was compared with.
func (t *walkTeller) got(step *rules.Step) string {
	text := []byte(nil)
	switch step.Failed {
	case rules.PredicateFlagIn:
		return strconv.Itoa(int(step.Flag))
	case rules.PredicateUsername:
		text = []byte(t.attributes.Username)
	case rules.PredicateSchemaname:
		text = []byte(t.attributes.Schemaname)
	case rules.PredicateClientAddr:
		text = []byte(t.attributes.ClientAddr)
	case rules.PredicateProxyAddr:
		text = []byte(t.attributes.ProxyAddr)
	case rules.PredicateProxyPort:
		return strconv.Itoa(int(t.attributes.ProxyPort))
	case rules.PredicateDigest:
		return digest.Format(t.question.Digest)
	case rules.PredicateMatchDigest:
		text = t.question.DigestText
	case rules.PredicateMatchPattern:
		if text = t.question.Text; step.Text != "" {
			return step.Text
		}
	}
	return rules.Excerpt(text, 0)
}
