package snapshot

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/guideline"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// guiding is the guideline in force, as it was sent and as it is used.
type guiding struct {
	part    *configv1.GuidelinePart
	guide   *decision.Guide // nil: none is in force
	problem error           // why there is no guide although a document was sent
}

// newGuiding compiles the guideline, unless that was done before.
func newGuiding(part *configv1.GuidelinePart, before *guiding) *guiding {
	if before != nil && (before.part == part || proto.Equal(before.part, part)) {
		return before
	}
	g := &guiding{part: part}
	if part.GetDocument() == "" {
		return g
	}
	guide, problems := decision.NewGuide(part.GetDocument(), bindingOf(part.GetBinding()))
	if guide == nil {
		g.problem = firstError(problems)
	}
	g.guide = guide
	return g
}

// firstError gives the first problem that keeps a guideline from being used.
func firstError(problems decision.Problems) error {
	for i := range problems {
		if p := &problems[i]; p.Severity == decision.Error {
			return fmt.Errorf("%s: %s", p.Path, p.Message)
		}
	}
	return errors.New("its document can't be compiled")
}

func bindingOf(b *configv1.GuidelineBinding) *decision.GuidelineBinding {
	if b == nil {
		return nil
	}
	return &decision.GuidelineBinding{
		WriterHostgroup: b.WriterHostgroup, ReaderHostgroup: b.ReaderHostgroup,
		Listeners: b.GetListeners(), DefaultMode: b.DefaultMode,
	}
}

// runtimeOf gives what is known at run time, nil for nothing. Names without an address could not be resolved.
func runtimeOf(m *configv1.RuntimeState) *decision.Runtime {
	if m == nil {
		return nil
	}
	rt := &decision.Runtime{Servers: map[string]decision.ServerState{}, Names: guideline.Names{}}
	for _, s := range m.GetServers() {
		rt.Servers[s.GetServer()] = decision.ServerState{MemberRole: s.GetMemberRole(), Unavailable: s.GetUnavailable()}
	}
	for _, n := range m.GetNames() {
		if n.GetAddress() != "" {
			rt.Names[guideline.Host{Name: n.GetName(), V6: n.GetIpv6()}] = n.GetAddress()
		}
	}
	return rt
}

// serverOf gives a server as guidelines see it, with every default filled in.
func serverOf(v *configv1.Server) decision.Server {
	return decision.Server{
		HostgroupID: v.GetHostgroupId(), Hostname: v.GetHostname(), Port: filled(v.Port, 3306),
		Status: new(statusOf(v).String()), Weight: filled(v.Weight, 1), MaxConnections: filled(v.MaxConnections, 1000),
		MaxReplicationLag: filled(v.MaxReplicationLag, 0), MaxLatencyMS: filled(v.MaxLatencyMs, 0),
		UseSSL: v.GetUseSsl(), Comment: v.GetComment(),
		Label: v.Label, UUID: v.GetUuid(), Version: v.GetVersion(), MemberRole: v.MemberRole,
		ClusterName: v.GetClusterName(), ClusterSetName: v.GetClusterSetName(), ClusterRole: v.ClusterRole,
		IsClusterInvalidated: v.GetIsClusterInvalidated(), Tags: decision.TagTexts(v.GetTags().AsMap()),
	}
}

func filled[T any](p *T, otherwise T) *T { return new(or(p, otherwise)) }

// Guide gives the guideline in force, nil when there is none.
func (s *Snapshot) Guide() *decision.Guide { return s.guiding.guide }

// Names gives the addresses of the hosts that the guideline resolves.
func (s *Snapshot) Names() guideline.Names {
	if s.runtime == nil {
		return nil
	}
	return s.runtime.Names
}

// View gives what the sessions of a listener see, by its place in Site.Listeners.
func (s *Snapshot) View(listener int) *View { return &s.views[listener] }

// GuideProblem says why there is no guideline in force although the configuration has one; nil otherwise.
func (s *Snapshot) GuideProblem() error { return s.guiding.problem }

// NoMembers says why none of some pools has a member, by a listener's place; empty when one has, or is not known. lasting: they
// get none while the configuration stays, whatever roles are found out at run time.
func (s *Snapshot) NoMembers(listener int, pools []string) (why string, lasting bool) {
	view := s.View(listener)
	if len(pools) == 0 || view.pools == nil || hasMembers(view.pools, pools) {
		return "", false
	}
	last := pools[len(pools)-1]
	kind, route, _ := strings.Cut(last, ":")
	what := "server"
	if kind == "write" && len(pools) == 1 {
		what = "primary server for writes"
	}
	why = fmt.Sprintf("route %q of the routing guideline %q has no %s: none of its destinations matches one",
		route, s.guiding.guide.Guideline().Name(), what)
	return why, !hasMembers(view.configured(), pools)
}

func hasMembers(of *decision.Pools, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		pool := of.Pool(name)
		return pool == nil || len(pool.Rows()) > 0
	})
}

// PoolProblem says why the guideline in force has no pool of a name.
func (s *Snapshot) PoolProblem(pool string) error {
	switch {
	case s.guiding.problem != nil:
		return fmt.Errorf("the routing guideline of generation %d can't be used by this gateway: %w", s.Generation, s.guiding.problem)
	case s.guiding.guide == nil:
		return fmt.Errorf("no routing guideline is in force in generation %d, so there is no pool %q", s.Generation, pool)
	}
	return fmt.Errorf("the routing guideline of generation %d has no pool %q", s.Generation, pool)
}

// Unavailable counts the servers, each address once, that the decision service's monitor or out knows to be unavailable.
func (s *Snapshot) Unavailable(out func(addr string) bool) int {
	n := 0
	seen := map[string]bool{}
	for _, r := range s.Rows {
		if seen[r.Addr] {
			continue
		}
		seen[r.Addr] = true
		if out(r.Addr) || s.runtime != nil && s.runtime.Servers[r.name].Unavailable != "" {
			n++
		}
	}
	return n
}
