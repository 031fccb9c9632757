package rules

// course is what lies ahead of a walk: candidates that fit by everything but the expressions to be looked at there.
type course struct {
	certain sources // reached whatever the expressions say
	digest  ahead   // rules with a positive match_digest, which count if the digest text has it
	text    ahead   // rules with a positive match_pattern alone
	near    []place
}

// ahead are rules that depend on one pass over a text. Until there was one they are all ahead of a walk that they fit,
// then those whose expression was found.
type ahead struct {
	reach sources
	found sources
	near  []place
	over  bool // none of them can match any more
}

func (a *ahead) begin(reach *places) {
	if a.over = reach.none(); !a.over {
		a.reach = a.reach[:0].addAll(reach)
	}
}

// collect takes over the rules of the expressions that were found.
func (a *ahead) collect(x *index, ids []int32, anchors []anchor, s *Session) {
	near, far := a.near[:0], a.found[:0]
	for _, id := range ids {
		near, far = x.collect(anchors[id], s, near, far)
	}
	a.near, a.found = near, far.add(sorted(near))
}

// Walk evaluates the rules in order of rule_id. Later matches override earlier ones field by field. Its cost depends on
// the rules that fit, not on how many there are.
func (s *Set) Walk(q *Question, w *Walk) {
	w.reset(q)
	draws := w.draws
	if !s.follow(q, w) {
		digest, text := w.digest.done, w.text.done && !w.Rewritten
		w.reset(q)
		w.draws = draws
		w.digest.done, w.text.done = digest, text // These passes need not be made again.
		s.walkPlain(q, w, nil, true)
	}
}

// follow goes from candidate to candidate. It is not ok if a text is too much for one pass.
func (s *Set) follow(q *Question, w *Walk) (ok bool) {
	s.begin(q, w)
	left := q.Iterations
	loop := circle{flag: None}
	at := placeOf(w.Flag, 0)
	for {
		next, ok := s.next(q, w, at)
		if !ok || next == nowhere {
			return ok
		}
		b, e := &s.briefs[next.index()], &s.entries[next.index()]
		at = next + 1
		if b.traits.has(hasMatchDigest | hasMatchPattern) {
			fits, ok := s.fits(b, e, q, w)
			if !ok {
				return false
			}
			if !fits {
				continue
			}
		}
		flagSet := w.obey(b, e, &loop)
		if b.traits.has(applies) {
			w.Stopped = true
			return true
		}
		if !flagSet {
			continue
		}
		at = placeOf(w.Flag, at.index())
		if left > 0 {
			left--
			if loop.restart(w, &left) {
				at = placeOf(w.Flag, 0)
			}
		}
	}
}

func (s *Set) begin(q *Question, w *Walk) {
	c := &w.course
	c.certain = c.certain[:0].addAll(&q.Session.plain)
	c.digest.begin(&q.Session.digestReach)
	c.text.begin(&q.Session.textReach)
	if s.index.hasDigests {
		if a := anchor(s.index.byDigest.get(q.Digest)); a != 0 {
			c.near, c.certain = s.index.collect(a, q.Session, c.near[:0], c.certain)
			c.certain = c.certain.add(sorted(c.near))
		}
	}
}

// next gives the next candidate from a place on. It searches a text when it comes to a rule that depends on it.
func (s *Set) next(q *Question, w *Walk, at place) (next place, ok bool) {
	c := &w.course
	end := at | (1<<32 - 1) // of the chain
	next = min(c.certain.next(at), end)
	if !c.digest.over {
		if !w.digest.done && c.digest.reach.next(at) < next && !s.searchDigest(q, w) {
			return nowhere, false
		}
		if w.digest.done {
			next = min(next, c.digest.found.next(at))
		}
	}
	if !c.text.over {
		if !w.text.done && c.text.reach.next(at) < next {
			w.SawText = w.SawText || q.HasText
			w.LackedText = !q.HasText
			if !q.HasText {
				c.text.over = true
			} else if over, ok := s.searchText(q, w); !ok {
				return nowhere, false
			} else if over {
				c.text.over = true
			}
		}
		if w.text.done {
			next = min(next, c.text.found.next(at))
		}
	}
	if next == end {
		next = nowhere
	}
	return next, true
}

// searchDigest makes the one pass over the digest text. It is not ok if that is too much.
func (s *Set) searchDigest(q *Question, w *Walk) (ok bool) {
	if w.digest.done {
		return !w.digest.found.GaveUp
	}
	found := w.scanDigest(s.digests, q.DigestText)
	w.course.digest.collect(s.index, found.IDs, s.index.byMatch, q.Session)
	return !found.GaveUp
}

// searchText makes the one pass over the text, and again when it was rewritten, unless the steps for that are over. It is
// not ok if the pass is too much.
func (s *Set) searchText(q *Question, w *Walk) (over, ok bool) {
	if w.text.done {
		return false, !w.text.found.GaveUp
	}
	found := w.scanText(s.patterns)
	if found == nil {
		w.TooComplex = true
		return true, true
	}
	w.course.text.collect(s.index, found.IDs, s.index.byPattern, q.Session)
	return false, !found.GaveUp
}

// fits tests the expressions of a candidate.
func (s *Set) fits(b *brief, e *entry, q *Question, w *Walk) (fits, ok bool) {
	if b.traits.has(hasMatchDigest) {
		switch {
		case b.digestID < 0:
			fits, _ = w.alone(e.MatchDigest, q.DigestText, e.Negate)
		case !s.searchDigest(q, w):
			return false, false
		default:
			fits = w.digest.found.Has(b.digestID) != b.traits.has(negates)
		}
		if !fits {
			return false, true
		}
	}
	if !b.traits.has(hasMatchPattern) {
		return true, true
	}
	if !q.HasText {
		w.LackedText = true
		return false, true
	}
	w.SawText = true
	if b.patternID < 0 {
		fits, _ = w.alone(e.MatchPattern, w.Text, e.Negate)
		return fits, true
	}
	if over, ok := s.searchText(q, w); over || !ok {
		return false, ok
	}
	return w.text.found.Has(b.patternID) != b.traits.has(negates), true
}
