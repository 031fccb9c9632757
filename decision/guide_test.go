package decision_test

import (
	"reflect"
	"testing"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/guideline"
)

func mustGuide(tb testing.TB, document string, binding *decision.GuidelineBinding) *decision.Guide {
	tb.Helper()
	d, problems := decision.NewGuide(document, binding)
	if d == nil {
		tb.Fatal(show(problems))
	}
	return d
}

func TestListenerModes(t *testing.T) {
	text := guidelineText("g", "$.server.port > 0", [2]string{"r", "TRUE"})
	binding := bound(1, 2)
	binding.Listeners = map[string]string{"rw": "rw_split", "app": "ro", "6447": "rw", "06448": "ro", "70000": "ro"}
	binding.DefaultMode = new("ro")
	plain := bound(1, 2)
	for _, tt := range []struct {
		binding *decision.GuidelineBinding
		l       decision.Listener
		want    string
	}{
		{binding, decision.Listener{Name: "rw", Port: 6447}, "rw_split"}, // the name counts more than the port
		{binding, decision.Listener{Name: "app"}, "ro"},
		{binding, decision.Listener{Name: "other", Port: 6447}, "rw"},
		{binding, decision.Listener{Port: 6447}, "rw"},
		{binding, decision.Listener{Name: "6447"}, "rw"},
		{binding, decision.Listener{Name: "rw_split"}, "rw_split"},
		{binding, decision.Listener{Name: "RW"}, "ro"},
		{binding, decision.Listener{Port: 6448}, "ro"},
		{plain, decision.Listener{}, "rw_split"},
		{plain, decision.Listener{Name: "rw"}, "rw"},
		{plain, decision.Listener{Name: "ro", Port: 6447}, "ro"},
	} {
		if got := mustGuide(t, text, tt.binding).Mode(tt.l).String(); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.l, got, tt.want)
		}
	}
}

func TestChoose(t *testing.T) {
	text := guidelineText("g", "$.server.port > 0", [2]string{"mail", "NETWORK($.session.sourceIP, 8) = '10.0.0.0'"}, [2]string{"app", "$.session.user = 'app'"})
	const unmatched = `no route of the routing guideline "g" matches this session`
	const failed = `route "mail" of the routing guideline "g" can't be evaluated: Network function called on invalid IPv4 address: 'x'`
	all, write, read := decision.GuidelineAll, decision.GuidelineWrite, decision.GuidelineRead
	for name, tt := range map[string]struct {
		session   guideline.Session
		reader    int32 // the writer hostgroup is 1
		listener  string
		hostgroup int32
		want      decision.Choice
	}{
		"write":   {guideline.Session{SourceIP: "10.1.1.1"}, 2, "", 1, decision.Choice{Route: 0, Name: "mail", Mode: write, Pools: []string{"write:mail"}}},
		"read":    {guideline.Session{SourceIP: "10.1.1.1"}, 2, "", 2, decision.Choice{Route: 0, Name: "mail", Mode: read, Pools: []string{"read:mail", "write:mail"}}},
		"rw":      {guideline.Session{SourceIP: "1.1.1.1", User: "app"}, 2, "rw", 1, decision.Choice{Route: 1, Name: "app", Mode: all, Pools: []string{"all:app"}}},
		"ro":      {guideline.Session{SourceIP: "1.1.1.1", User: "app"}, 2, "ro", 2, decision.Choice{Route: 1, Name: "app", Mode: all, Pools: []string{"all:app"}}},
		"one":     {guideline.Session{SourceIP: "1.1.1.1", User: "app"}, 1, "", 1, decision.Choice{Route: 1, Name: "app", Mode: write, Pools: []string{"write:app"}}},
		"refused": {guideline.Session{SourceIP: "1.1.1.1"}, 2, "", 2, decision.Choice{Route: decision.None, Mode: read, Refusal: unmatched}},
		"failed":  {guideline.Session{SourceIP: "x", User: "app"}, 2, "rw", 2, decision.Choice{Route: decision.None, Mode: all, Refusal: failed}},
	} {
		t.Run(name, func(t *testing.T) {
			d := mustGuide(t, text, bound(1, tt.reader))
			if !d.Bound(tt.hostgroup) || d.Bound(3) || d.Bound(decision.None) {
				t.Error("bound to other hostgroups")
			}
			tt.want.Guideline = "g"
			got := decision.Choice{Name: "old", Pools: []string{"old"}, Refusal: "old"}
			f := guideline.Facts{Session: &tt.session}
			l := decision.Listener{Name: tt.listener}
			d.Choose(&got, &f, l, tt.hostgroup)
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
			if tt.want.Route < 0 || raceDetector {
				return
			}
			if n := testing.AllocsPerRun(100, func() {
				f.Reset()
				d.Choose(&got, &f, l, tt.hostgroup)
			}); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}
