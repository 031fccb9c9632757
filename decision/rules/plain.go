package rules

import "github.com/pointsman/pointsman/decision/pattern"

// WalkPlain gives what Walk gives by testing one rule after the other. It is the reference that Walk is held to.
func (s *Set) WalkPlain(q *Question, w *Walk) {
	w.reset(q)
	s.walkPlain(q, w, nil, false)
}

// WalkTraced is WalkPlain and writes its steps down in t.
func (s *Set) WalkTraced(q *Question, w *Walk, t *Trace) {
	w.reset(q)
	s.walkPlain(q, w, t, true)
}

// walkPlain walks from the beginning. It does not write down anything without a trace. See digestHolds for trusting.
func (s *Set) walkPlain(q *Question, w *Walk, t *Trace, trusting bool) {
	left := q.Iterations
	loop := circle{flag: None}
	client, proxy := Address{Text: q.Session.ClientAddr}, Address{Text: q.Session.ProxyAddr}
	for i := 0; i < len(s.entries); i++ {
		e := &s.entries[i]
		if failed, lack := s.firstFailed(e, q, w, &client, &proxy, trusting); failed != 0 {
			t.missed(e, w, failed, lack)
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

// firstFailed tests a rule's predicates in ProxySQL's order and gives the first that fails, 0 when all hold. lack tells
// whether it failed because its expression has no outcome.
func (s *Set) firstFailed(e *entry, q *Question, w *Walk, client, proxy *Address, trusting bool) (p Predicate, lack Lack) {
	session := q.Session
	switch {
	case e.FlagIn != w.Flag:
		return PredicateFlagIn, LackNone
	case e.Username != "" && e.Username != session.Username:
		return PredicateUsername, LackNone
	case e.Schemaname != "" && e.Schemaname != session.Schemaname:
		return PredicateSchemaname, LackNone
	case e.ClientAddr != nil && client.Text != "" && !e.ClientAddr.Match(client):
		return PredicateClientAddr, LackNone
	case e.ProxyAddr != nil && proxy.Text != "" && !e.ProxyAddr.Match(proxy):
		return PredicateProxyAddr, LackNone
	case e.ProxyPort != None && e.ProxyPort != session.ProxyPort:
		return PredicateProxyPort, LackNone
	case e.HasDigest && e.Digest != q.Digest:
		return PredicateDigest, LackNone
	}
	if e.MatchDigest != nil {
		if holds, lack := s.digestHolds(e, q, w, trusting); !holds {
			return PredicateMatchDigest, lack
		}
	}
	if e.MatchPattern == nil {
		return 0, LackNone
	}
	if !q.HasText {
		w.LackedText = true
		return PredicateMatchPattern, LackNone
	}
	w.SawText = true
	if holds, lack := s.patternHolds(e, w, trusting); !holds {
		return PredicateMatchPattern, lack
	}
	return 0, LackNone
}

// digestHolds tells whether a rule's match_digest, negated or not, holds, or why it has no outcome. An expression that a
// set takes is matched by itself all the same, so that Walk is held to what each rule says alone; a trusting walk
// believes the set, so that it costs little more than Walk.
func (s *Set) digestHolds(e *entry, q *Question, w *Walk, trusting bool) (holds bool, lack Lack) {
	if e.digestID < 0 {
		return w.alone(e.MatchDigest, q.DigestText, e.Negate)
	}
	return w.holds(e.MatchDigest, e.digestID, w.scanDigest(s.digests, q.DigestText), q.DigestText, e.Negate, trusting)
}

// patternHolds is digestHolds for a rule's match_pattern.
func (s *Set) patternHolds(e *entry, w *Walk, trusting bool) (holds bool, lack Lack) {
	if e.patternID < 0 {
		return w.alone(e.MatchPattern, w.Text, e.Negate)
	}
	found := w.scanText(s.patterns)
	if found == nil {
		w.TooComplex = true
		return false, LackOfOthers
	}
	return w.holds(e.MatchPattern, e.patternID, found, w.Text, e.Negate, trusting)
}

// holds tells whether an expression that a set takes holds for a text, from what the set's pass has found.
func (w *Walk) holds(re *pattern.Regexp, id int, found *pattern.Found, text []byte, negate, trusting bool) (bool, Lack) {
	if !found.Knows(id) {
		return w.alone(re, text, negate)
	}
	if !trusting {
		// The expression's own bound does not count, the set has found it without.
		if found, err := re.MatchErr(text); err == nil {
			return found != negate, LackNone
		}
	}
	return found.Has(id) != negate, LackNone
}
