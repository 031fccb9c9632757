package decision

import (
	"bytes"
	"math"

	"github.com/pointsman/pointsman/decision/digest"
	"github.com/pointsman/pointsman/decision/rules"
)

// maxProxyPort is the highest port.
const maxProxyPort = math.MaxUint16

// scratch is what Route works with; it lives in the Answer, so that a warm one needs no memory.
type scratch struct {
	question    rules.Question
	walk        rules.Walk
	annotations rules.Annotations
	digest      digest.Buffer
	digestText  []byte

	mirrored     bool // mirrorWalk is this question's
	mirrorWalk   rules.Walk
	mirrorDigest digest.Buffer

	guided guidedSession
}

// Route decides one statement and overwrites a with the answer. The only error is a *QuestionError; a is then of no
// use. Rules, fast routes, annotations and the default hostgroup follow each other as in ProxySQL; a lock or
// transaction then keeps its hostgroup, while everything else of the answer still counts; and where all that ends in one of
// the guideline's hostgroups, its route stands in for it.
func (g *Generation) Route(q *Question, a *Answer) error {
	c, err := g.classOf(q, &a.scratch.guided)
	if err != nil {
		return err
	}
	if err := check(q); err != nil {
		return err
	}
	s := &a.scratch
	a.reset(g.number)
	a.Cookie = append(a.Cookie[:0], c.cookie...)

	if c.user.FastForward {
		s.walk.Clear()
		a.FinalFlagIn = c.key.flagIn
		a.settle(q, c.user.DefaultHostgroup, ReasonDefaultHostgroup)
		g.guided(c, a)
		a.CacheScope = g.scope(q, c, a, false, false)
		return nil
	}

	s.question = rules.Question{Session: c.session, FlagIn: c.key.flagIn, Iterations: g.iterations}
	comment := g.digest(&q.Statement, a)
	s.walk.Seed(q.Seed)
	g.walk(&s.question, &s.walk)
	destination, reason := g.destination(c, a)
	commented := rules.HasAnnotation(comment)
	annotated := commented && g.annotations
	if annotated {
		s.annotations.Parse(comment, q.NowMS)
		s.annotations.Apply(&a.Effects)
		a.IgnoredAnnotations = s.annotations.Ignored
		if s.annotations.Destination != None {
			destination, reason = s.annotations.Destination, ReasonAnnotation
		}
	}
	a.settle(q, destination, reason)
	g.guided(c, a)

	// Several rewrites may lead back to where they began.
	if s.walk.Rewritten && q.Statement.Command != Execute && !bytes.Equal(s.walk.Text, q.Statement.Text) {
		a.Rewritten, a.IsRewritten = s.walk.Text, true
	}
	g.mirror(c, q.Seed, a)
	a.ExecuteNeedsText = q.Statement.Command == Prepare && (annotated || g.rules.LooksAtText())
	a.CacheScope = g.scope(q, c, a, commented, annotated && s.annotations.UsesTime)
	return nil
}

func (g *Generation) walk(q *rules.Question, w *rules.Walk) {
	if g.plain {
		g.rules.WalkPlain(q, w)
		return
	}
	g.rules.Walk(q, w)
}

// check finds what is wrong with a question but for its username.
func check(q *Question) error {
	switch {
	case q.Session.ProxyPort > maxProxyPort:
		return &QuestionError{"session.proxy_port", "is above 65535"}
	case q.Statement.Command > Execute:
		return &QuestionError{"statement.command", "is unknown"}
	case q.Statement.HasText:
		return nil
	case !q.Statement.HasDigest:
		return &QuestionError{"statement", "has neither a text nor a digest"}
	case q.Statement.Command != Execute:
		return &QuestionError{"statement", "has no text; a digest alone is enough for EXECUTE only"}
	}
	return nil
}

// reset clears everything but the buffers.
func (a *Answer) reset(generation uint64) {
	a.Generation = generation
	a.FinalFlagIn = 0
	a.FastRoute = false
	a.MatchedRules, a.MatchedRulesTruncated = a.MatchedRules[:0], false
	a.HasDigest, a.Digest, a.DigestText = false, 0, nil
	a.Rewritten, a.IsRewritten = nil, false
	a.ExecuteNeedsText = false
	a.HasMirror = false
	a.Mirror.DestinationHostgroup, a.Mirror.MatchedRules = None, a.Mirror.MatchedRules[:0]
	a.IgnoredAnnotations, a.TooComplex = 0, false
	if a.HasGuideline {
		a.HasGuideline, a.Guideline = false, Choice{}
	}
	a.Effects = Effects{}
	a.scratch.mirrored = false
}

// digest fills the statement's part of the walk's question and gives the first comment.
func (g *Generation) digest(st *Statement, a *Answer) (comment []byte) {
	s := &a.scratch
	if st.HasText {
		s.question.Text, s.question.HasText = st.Text, true
	}
	if !g.digests {
		return nil
	}
	if st.HasText {
		r := digest.Compute(&s.digest, st.Text, &g.digestOptions)
		a.Digest, a.DigestText, comment = r.Hash, r.Text, r.FirstComment
	} else {
		s.digestText = append(s.digestText[:0], st.DigestText...)
		a.Digest, a.DigestText = st.Digest, s.digestText
	}
	a.HasDigest = true
	s.question.Digest, s.question.DigestText = a.Digest, a.DigestText
	return comment
}

// destination takes over what the walk says, and then a fast route unless a matched rule stopped the walk.
func (g *Generation) destination(c *class, a *Answer) (int32, Reason) {
	w := &a.scratch.walk
	a.Effects = w.Effects
	a.FinalFlagIn = w.Flag
	a.MatchedRules = append(a.MatchedRules, w.Matched...)
	a.MatchedRulesTruncated = w.Truncated
	a.TooComplex = w.TooComplex
	if !w.Stopped {
		hostgroup, ok := g.fastRoutes.LookupIDs(c.fastUser, c.fastSchema, w.Flag)
		if ok {
			a.FastRoute = true
			return hostgroup, ReasonFastRoute
		}
	}
	if w.Destination != None {
		return w.Destination, ReasonRule
	}
	return c.user.DefaultHostgroup, ReasonDefaultHostgroup
}

// settle sets the destination, unless the statement is answered without one or the session is held elsewhere.
func (a *Answer) settle(q *Question, destination int32, reason Reason) {
	switch {
	case a.Set&(OKMsg|ErrorMsg) != 0:
		destination, reason = None, ReasonAnswered
	case q.Session.LockedHostgroup >= 0:
		destination, reason = q.Session.LockedHostgroup, ReasonLocked
	case q.Session.TransactionHostgroup >= 0:
		destination, reason = q.Session.TransactionHostgroup, ReasonTransaction
	}
	a.DestinationHostgroup, a.Reason = destination, reason
}

// scope says how far the answer holds. The walk is a function of the session's class and of what it looked at, so an
// answer that saw no text holds for every statement of the same digest text. commented tells whether the first comment
// may hold annotations; by ScopeDigest's terms the answer is then good for its text alone, even if none was read. timed
// tells whether one of them depends on the time.
func (g *Generation) scope(q *Question, c *class, a *Answer, commented, timed bool) CacheScope {
	s := &a.scratch
	if a.Reason == ReasonLocked || a.Reason == ReasonTransaction || timed {
		return ScopeNone
	}
	// The cookie keeps no refusal by a rule that failed, so the next statement may draw a number that comes to a route.
	if a.Reason == ReasonGuideline && c.key.chosen.route == None && q.Session.RandomDrawn {
		return ScopeNone
	}
	// Without a digest only the text tells statements apart. A digest text of the full length may be the beginning of
	// another one with the same hash.
	text := commented || !a.HasDigest || len(a.DigestText) >= g.digestOptions.MaxDigestLength
	walks := [...]*rules.Walk{&s.walk, &s.mirrorWalk}
	n := 1
	if s.mirrored {
		n = 2
	}
	for _, w := range walks[:n] {
		if w.Random || w.LackedText {
			return ScopeNone
		}
		text = text || w.SawText
	}
	switch {
	case !text:
		return ScopeDigest
	case q.Statement.HasText:
		return ScopeText
	}
	return ScopeNone
}
