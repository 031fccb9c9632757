package decision

import (
	"github.com/pointsman/pointsman/decision/digest"
	"github.com/pointsman/pointsman/decision/rules"
)

// mirroredCopy goes the way of the mirrored copy, if there is one: see Generation.mirror.
func (e *explainer) mirroredCopy() {
	if e.effects.Set&(OKMsg|ErrorMsg) != 0 || e.effects.Set&(MirrorHostgroup|MirrorFlagOut) == 0 {
		return
	}
	m := &ExplainedMirror{Destinations: []DestinationStep{{ReasonDefaultHostgroup, 0, e.user.DefaultHostgroup}}}
	e.x.Mirror = m
	add := func(by Reason, rule uint32, hostgroup int32) {
		m.Destinations = append(m.Destinations, DestinationStep{by, rule, hostgroup})
	}
	if e.effects.Has(MirrorHostgroup) {
		by := ReasonRule
		source := e.settings.last(nameOf(MirrorHostgroup))
		if source.rule == 0 {
			by = ReasonAnnotation
		}
		add(by, source.rule, e.effects.MirrorHostgroup)
	}
	if !e.effects.Has(MirrorFlagOut) {
		return
	}
	var w rules.Walk
	set := e.walkMirror(m, &w)
	e.walkDestinations(&w, &e.mirrorTrace, add)
	for _, f := range [...]Field{OKMsg, ErrorMsg} {
		if w.Effects.Has(f) {
			column := nameOf(f)
			add(ReasonAnswered, set.last(column).rule, None)
			set.overridden(columnDestination, column)
			break
		}
	}
	set.resolve()
}

// walkMirror walks the rules for the copy and gives what they set.
func (e *explainer) walkMirror(m *ExplainedMirror, w *rules.Walk) *settings {
	var b digest.Buffer
	attributes := rules.Attributes{Username: e.attributes.Username, Schemaname: e.attributes.Schemaname}
	q := e.question
	q.Session = e.g.rules.Resolve(&attributes)
	q.FlagIn = e.effects.MirrorFlagOut
	if e.walk.Rewritten {
		q.Text = e.walk.Text
		if e.g.digests {
			d := digest.Compute(&b, q.Text, &e.g.digestOptions)
			q.Digest, q.DigestText = d.Hash, d.Text
		}
	}
	w.Seed(^e.q.Seed)
	e.g.rules.WalkTraced(&q, w, &e.mirrorTrace)
	teller := walkTeller{e.g, &attributes, &q, OKMsg | ErrorMsg}
	m.Walked, m.Walk = true, teller.tell(w, &e.mirrorTrace)
	set := &settings{}
	set.addWalk(m.Walk.Steps, &e.mirrorTrace)
	return set
}
