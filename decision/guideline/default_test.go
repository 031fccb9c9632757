package guideline

import (
	"slices"
	"testing"
)

func TestDefault(t *testing.T) {
	for _, tt := range []struct {
		kind   string
		server Server
		want   []string
	}{
		{"cluster", Server{MemberRole: Primary}, []string{"Primary"}},
		{"cluster", Server{MemberRole: Secondary, ClusterRole: Replica}, []string{"Secondary"}},
		{"cluster", Server{MemberRole: ReadReplica}, []string{"ReadReplica"}},
		{"clusterset", Server{MemberRole: Primary, ClusterRole: Primary}, []string{"Primary"}},
		{"clusterset", Server{MemberRole: Primary, ClusterRole: Replica}, nil},
		{"clusterset", Server{MemberRole: Secondary}, []string{"PrimaryClusterSecondary"}},
		{"clusterset", Server{MemberRole: ReadReplica, ClusterRole: Primary}, []string{"PrimaryClusterReadReplica"}},
		{"replicaset", Server{MemberRole: Secondary}, []string{"Secondary"}},
		{"replicaset", Server{MemberRole: ReadReplica}, nil},
	} {
		document, err := Default(tt.kind)
		if err != nil {
			t.Fatal(err)
		}
		g := compile(t, string(document))
		classes, errs := g.Classify(&Facts{Server: &tt.server})
		if got := g.classNames(classes); !slices.Equal(got, tt.want) || errs != nil {
			t.Errorf("%s, %+v: got %q, %v", tt.kind, tt.server, got, errs)
		}
		router := &Router{PortRW: 1, PortRO: 2, PortRWSplit: 3}
		for port, want := range map[float64]int{1: 0, 2: 1, 3: -1} {
			if route, err := g.Route(&Facts{Router: router, Session: &Session{TargetPort: port}}); route != want || err != nil {
				t.Errorf("%s, port %v: route %d, %v", tt.kind, port, route, err)
			}
		}
		for _, r := range g.Routes() {
			if !r.Enabled || r.ConnectionSharing == nil || !*r.ConnectionSharing {
				t.Errorf("%s: route %+v", tt.kind, r)
			}
			for i, group := range r.Groups {
				if group.Strategy != RoundRobin || group.Priority != uint64(i) {
					t.Errorf("%s: group %+v", tt.kind, group)
				}
			}
		}
		clear(document)
		if again, err := Default(tt.kind); err != nil || again[0] != '{' {
			t.Error("the document is shared")
		}
	}
	if _, err := Default("set"); err == nil {
		t.Error("no error for an unknown topology")
	}
}
