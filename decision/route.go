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
	addresses   rules.Matches
	annotations rules.Annotations
	digest      digest.Buffer
	digestText  []byte
	class       []byte

	mirrorWalk   rules.Walk
	mirrorDigest digest.Buffer
}

// Route decides one statement and overwrites a with the answer. The only error is a *QuestionError; a is then of no
// use. Rules, fast routes, annotations and the default hostgroup follow each other as in ProxySQL; a lock or
// transaction then keeps its hostgroup, while everything else of the answer still counts.
func (g *Generation) Route(q *Question, a *Answer) error {
	user, err := g.check(q)
	if err != nil {
		return err
	}
	s := &a.scratch
	a.reset(g.number)
	g.describe(&q.Session, user, s)
	s.class = g.appendClass(s.class[:0], s)
	a.Cookie = appendCookie(a.Cookie[:0], g.number, s.class)

	if user.FastForward {
		a.FinalFlagIn = s.question.FlagIn
		a.settle(q, user.DefaultHostgroup, ReasonDefaultHostgroup)
		a.CacheScope = g.scope(q, a, false)
		return nil
	}

	comment := g.digest(&q.Statement, a)
	s.walk.Seed(q.Seed)
	g.rules.Walk(&s.question, &s.walk)
	destination, reason := g.destination(user, a)
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

	// Several rewrites may lead back to where they began.
	if s.walk.Rewritten && q.Statement.Command != Execute && !bytes.Equal(s.walk.Text, q.Statement.Text) {
		a.Rewritten, a.IsRewritten = s.walk.Text, true
	}
	g.mirror(user, q.Seed, a)
	a.ExecuteNeedsText = q.Statement.Command == Prepare && (annotated || g.rules.LooksAtText())
	a.CacheScope = g.scope(q, a, commented)
	return nil
}

func (g *Generation) check(q *Question) (*User, error) {
	user, ok := g.byName[q.Session.Username]
	switch {
	case !ok && q.Session.Username == "":
		return nil, &QuestionError{"session.username", "is empty; name the MySQL user"}
	case !ok:
		return nil, &QuestionError{"session.username", "is not an active user of this generation"}
	case q.Session.ProxyPort > maxProxyPort:
		return nil, &QuestionError{"session.proxy_port", "is above 65535"}
	case q.Statement.Command > Execute:
		return nil, &QuestionError{"statement.command", "is unknown"}
	case q.Statement.HasText:
		return user, nil
	case !q.Statement.HasDigest:
		return nil, &QuestionError{"statement", "has neither a text nor a digest"}
	case q.Statement.Command != Execute:
		return nil, &QuestionError{"statement", "has no text; a digest alone is enough for EXECUTE only"}
	}
	return user, nil
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
	a.IgnoredAnnotations = 0
	a.Effects = Effects{}
	a.scratch.annotations.Parse(nil, 0)
	a.scratch.walk.Clear()
	a.scratch.mirrorWalk.Clear()
}

// describe fills the session's part of the walk's question.
func (g *Generation) describe(session *Session, user *User, s *scratch) {
	schemaname := session.Schemaname
	if schemaname == "" {
		schemaname = user.DefaultSchema
	}
	if schemaname == "" {
		schemaname = *g.settings.DefaultSchema
	}
	g.rules.MatchAddresses(&s.addresses, session.ClientAddr, session.ProxyAddr)
	s.question = rules.Question{
		Username:   session.Username,
		Schemaname: schemaname,
		Addresses:  &s.addresses,
		ProxyPort:  int32(session.ProxyPort),
		FlagIn:     max(session.NextQueryFlagIn, 0),
		Iterations: g.iterations,
	}
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
func (g *Generation) destination(user *User, a *Answer) (int32, Reason) {
	w := &a.scratch.walk
	a.Effects = w.Effects
	a.FinalFlagIn = w.Flag
	a.MatchedRules = append(a.MatchedRules, w.Matched...)
	a.MatchedRulesTruncated = w.Truncated
	if !w.Stopped {
		hostgroup, ok := g.fastRoutes.Lookup(user.Username, a.scratch.question.Schemaname, w.Flag)
		if ok {
			a.FastRoute = true
			return hostgroup, ReasonFastRoute
		}
	}
	if w.Destination != None {
		return w.Destination, ReasonRule
	}
	return user.DefaultHostgroup, ReasonDefaultHostgroup
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
// may hold annotations; by ScopeDigest's terms the answer is then good for its text alone, even if none was read.
func (g *Generation) scope(q *Question, a *Answer, commented bool) CacheScope {
	s := &a.scratch
	if a.Reason == ReasonLocked || a.Reason == ReasonTransaction || s.annotations.UsesTime {
		return ScopeNone
	}
	// Without a digest only the text tells statements apart. A digest text of the full length may be the beginning of
	// another one with the same hash.
	text := commented || !a.HasDigest || len(a.DigestText) >= g.digestOptions.MaxDigestLength
	for _, w := range [...]*rules.Walk{&s.walk, &s.mirrorWalk} {
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
