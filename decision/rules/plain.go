package rules

import "github.com/pointsman/pointsman/decision/pattern"

// WalkPlain gives what Walk gives by testing one rule after the other. It is the reference that Walk is held to.
func (s *Set) WalkPlain(q *Question, w *Walk) { s.walkPlain(q, w, nil, false) }

// WalkTraced is WalkPlain and writes its steps down in t.
func (s *Set) WalkTraced(q *Question, w *Walk, t *Trace) { s.walkPlain(q, w, t, true) }

// walkPlain does not write down anything without a trace. See search for trusting.
func (s *Set) walkPlain(q *Question, w *Walk, t *Trace, trusting bool) {
	w.reset(q)
	left := q.Iterations
	loop := circle{flag: None}
	client, proxy := Address{Text: q.Session.ClientAddr}, Address{Text: q.Session.ProxyAddr}
	for i := 0; i < len(s.entries); i++ {
		e := &s.entries[i]
		if failed, gaveUp := s.firstFailed(e, q, w, &client, &proxy, trusting); failed != 0 {
			t.missed(e, w, failed, gaveUp)
			continue
		}
		flag, text := w.Flag, w.Text
		flagSet := w.hit(e, &loop)
		t.matched(e, w, flag, text)
		if e.Apply {
			w.Stopped = true
			t.stopped(s.entries[i+1:])
			return
		}
		if !flagSet || left == 0 {
			continue
		}
		left--
		if loop.restart(w, &left) {
			t.restarted()
			i = -1
		}
	}
}

// firstFailed tests a rule's predicates in ProxySQL's order and gives the first that fails, 0 when all hold. gaveUp tells
// that it failed because its expression took too many steps.
func (s *Set) firstFailed(e *entry, q *Question, w *Walk, client, proxy *Address, trusting bool) (p Predicate, gaveUp bool) {
	session := q.Session
	switch {
	case e.FlagIn != w.Flag:
		return PredicateFlagIn, false
	case e.Username != "" && e.Username != session.Username:
		return PredicateUsername, false
	case e.Schemaname != "" && e.Schemaname != session.Schemaname:
		return PredicateSchemaname, false
	case e.ClientAddr != nil && client.Text != "" && !e.ClientAddr.Match(client):
		return PredicateClientAddr, false
	case e.ProxyAddr != nil && proxy.Text != "" && !e.ProxyAddr.Match(proxy):
		return PredicateProxyAddr, false
	case e.ProxyPort != None && e.ProxyPort != session.ProxyPort:
		return PredicateProxyPort, false
	case e.HasDigest && e.Digest != q.Digest:
		return PredicateDigest, false
	}
	if e.MatchDigest != nil {
		x := expression{e.MatchDigest, e.digestID, s.digests, &w.digest}
		if holds, gaveUp := w.search(&x, q.DigestText, e.Negate, trusting); !holds {
			return PredicateMatchDigest, gaveUp
		}
	}
	if e.MatchPattern == nil {
		return 0, false
	}
	if !q.HasText {
		w.LackedText = true
		return PredicateMatchPattern, false
	}
	w.SawText = true
	x := expression{e.MatchPattern, e.patternID, s.patterns, &w.text}
	if holds, gaveUp := w.search(&x, w.Text, e.Negate, trusting); !holds {
		return PredicateMatchPattern, gaveUp
	}
	return 0, false
}

// expression is one of a rule's expressions, and the set that it may be in.
type expression struct {
	*pattern.Regexp
	id   int // in set, or -1
	set  *pattern.Set
	scan *scan // of the text by set
}

// search tells whether an expression, negated or not, holds for a text. One that takes too many steps does not hold, not
// even negated. An expression that a set takes is matched by itself all the same, so that Walk is held to what each
// rule says alone; a trusting walk believes the set, so that it costs little more than Walk.
func (w *Walk) search(x *expression, text []byte, negate, trusting bool) (holds, gaveUp bool) {
	if x.id < 0 || x.scan.over(x.set, text).GaveUp {
		found, err := x.MatchWithin(text, &w.steps)
		return err == nil && found != negate, err != nil
	}
	if w.steps <= 0 {
		return false, true
	}
	if !trusting {
		// The expression's own bound does not count, the set has found it without.
		if found, err := x.MatchErr(text); err == nil {
			return found != negate, false
		}
	}
	return x.scan.found.Has(x.id) != negate, false
}
