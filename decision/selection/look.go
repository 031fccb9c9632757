package selection

// tally is what a view comes to. Candidates of weight 0 count, though they are never drawn.
type tally struct {
	online     int // servers, candidates or not
	candidates int
	weight     uint64 // of all candidates
	latency    uint64 // us, of all candidates
	measured   int    // candidates of known latency
	lagging    bool   // some candidate is an Aurora replica with lag
}

func (v *view) tally(cands []Candidate) tally {
	var t tally
	for i := range cands {
		c := &cands[i]
		k := v.check(i, c)
		if c.Status == Online || isBack(c, k) {
			t.online++
		}
		if k != Passed {
			continue
		}
		t.candidates++
		t.weight += uint64(c.Weight)
		t.latency += c.CurrentLatencyUS
		if c.CurrentLatencyUS > 0 {
			t.measured++
		}
		t.lagging = t.lagging || c.AuroraLagUS > 0
	}
	return t
}

// look goes through the steps in ProxySQL's order and gives the final view with its tally.
func look(cands []Candidate, l *Limits, excluded Set) (view, tally) {
	v := view{limits: l, excluded: excluded, bounds: l.bounds()}
	t := v.tally(cands)
	if v.overfull(&t) {
		return v, t
	}
	if l.HasMaxLag && l.MaxLagMS > 0 && l.AuroraReplicas > 0 && t.candidates >= int(l.AuroraReplicas) && t.lagging {
		v.noWriter = true
		t = v.tally(cands)
	}
	if t.weight == 0 {
		v.desperate = true
		if t = v.tally(cands); t.weight == 0 || v.overfull(&t) {
			return v, t
		}
	}
	if l.LatencyAwareness > 0 && t.candidates >= int(l.LatencyAwareness) && t.measured == t.candidates {
		all := t
		v.mean = t.latency / uint64(t.candidates)
		if t = v.tally(cands); t.weight == 0 { // None of the faster ones may be drawn: better a slow one than none.
			v.mean = 0
			return v, all
		}
	}
	return v, t
}

// overfull guards against a split brain: when more servers are ONLINE than may be, counting those that just came back,
// nobody is eligible.
func (v *view) overfull(t *tally) bool {
	if t.online <= int(v.limits.MaxNumOnlineServers) {
		return false
	}
	v.tooMany = true
	t.candidates, t.weight = 0, 0
	return true
}
