package rules

import (
	"bytes"

	"github.com/pointsman/pointsman/decision/pattern"
)

// MaxMatchedRules is the most rule ids that a walk lists.
const MaxMatchedRules = 1000

// Bounds of one walk's work, far above what real rules need.
const (
	// maxUnsteadyRestarts is how often a walk that rewrites or draws keeps starting again. Any other walk comes
	// round in a circle, which is cut short without changing its outcome.
	maxUnsteadyRestarts = 1000
	// freeRestarts is how many restarts there are whatever they cost; later ones end with maxSearched.
	freeRestarts = 100
	// maxSearched is how many bytes of text match_pattern may search before a walk stops starting again.
	maxSearched = 64 << 20
	// A rewritten text that is longer than maxGrowth times the question's and than roomToGrow is not taken over.
	maxGrowth  = 16
	roomToGrow = 64 << 10
	// maxKept is the largest text buffer that is kept for the next walk.
	maxKept = 1 << 20
)

// Question is what a walk looks at.
type Question struct {
	Username   string
	Schemaname string
	Addresses  *Matches // nil: no addresses, as in a mirrored copy
	ProxyPort  int32
	FlagIn     int32 // the flag to start from

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

	texts    [2][]byte // the last two rewritten texts, in turn
	turn     int
	limit    int // the longest text that a rewrite may give
	searched int // bytes of text searched
	draws    draws
}

// Seed sets the seed of the draws of the walks to come.
func (w *Walk) Seed(seed uint64) { w.draws.state = seed }

// Clear makes w the outcome of no walk; its buffers are kept.
func (w *Walk) Clear() { w.reset(&Question{FlagIn: None}) }

// Walk evaluates the rules in order of rule_id. Later matches override earlier ones field by field.
func (s *Set) Walk(q *Question, w *Walk) {
	w.reset(q)
	left := q.Iterations
	loop := circle{flag: None}
	for i := 0; i < len(s.entries); i++ {
		e := &s.entries[i]
		if e.FlagIn != w.Flag || !e.matches(q, w) {
			continue
		}
		flagSet := w.hit(e, &loop)
		if e.Apply {
			w.Stopped = true
			return
		}
		if !flagSet || left == 0 {
			continue
		}
		left--
		if loop.restart(w, &left) {
			i = -1
		}
	}
}

func (w *Walk) reset(q *Question) {
	w.Effects = Effects{}
	w.Destination = None
	w.Flag = q.FlagIn
	w.Stopped = false
	w.Matched = w.Matched[:0]
	w.Truncated = false
	w.Text = q.Text
	w.Rewritten = false
	w.SawText, w.LackedText, w.Random = false, false, false
	w.limit, w.searched = max(maxGrowth*len(q.Text), roomToGrow), 0
	for i := range w.texts {
		if cap(w.texts[i]) > maxKept {
			w.texts[i] = nil
		}
	}
}

// matches tests all predicates but flagIN, in ProxySQL's order.
func (e *entry) matches(q *Question, w *Walk) bool {
	switch {
	case e.Username != "" && e.Username != q.Username,
		e.Schemaname != "" && e.Schemaname != q.Schemaname,
		q.Addresses != nil && !(fits(q.Addresses.client, e.client) && fits(q.Addresses.proxy, e.proxy)),
		e.ProxyPort != None && e.ProxyPort != q.ProxyPort,
		e.HasDigest && e.Digest != q.Digest:
		return false
	}
	if e.MatchDigest != nil && !e.found(e.MatchDigest, q.DigestText) {
		return false
	}
	if e.MatchPattern == nil {
		return true
	}
	if !q.HasText {
		w.LackedText = true
		return false
	}
	w.SawText = true
	w.searched += len(w.Text)
	return e.found(e.MatchPattern, w.Text)
}

// found searches text. A rule whose expression gives up does not match, not even a negated one.
func (e *entry) found(re *pattern.Regexp, text []byte) bool {
	found, err := re.MatchErr(text)
	return err == nil && found != e.Negate
}

// hit does what a matched rule says and tells whether it set the flag.
func (w *Walk) hit(e *entry, loop *circle) (flagSet bool) {
	if len(w.Matched) < MaxMatchedRules {
		w.Matched = append(w.Matched, e.ID)
	} else {
		w.Truncated = true
	}
	switch {
	case e.FlagOut != None:
		w.Flag, flagSet = e.FlagOut, true
	case e.weights.total > 0:
		w.Flag, flagSet = e.weights.at(0), true
		if e.weights.random {
			w.Random = true
			w.Flag = e.weights.at(w.draws.below(e.weights.total))
			loop.unsteady = true
		}
	}
	w.Effects.override(&e.Effects)
	if e.Destination != None {
		w.Destination = e.Destination
	}
	if e.Replacement != nil && w.rewrite(e) {
		loop.unsteady = true
	}
	return flagSet
}

// rewrite replaces what the rule's match_pattern matches and tells whether the text changed.
func (w *Walk) rewrite(e *entry) bool {
	to := &w.texts[w.turn]
	out, changed := e.MatchPattern.Replace((*to)[:0], w.Text, e.Replacement, e.Global)
	*to = out
	if !changed || len(out) > w.limit || bytes.Equal(out, w.Text) {
		return false
	}
	w.turn = 1 - w.turn
	w.Text = out
	w.Rewritten = true
	return true
}

// circle finds out that a walk goes round in a circle. Without rewrites and draws a walk from the first rule depends
// on its flag alone, so a flag seen again means that whole rounds can be left out.
type circle struct {
	flag     int32  // the flag of the restart that later ones are compared with; None: there is none yet
	restarts uint32 // since that one
	patience uint32 // after so many a later one is compared with (Brent's way of finding circles)
	total    uint32
	unsteady bool // a rewrite or draw since the last restart
	skipped  bool
}

// restart is called at each restart, with the number of those still allowed, and tells whether it is to happen.
func (c *circle) restart(w *Walk, left *uint32) bool {
	c.total++
	if c.total > freeRestarts && w.searched > maxSearched {
		return false
	}
	if c.unsteady {
		c.unsteady = false
		c.flag = None
		return c.total <= maxUnsteadyRestarts
	}
	if c.skipped || !w.Truncated { // until then the hits are listed one by one
		return true
	}
	c.restarts++
	switch {
	case c.flag == None:
		c.flag, c.restarts, c.patience = w.Flag, 0, 1
	case c.flag == w.Flag:
		*left %= c.restarts
		c.skipped = true
	case c.restarts == c.patience:
		c.flag, c.restarts, c.patience = w.Flag, 0, 2*c.patience
	}
	return true
}
