package rules

import "bytes"

// MaxMatchedRules is the most rule ids that a walk lists.
const MaxMatchedRules = 1000

// Bounds of the texts of one walk, far above what real rules need.
const (
	// A rewritten text that is longer than maxGrowth times the question's and than roomToGrow is not taken over.
	maxGrowth  = 16
	roomToGrow = 64 << 10
	// maxKept is the largest text buffer that is kept for the next walk.
	maxKept = 1 << 20
)

// Question is what a walk looks at.
type Question struct {
	Session *Session // resolved by the Set that is walked
	FlagIn  int32    // the flag to start from

	Digest     uint64 // not looked at when the Set was made without digests
	DigestText []byte
	Text       []byte
	HasText    bool // without a text, rules with a match_pattern don't match

	Iterations uint32 // how often a changed flag starts the walk again at the first rule
}

// Walk is the outcome of a walk. It is reused from walk to walk; the zero value is ready.
type Walk struct {
	Effects     Effects
	Destination int32
	Flag        int32
	Stopped     bool // by a matched rule with apply
	Matched     []uint32
	Truncated   bool   // Matched was cut
	Text        []byte // the text at the end; valid until the next walk
	Rewritten   bool   // Text differs from the question's

	SawText    bool // a match_pattern was searched
	LackedText bool // a match_pattern had no text to search
	Random     bool // a weighted flag was drawn among several
	TooComplex bool // an expression that the walk came to has no outcome, or no end of what it replaces, see Lack

	texts    [2][]byte // the last two rewritten texts, in turn
	turn     int
	endless  bool // what the latest rewrite replaces could not all be found within bounds
	limit    int  // the longest text that a rewrite may give
	searched int  // bytes of text that the restarts may have searched
	steps    int  // left, see maxSteps
	draws    draws
	digest   scan // of the digest text
	text     scan // of Text
	course   course
}

// Seed sets the seed of the draws of the walks to come.
func (w *Walk) Seed(seed uint64) { w.draws.state = seed }

// Clear makes w the outcome of no walk; its buffers are kept.
func (w *Walk) Clear() { w.reset(&Question{FlagIn: None}) }

func (w *Walk) reset(q *Question) {
	if w.Effects.Set != 0 { // without, it is zero
		w.Effects = Effects{}
	}
	w.Destination = None
	w.Flag = q.FlagIn
	w.Stopped = false
	w.Matched = w.Matched[:0]
	w.Truncated = false
	w.Text = q.Text
	w.Rewritten = false
	w.SawText, w.LackedText, w.Random, w.TooComplex = false, false, false, false
	w.limit, w.searched = max(maxGrowth*len(q.Text), roomToGrow), 0
	w.steps = maxSteps
	w.digest.done, w.text.done = false, false
	for i := range w.texts {
		if cap(w.texts[i]) > maxKept {
			w.texts[i] = nil
		}
	}
}

// hit does what a matched rule says and tells whether it set the flag.
func (w *Walk) hit(e *entry, loop *circle) (flagSet bool) { return w.obey(e.brief, e, loop) }

// obey is hit with the rule's brief, so that it need not look at the rule.
func (w *Walk) obey(b *brief, e *entry, loop *circle) (flagSet bool) {
	if len(w.Matched) < MaxMatchedRules {
		w.Matched = append(w.Matched, b.id)
	} else {
		w.Truncated = true
	}
	switch {
	case b.flagOut != None:
		w.Flag, flagSet = b.flagOut, true
	case b.traits.has(hasWeights):
		w.Flag, flagSet = e.weights.at(0), true
		if e.weights.random {
			w.Random = true
			w.Flag = e.weights.at(w.draws.below(e.weights.total))
			loop.unsteady = true
		}
	}
	if b.traits.has(hasEffects) {
		w.Effects.override(&e.Effects)
	}
	if b.destination != None {
		w.Destination = b.destination
	}
	if b.traits.has(hasReplacement) && w.rewrite(e) {
		loop.unsteady = true
	}
	return flagSet
}

// rewrite replaces what the rule's match_pattern matches and tells whether the text changed.
func (w *Walk) rewrite(e *entry) bool {
	to := &w.texts[w.turn]
	w.steps -= stepsARewrite + len(w.Text)/bytesAStep
	if e.MatchPattern.Backtracking() {
		w.steps -= stepsABacktracking
	}
	out, changed := e.MatchPattern.Replace((*to)[:0], w.Text, e.Replacement, e.Global)
	*to = out
	w.endless = !changed && !e.Negate // for it matches
	w.TooComplex = w.TooComplex || w.endless
	if !changed || len(out) > w.limit || bytes.Equal(out, w.Text) {
		return false
	}
	w.steps -= len(out) / bytesAStep
	w.text.done = false
	w.turn = 1 - w.turn
	w.Text = out
	w.Rewritten = true
	return true
}
