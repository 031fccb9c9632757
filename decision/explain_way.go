package decision

import (
	"fmt"

	"github.com/pointsman/pointsman/decision/digest"
	"github.com/pointsman/pointsman/decision/rules"
)

// explainer goes a statement's way step by step.
type explainer struct {
	g    *Generation
	q    *Question
	user *User
	x    *Explanation

	attributes  rules.Attributes
	question    rules.Question
	walk        rules.Walk
	trace       rules.Trace
	mirrorTrace rules.Trace
	effects     Effects // of rules and annotations together
	commented   bool    // the first comment may hold annotations
	usesTime    bool    // a min_epoch_ms was read
	settings    settings
}

func (e *explainer) session() {
	sent := &e.q.Session
	s := &e.x.Session
	*s = ExplainedSession{
		Username: sent.Username, Schemaname: sent.Schemaname, ClientAddr: sent.ClientAddr, ProxyAddr: sent.ProxyAddr,
		ProxyPort: sent.ProxyPort, FlagIn: max(sent.NextQueryFlagIn, 0),
		DefaultHostgroup: e.user.DefaultHostgroup, FastForward: e.user.FastForward,
	}
	if s.Schemaname == "" {
		s.Schemaname, s.SchemaFrom = e.user.DefaultSchema, SchemaOfUser
	}
	if s.Schemaname == "" {
		s.Schemaname, s.SchemaFrom = *e.g.settings.DefaultSchema, SchemaOfSetting
	}
	e.destination(ReasonDefaultHostgroup, 0, e.user.DefaultHostgroup)
}

func (e *explainer) destination(by Reason, rule uint32, hostgroup int32) {
	e.x.Destinations = append(e.x.Destinations, DestinationStep{by, rule, hostgroup})
}

// fastForward is the way of users whose statements nothing looks at.
func (e *explainer) fastForward() {
	e.x.FastRoute.Skipped = "the user has fast_forward"
	e.x.Comment.Skipped = "the user has fast_forward"
	e.held()
	e.guideline()
	e.scope()
}

// way is the way of all other users' statements: the steps follow each other as in Route.
func (e *explainer) way() {
	var b digest.Buffer
	d := e.describe(&b)
	e.x.NotLoaded = e.g.notLoaded()
	e.walk.Seed(e.q.Seed)
	e.g.rules.WalkTraced(&e.question, &e.walk, &e.trace)
	teller := walkTeller{e.g, &e.attributes, &e.question, ^Field(0)}
	e.x.Walk = teller.tell(&e.walk, &e.trace)
	e.effects = e.walk.Effects
	e.settings.addWalk(e.x.Walk.Steps, &e.trace)
	e.walkDestinations(&e.walk, &e.trace, e.destination)
	e.fastRoute()
	e.comment(&d)
	e.answered()
	e.held()
	e.guideline()
	e.mirroredCopy()
	e.settings.resolve()
	e.scope()
}

// describe fills the walk's question and digests the statement.
func (e *explainer) describe(b *digest.Buffer) digest.Result {
	s, st := &e.x.Session, &e.q.Statement
	e.attributes = rules.Attributes{
		Username: s.Username, Schemaname: s.Schemaname, ClientAddr: s.ClientAddr, ProxyAddr: s.ProxyAddr, ProxyPort: int32(s.ProxyPort),
	}
	e.question = rules.Question{Session: e.g.rules.Resolve(&e.attributes), FlagIn: s.FlagIn, Iterations: e.g.iterations}
	if st.HasText {
		e.question.Text, e.question.HasText = st.Text, true
	}
	d := digest.Result{Hash: st.Digest, Text: st.DigestText}
	switch {
	case !e.g.digests:
		return digest.Result{}
	case st.HasText:
		d = digest.Compute(b, st.Text, &e.g.digestOptions)
	}
	e.question.Digest, e.question.DigestText = d.Hash, d.Text
	return d
}

// walkDestinations lists the rules that gave a destination.
func (e *explainer) walkDestinations(w *rules.Walk, t *rules.Trace, add func(by Reason, rule uint32, hostgroup int32)) {
	for i := range t.Steps {
		if s := &t.Steps[i]; s.Failed == 0 && s.Rule.Destination != None {
			add(ReasonRule, s.Rule.ID, s.Rule.Destination)
		}
	}
	if id := t.DroppedDestinationSetter(); id != 0 {
		add(ReasonRule, id, w.Destination)
	}
}

func (e *explainer) fastRoute() {
	f := &e.x.FastRoute
	switch {
	case e.walk.Stopped:
		steps := e.trace.Steps
		f.Skipped = fmt.Sprintf("rule %d stopped the walk (apply)", steps[len(steps)-1].Rule.ID)
		return
	case e.g.fastRoutes.Len() == 0:
		f.Skipped = "the configuration has none"
		return
	}
	for _, name := range [...]string{e.user.Username, ""} {
		key := FastRouteKey{name, e.x.Session.Schemaname, e.walk.Flag, false, None}
		if e.g.fastRoutes.Has(key.Username, key.Schemaname, key.FlagIn) {
			key.Hostgroup, key.Found = e.g.fastRoutes.Lookup(key.Username, key.Schemaname, key.FlagIn)
			e.destination(ReasonFastRoute, 0, key.Hostgroup)
			e.settings.overridden(columnDestination, "a fast route")
		}
		f.Keys = append(f.Keys, key)
		if key.Found {
			break
		}
	}
}

// answered lets an OK or error message take the place of the destination.
func (e *explainer) answered() {
	for _, f := range [...]Field{OKMsg, ErrorMsg} {
		if !e.effects.Has(f) {
			continue
		}
		column := nameOf(f)
		e.destination(ReasonAnswered, e.settings.last(column).rule, None)
		e.settings.overridden(columnDestination, column)
		if f == OKMsg {
			e.settings.overridden(nameOf(ErrorMsg), column)
		}
		return
	}
}

// held lets a lock or transaction take the place of the destination, unless the statement is answered.
func (e *explainer) held() {
	by, hostgroup, name := ReasonLocked, e.q.Session.LockedHostgroup, "the session's lock"
	if hostgroup < 0 {
		by, hostgroup, name = ReasonTransaction, e.q.Session.TransactionHostgroup, "the open transaction"
	}
	if last := e.x.lastDestination(); hostgroup >= 0 && last.By != ReasonAnswered {
		e.destination(by, 0, hostgroup)
		e.settings.overridden(columnDestination, name)
	}
}
