package session

import (
	"context"
	"math/rand/v2"
	"strings"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/guideline"
	"github.com/pointsman/pointsman/gateway/snapshot"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// guided is what the routing guideline says of a statement. The zero value: nothing.
type guided struct {
	pools   []string // stand in for the destination hostgroup; shared, not to be changed
	refusal string   // why the statement must not run unless the session is held; empty: it may
}

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

// guide takes over what a statement's answer says of the routing guideline. Answers that are older than the configuration
// in force, or that nobody was asked for, do not know its guideline: then the gateway chooses itself, so that sessions stay on
// their route while the decision service is away.
func (s *session) guide(ctx context.Context, st *statement) {
	a, g := st.answer, st.answer.GetGuideline()
	snap := s.Snapshots.Current()
	if a.GetGeneration() < snap.Generation {
		s.choose(ctx, st, snap)
		return
	}
	if g == nil {
		return
	}
	switch {
	case g.GetRoute() != "":
		st.guided.pools = g.GetPools()
	case a.ErrorMsg != nil:
		st.guided.refusal = a.GetErrorMsg()
	default:
		st.guided.refusal = "the routing guideline has no route for this session"
	}
	s.routed(ctx, g.GetRoute(), modeNames[g.GetMode()])
}

// choose asks the guideline in force where a statement of the answer's hostgroup goes.
func (s *session) choose(ctx context.Context, st *statement, snap *snapshot.Snapshot) {
	if g := st.answer.GetGuideline(); g != nil && g.GetRoute() == "" { // its refusal is out of date
		st.answer = toDefault(s.route.DefaultHostgroup)
	}
	guide := snap.Guide()
	if guide == nil || st.answer.DestinationHostgroup == nil || !guide.Bound(st.answer.GetDestinationHostgroup()) {
		return
	}
	var c decision.Choice
	view := snap.View(s.listener)
	facts := guideline.Facts{Router: &view.Router, Session: s.facts(snap, view), Names: snap.Names()}
	guide.Choose(&c, &facts, view.Listener, st.answer.GetDestinationHostgroup())
	st.guided = guided{pools: c.Pools, refusal: c.Refusal}
	s.routed(ctx, c.Name, modeNames[modes[c.Mode]])
}

// facts gives what guidelines see of the session, as the decision service sees it.
func (s *session) facts(snap *snapshot.Snapshot, view *snapshot.View) *guideline.Session {
	r := &s.route
	f := &guideline.Session{
		TargetIP: view.Router.BindAddress, TargetPort: float64(r.ProxyPort), SourceIP: r.ClientAddr, RandomValue: r.RandomValue,
		User: r.Username, Schema: r.Schemaname, ConnectAttrs: r.ConnectAttrs,
	}
	if f.TargetIP == "" {
		f.TargetIP = r.ProxyAddr
	}
	if f.Schema == "" {
		f.Schema = snap.Settings.DefaultSchema
	}
	return f
}

// routed counts a choice, and logs the first one of the session and each change.
func (s *session) routed(ctx context.Context, route, mode string) {
	if route == "" {
		mode = "refused"
	}
	if !s.wasRouted || s.routeName != route {
		s.wasRouted, s.routeName, s.routeLabel = true, route, s.Metrics.routeLabel(route)
		s.log.DebugContext(ctx, "session routed by the guideline", "route", route, "mode", mode)
	}
	s.Metrics.guidedBy.WithLabelValues(s.routeLabel, mode).Inc()
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
