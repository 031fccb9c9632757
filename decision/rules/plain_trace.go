package rules

import (
	"bytes"
	"math/bits"
)

// Bounds of a trace. Matches are kept like Walk.Matched, up to MaxMatchedRules.
const (
	// maxMisses is how many steps of rules that didn't match are kept in full.
	maxMisses = 1000
	// maxBrief is how many more are kept in brief, neighbours that failed alike put together.
	maxBrief = 10_000
)

// Trace collects the steps of one walk, in order. Its size is bounded whatever the rules and the statement are; the zero
// value is ready for one walk.
type Trace struct {
	Steps          []Step
	DroppedMisses  int     // looks at rules that didn't match and are in no step
	DroppedMatches int     // matches that are in no step
	Unreached      []*Rule // the rules behind the one that stopped the walk

	// The first rule that made the walk SawText, LackedText or Random; 0: none did.
	SawText, LackedText, Drew uint32

	misses  int
	setters [33]uint32 // for each thing set by a dropped match, the last rule that did
}

// Step is what became of one rule that the walk looked at, or of neighbouring ones that failed alike.
type Step struct {
	Rule   *Rule
	Last   *Rule     // the last rule of the step; Rule, unless Count is above 1
	Count  int       // how many rules the step stands for
	Flag   int32     // the flag that the walk had
	Failed Predicate // the first predicate that failed; 0: the rule matches
	Brief  bool      // one of too many misses: not in full, and Count may be above 1 for rules with different values
	Lack   Lack      // why the expression has no outcome, so that the rule doesn't match even if it is negated
	Text   string    // what match_pattern searched, cut by Excerpt; empty when it is the question's text, or there is none
	Hit    Hit       // what the match did
}

// Hit is what a match did besides setting the rule's own effects and destination.
type Hit struct {
	FlagOut   int32   // the flag it set; None: it set none
	Drawn     bool    // the flag was drawn among several
	Rewrite   Rewrite // what became of its replace_pattern
	Before    string  // the text before and after a rewrite that was made, cut by Excerpt
	After     string
	Restarted bool // the walk began again at the first rule
	Stopped   bool // the walk ended here (apply)
}

// Rewrite is what became of a replace_pattern.
type Rewrite uint8

// The outcomes.
const (
	NoRewrite         Rewrite = iota // the rule has no replace_pattern
	Rewritten                        // the text was changed
	RewriteUnchanged                 // what was put in is what was there
	RewriteTooLong                   // the text would become too long, so it stays
	RewriteTooComplex                // to find what to replace takes too many steps, so the text stays
)

// missed notes that a rule didn't match.
func (t *Trace) missed(e *entry, w *Walk, failed Predicate, lack Lack) {
	if t == nil {
		return
	}
	t.firsts(e, w)
	if t.DroppedMisses+t.DroppedMatches > 0 {
		t.DroppedMisses++
		return
	}
	if n := len(t.Steps); n > 0 {
		last := &t.Steps[n-1]
		alike := last.Failed == failed && last.Flag == w.Flag && last.Lack == lack
		if alike && (last.Brief || failed == PredicateFlagIn && last.Rule.FlagIn == e.FlagIn) {
			last.Last = &e.Rule
			last.Count++
			return
		}
	}
	if t.misses == maxMisses+maxBrief {
		t.DroppedMisses++
		return
	}
	step := Step{Rule: &e.Rule, Last: &e.Rule, Count: 1, Flag: w.Flag, Failed: failed, Lack: lack, Brief: t.misses >= maxMisses}
	if failed == PredicateMatchPattern && w.Rewritten && !step.Brief {
		step.Text = Excerpt(w.Text, 0)
	}
	t.misses++
	t.Steps = append(t.Steps, step)
}

// matched notes that a rule matched, after it was obeyed. flag and text are those before.
func (t *Trace) matched(e *entry, w *Walk, flag int32, text []byte) {
	if t == nil {
		return
	}
	t.firsts(e, w)
	if w.Truncated {
		t.DroppedMatches++
		for set := uint32(e.Effects.Set); set != 0; set &= set - 1 {
			t.setters[bits.TrailingZeros32(set)] = e.ID
		}
		if e.Destination != None {
			t.setters[destinationSetter] = e.ID
		}
		return
	}
	step := Step{Rule: &e.Rule, Last: &e.Rule, Count: 1, Flag: flag, Hit: Hit{FlagOut: None, Stopped: e.Apply}}
	h := &step.Hit
	if e.FlagOut != None || e.weights.total > 0 {
		h.FlagOut, h.Drawn = w.Flag, e.FlagOut == None && e.weights.random
	}
	switch tried := w.texts[w.turn]; {
	case e.Replacement == nil:
	case !bytes.Equal(text, w.Text):
		at := firstDifference(text, w.Text)
		h.Rewrite, h.Before, h.After = Rewritten, Excerpt(text, at), Excerpt(w.Text, at)
	case w.endless:
		h.Rewrite = RewriteTooComplex
	case len(tried) > w.limit:
		h.Rewrite = RewriteTooLong
	default:
		h.Rewrite = RewriteUnchanged
	}
	t.Steps = append(t.Steps, step)
}

// firsts notes the rule if it is the first of its kind.
func (t *Trace) firsts(e *entry, w *Walk) {
	first := func(is bool, to *uint32) {
		if is && *to == 0 {
			*to = e.ID
		}
	}
	first(w.SawText, &t.SawText)
	first(w.LackedText, &t.LackedText)
	first(w.Random, &t.Drew)
}

// restarted notes that the match before made the walk begin again.
func (t *Trace) restarted() {
	if t != nil && t.DroppedMatches == 0 {
		t.Steps[len(t.Steps)-1].Hit.Restarted = true
	}
}

// stopped notes which rules the walk didn't get to.
func (t *Trace) stopped(rest []entry) {
	if t == nil {
		return
	}
	t.Unreached = make([]*Rule, len(rest))
	for i := range rest {
		t.Unreached[i] = &rest[i].Rule
	}
}

const destinationSetter = 32

// DroppedSetter gives the last of the dropped matches that set an effect; 0: none did.
func (t *Trace) DroppedSetter(f Field) uint32 { return t.setters[bits.TrailingZeros32(uint32(f))] }

// DroppedDestinationSetter gives the last of the dropped matches that had a destination; 0: none had.
func (t *Trace) DroppedDestinationSetter() uint32 { return t.setters[destinationSetter] }
