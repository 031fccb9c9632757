package observed_test

import (
	"testing"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/guideline"
	"github.com/pointsman/pointsman/server/observed"
)

func TestHolder(t *testing.T) {
	var h observed.Holder
	servers := func() map[string]decision.ServerState {
		return map[string]decision.ServerState{"db:3306": {MemberRole: "PRIMARY"}}
	}
	names := func() guideline.Names { return guideline.Names{{Name: "host"}: "10.0.0.1"} }
	for _, step := range []struct {
		name    string
		set     func()
		changes bool
	}{
		{"nothing", func() { h.SetServers(nil); h.SetNames(guideline.Names{}) }, false},
		{"servers", func() { h.SetServers(servers()) }, true},
		{"the same servers", func() { h.SetServers(servers()) }, false},
		{"names", func() { h.SetNames(names()) }, true},
		{"the same names", func() { h.SetNames(names()) }, false},
		{"another state", func() { h.SetServers(map[string]decision.ServerState{"db:3306": {Unavailable: "gone"}}) }, true},
		{"no servers", func() { h.SetServers(nil) }, true},
	} {
		before, changed := h.Current(), h.Changed()
		step.set()
		woken := false
		select {
		case <-changed:
			woken = true
		default:
		}
		if woken != step.changes || (h.Current() != before) != step.changes {
			t.Errorf("%s: woken %t, another value %t, want %t", step.name, woken, h.Current() != before, step.changes)
		}
	}
	if got := h.Current(); len(got.Servers) != 0 || got.Names[guideline.Host{Name: "host"}] != "10.0.0.1" {
		t.Errorf("got %v", got)
	}
}
