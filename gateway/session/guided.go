package session

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/guideline"
	"github.com/pointsman/pointsman/gateway/snapshot"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// randomValue draws what guidelines see as $.session.randomValue.
func randomValue() float64 { return rand.Float64() } //nolint:gosec // a share of sessions, no secret

// look takes over what a new snapshot says of the session's listener.
func (s *session) look(snap *snapshot.Snapshot) {
	if s.looked && s.serial == snap.Serial {
		return
	}
	s.looked, s.serial = true, snap.Serial
	view := snap.View(s.listener)
	s.route.Router = view.Message
	if s.route.RouterKey != view.Key {
		s.route.RouterKey = view.Key
		s.route.Changed()
	}
}

// refused tells whether a guideline has refused the session. Such an answer has no hostgroup, so it does not say where the
// statement would go under another guideline.
func refused(a *decisionv1.RouteStatementResponse) bool {
	return a.GetGuideline() != nil && a.GetGuideline().GetRoute() == ""
}

// outdated tells whether an answer is a refusal by a guideline older than the snapshot's.
func outdated(a *decisionv1.RouteStatementResponse, snap *snapshot.Snapshot) bool {
	return refused(a) && a.GetGeneration() < snap.Generation
}

// choose finds the place that a statement's answer leads to by a snapshot. Answers that are older than the snapshot, or
// that nobody was asked for, do not know its guideline: then the gateway chooses itself, so that statements that wait follow
// a new guideline, and sessions stay on their route while the decision service is away. A refusal stays one: only another
// answer can take it back.
func (s *session) choose(ctx context.Context, st *statement, snap *snapshot.Snapshot) {
	a, g := st.answer, st.answer.GetGuideline()
	old := a.GetGeneration() < snap.Generation && !refused(a)
	st.at = place{snap: snap, hostgroup: s.route.DefaultHostgroup}
	if a.DestinationHostgroup != nil {
		st.at.hostgroup = a.GetDestinationHostgroup()
	}
	switch {
	case old && snap.GuideProblem() != nil:
		st.at.pools = g.GetPools() // nothing can be drawn from them: the client is told why
	case old && a.DestinationHostgroup != nil:
		if c := s.chooseHere(snap, st.at.hostgroup); c.Mode != 0 {
			st.at.pools, st.at.refusal = c.Pools, c.Refusal
			s.routed(ctx, c.Name, modeNames[modes[c.Mode]])
		}
	case old, g == nil:
	default:
		s.obeyGuideline(a, &st.at)
		s.routed(ctx, g.GetRoute(), modeNames[g.GetMode()])
	}
}

// obeyGuideline takes over what an answer says that is no older than the snapshot. A newer guideline's pools can be drawn from
// only where the snapshot's guideline leads to those of the same names: then the statement goes where that one sends it.
func (s *session) obeyGuideline(a *decisionv1.RouteStatementResponse, at *place) {
	g := a.GetGuideline()
	switch {
	case g.GetRoute() != "":
		at.pools = g.GetPools()
		if a.GetGeneration() > at.snap.Generation && !slices.Equal(at.pools, s.chooseHere(at.snap, at.hostgroup).Pools) {
			at.awaited = a.GetGeneration()
		}
	case a.ErrorMsg != nil:
		at.refusal = a.GetErrorMsg()
	default:
		at.refusal = "the routing guideline has no route for this session"
	}
}

// chooseHere asks a snapshot's guideline where statements of a hostgroup go. The zero value: it says nothing of them.
func (s *session) chooseHere(snap *snapshot.Snapshot, hostgroup int32) (c decision.Choice) {
	guide := snap.Guide()
	if guide == nil || !guide.Bound(hostgroup) {
		return c
	}
	view := snap.View(s.listener)
	facts := guideline.Facts{Router: &view.Router, Session: s.facts(snap, view), Names: snap.Names()}
	guide.Choose(&c, &facts, view.Listener, hostgroup)
	return c
}

// facts gives what guidelines see of the session, by the decision service's own code.
func (s *session) facts(snap *snapshot.Snapshot, view *snapshot.View) *guideline.Session {
	r := &s.route
	seen := decision.Session{
		Username: r.Username, ClientAddr: r.ClientAddr, ProxyAddr: r.ProxyAddr, ProxyPort: r.ProxyPort,
		ConnectAttrs: r.ConnectAttrs, RandomValue: r.RandomValue, Router: &view.Router,
	}
	schema := r.Schemaname // with the user's default since the login
	if schema == "" {
		schema = snap.Settings.DefaultSchema
	}
	return new(seen.Facts(schema))
}

// routed counts a choice, and logs the first one of the session and each change.
func (s *session) routed(ctx context.Context, route, mode string) {
	if route == "" {
		mode = "refused"
	}
	if !s.wasRouted || s.routeName != route {
		s.wasRouted, s.routeName, s.routeLabel = true, route, s.Metrics.routeLabel(route)
		s.routeCounter = nil
		s.log.DebugContext(ctx, "session routed by the guideline", "route", route, "mode", mode)
	}
	if s.routeCounter == nil || s.routeMode != mode {
		s.routeMode, s.routeCounter = mode, s.Metrics.guidedBy.WithLabelValues(s.routeLabel, mode)
	}
	s.routeCounter.Inc()
}

var modes = map[decision.GuidelineMode]decisionv1.GuidelineMode{
	decision.GuidelineAll:   decisionv1.GuidelineMode_GUIDELINE_MODE_ALL,
	decision.GuidelineWrite: decisionv1.GuidelineMode_GUIDELINE_MODE_WRITE,
	decision.GuidelineRead:  decisionv1.GuidelineMode_GUIDELINE_MODE_READ,
}

var modeNames = map[decisionv1.GuidelineMode]string{
	decisionv1.GuidelineMode_GUIDELINE_MODE_UNSPECIFIED: "",
	decisionv1.GuidelineMode_GUIDELINE_MODE_ALL:         "all",
	decisionv1.GuidelineMode_GUIDELINE_MODE_WRITE:       "write",
	decisionv1.GuidelineMode_GUIDELINE_MODE_READ:        "read",
}

// texts gives connection attributes whose texts are UTF-8, as questions must be.
func texts(attrs map[string]string) map[string]string {
	out := make(map[string]string, len(attrs))
	for k, v := range attrs {
		out[strings.ToValidUTF8(k, "\uFFFD")] = strings.ToValidUTF8(v, "\uFFFD")
	}
	return out
}
