package decision_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/decision"
)

// guidelineText makes a document of rules for its only class and of routes as name and match.
func guidelineText(name, class string, routes ...[2]string) string {
	var b strings.Builder
	b.WriteString(`{"version": "1.1", "name": "` + name + `", "destinations": [{"name": "all", "match": "` + class + `"}], "routes": [`)
	for i, r := range routes {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(`{"name": "` + r[0] + `", "match": "` + r[1] + `", "destinations": [{"classes": ["all"], "strategy": "round-robin", "priority": 0}]}`)
	}
	return b.String() + "]}"
}

func bound(writer, reader int32) *decision.GuidelineBinding {
	return &decision.GuidelineBinding{WriterHostgroup: &writer, ReaderHostgroup: &reader}
}

func TestGuidelineProblems(t *testing.T) {
	good := guidelineText("good", "$.server.port > 0", [2]string{"r", "$.session.user = 'app'"})
	bad := guidelineText("bad", "$.server.prt > 0", [2]string{"r", "TRUE AND $.server.port = 1"})
	nothing := `{"version": "1.1", "destinations": [], "routes": 7, "color": "red"}`
	two := []decision.Server{{HostgroupID: 1, Hostname: "a"}, {HostgroupID: 2, Hostname: "a"}}
	withTwo := func(change func(a, b *decision.Server)) *decision.Config {
		rows := slices.Clone(two)
		change(&rows[0], &rows[1])
		return &decision.Config{Servers: rows}
	}
	for _, tt := range []struct {
		name string
		cfg  *decision.Config
		want []string // code@path:position, with "?" before a warning's
	}{
		{"in force", &decision.Config{Guideline: good, GuidelineBinding: bound(1, 2)}, nil},
		{"one hostgroup for both", &decision.Config{Guideline: good, GuidelineBinding: bound(1, 1), Servers: two}, nil},
		{"stored and active", &decision.Config{
			Guidelines: []decision.StoredGuideline{{Name: "good", Document: good}}, ActiveGuideline: "good", GuidelineBinding: bound(1, 2),
		}, nil},
		{"binding without a guideline", &decision.Config{GuidelineBinding: &decision.GuidelineBinding{Listeners: map[string]string{"a": "rw"}}}, nil},
		{"every part of a document", &decision.Config{Guideline: bad, GuidelineBinding: bound(1, 2)}, []string{
			"guideline@guideline.destinations[0].match:0", "guideline@guideline.destinations[0]", "guideline@guideline.routes[0].match:9",
			"guideline@guideline",
		}},
		{"no document", &decision.Config{Guideline: "rw: all", GuidelineBinding: bound(1, 2)}, []string{"guideline@guideline"}},
		{"shape", &decision.Config{Guideline: nothing, GuidelineBinding: bound(1, 2)}, []string{
			"guideline@guideline", "guideline@guideline.destinations", "guideline@guideline.routes", "guideline@guideline.color",
			"guideline@guideline", "guideline@guideline",
		}},
		{"no binding", &decision.Config{Guideline: good}, []string{"no_binding@guideline_binding"}},
		{"empty binding", &decision.Config{Guideline: good, GuidelineBinding: &decision.GuidelineBinding{}}, []string{
			"no_binding@guideline_binding.writer_hostgroup", "no_binding@guideline_binding.reader_hostgroup",
		}},
		{"unknown hostgroups", &decision.Config{Guideline: good, GuidelineBinding: bound(-1, 3), Servers: two}, []string{
			"out_of_range@guideline_binding.writer_hostgroup", "unknown_hostgroup@guideline_binding.reader_hostgroup",
		}},
		{"unknown hostgroup without a guideline", &decision.Config{GuidelineBinding: bound(1, 3), Servers: two}, []string{
			"?unknown_hostgroup@guideline_binding.reader_hostgroup",
		}},
		{"modes", &decision.Config{Guideline: good, GuidelineBinding: &decision.GuidelineBinding{
			WriterHostgroup: new(int32(1)), ReaderHostgroup: new(int32(2)), DefaultMode: new("RW"), Listeners: map[string]string{"b": "r/w", "": "ro", "a": ""},
		}}, []string{
			`empty_key@guideline_binding.listeners[""]`, `unknown_mode@guideline_binding.listeners["a"]`, `unknown_mode@guideline_binding.listeners["b"]`,
			"unknown_mode@guideline_binding.default_mode",
		}},
		{"stored", &decision.Config{
			Guidelines: []decision.StoredGuideline{
				{Name: "good", Document: good}, {Name: "other", Document: good}, {Name: "bad", Document: bad}, {Name: "good"}, {Document: good},
			},
		}, []string{
			"?guideline_name@guidelines[1].document", "?guideline@guidelines[2].document.destinations[0].match:0",
			"?guideline@guidelines[2].document.destinations[0]", "?guideline@guidelines[2].document.routes[0].match:9", "?guideline@guidelines[2].document",
			"duplicate_key@guidelines[3].name", "empty_key@guidelines[4].name", "?guideline_name@guidelines[4].document",
		}},
		{"active and bad", &decision.Config{
			Guidelines: []decision.StoredGuideline{{Name: "bad", Document: "{"}}, ActiveGuideline: "bad", GuidelineBinding: bound(1, 2),
		}, []string{"guideline@guidelines[0].document"}},
		{"active and unknown", &decision.Config{
			Guidelines: []decision.StoredGuideline{{Name: "good", Document: good}}, ActiveGuideline: "Good", GuidelineBinding: bound(1, 2),
		}, []string{"unknown_guideline@active_guideline"}},
		{"two in force", &decision.Config{
			Guideline: good, Guidelines: []decision.StoredGuideline{{Name: "good", Document: good}}, ActiveGuideline: "good", GuidelineBinding: bound(1, 2),
		}, []string{"two_guidelines@active_guideline"}},
		{"server facts", &decision.Config{Servers: []decision.Server{{
			Hostname: "a", Version: "8.4", MemberRole: new("REPLICA"), ClusterRole: new("secondary"),
			Tags: map[string]string{"_hidden": "1", "b": "north", "_disconnect_existing_sessions_when_hidden": `"true"`, "ok": "{}"},
		}}}, []string{
			"bad_version@servers[0].version", "unknown_role@servers[0].member_role", "unknown_role@servers[0].cluster_role",
			"bad_tags@servers[0].tags", "bad_tags@servers[0].tags", "bad_tags@servers[0].tags",
		}},
		{"good server facts", &decision.Config{Servers: []decision.Server{
			{Hostname: "a", Version: "8.4.3-log", MemberRole: new("read_replica"), ClusterRole: new(""), Tags: map[string]string{"_hidden": "false"}},
			{Hostname: "b", Version: "80403", MemberRole: new("UNDEFINED"), ClusterRole: new("Replica"), Tags: map[string]string{"_hidden": "true"}},
		}}, nil},
		{"rows say the same", withTwo(func(a, b *decision.Server) {
			a.Label, a.Version, a.MemberRole, a.Tags = new("x"), "8.4.3", new("PRIMARY"), map[string]string{"k": "1"}
			b.Label, b.Version, b.MemberRole, b.Tags = new("x"), "80403", new("primary"), map[string]string{"k": "1"}
		}), nil},
		{"one row says it", withTwo(func(a, b *decision.Server) {
			a.Label, b.Version, b.MemberRole, b.Tags, b.IsClusterInvalidated = new("x"), "8.4.3", new("PRIMARY"), map[string]string{"k": "1"}, true
		}), nil},
		{"label", withTwo(func(a, b *decision.Server) { a.Label, b.Label = new("x"), new("y") }), []string{"server_conflict@servers[1].label"}},
		{"uuid", withTwo(func(a, b *decision.Server) { a.UUID, b.UUID = "x", "y" }), []string{"server_conflict@servers[1].uuid"}},
		{"version", withTwo(func(a, b *decision.Server) { a.Version, b.Version = "8.4.3", "8.4.4" }), []string{"server_conflict@servers[1].version"}},
		{"member role", withTwo(func(a, b *decision.Server) { a.MemberRole, b.MemberRole = new("PRIMARY"), new("") }), []string{"server_conflict@servers[1].member_role"}},
		{"cluster", withTwo(func(a, b *decision.Server) { a.ClusterName, b.ClusterName = "x", "y" }), []string{"server_conflict@servers[1].cluster_name"}},
		{"cluster set", withTwo(func(a, b *decision.Server) { a.ClusterSetName, b.ClusterSetName = "x", "y" }), []string{"server_conflict@servers[1].cluster_set_name"}},
		{"cluster role", withTwo(func(a, b *decision.Server) { a.ClusterRole, b.ClusterRole = new("PRIMARY"), new("REPLICA") }), []string{"server_conflict@servers[1].cluster_role"}},
		{"tags", withTwo(func(a, b *decision.Server) { a.Tags, b.Tags = map[string]string{"k": "1"}, map[string]string{"k": "2"} }), []string{"server_conflict@servers[1].tags"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, problems := decision.Compile(1, tt.cfg)
			if (g == nil) != problems.HasErrors() {
				t.Errorf("generation %v", g)
			}
			if got := codes(t, problems); !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q\n%s", got, tt.want, show(problems))
			}
		})
	}
}

// codes gives problems as code@path:position.
func codes(t *testing.T, problems decision.Problems) []string {
	t.Helper()
	var out []string
	for _, p := range problems {
		text := p.Code + "@" + p.Path
		if p.Position >= 0 {
			text += ":" + strconv.Itoa(p.Position)
		}
		if p.Severity == decision.Warning {
			text = "?" + text
		}
		if len(p.Message) < 20 {
			t.Errorf("short message %q", p.Message)
		}
		out = append(out, text)
	}
	return out
}

// TestGuidelineMessage wants the specification's words without the path, which the problem has already.
func TestGuidelineMessage(t *testing.T) {
	text := guidelineText("g", "$.server.prt > 0", [2]string{"r", "TRUE"})
	_, problems := decision.NewGuide(text, bound(1, 2))
	if len(problems) == 0 || problems[0].Message != "undefined variable: server.prt in '$.server.prt'" {
		t.Error(show(problems))
	}
}

func TestGuideInForce(t *testing.T) {
	text := guidelineText("good", "$.server.port > 0", [2]string{"r", "$.session.randomValue < 0.5"})
	for name, cfg := range map[string]*decision.Config{
		"guideline": {Guideline: text, GuidelineBinding: bound(1, 2)},
		"stored": {
			Guidelines:      []decision.StoredGuideline{{Name: "other", Document: "{"}, {Name: "good", Document: text}},
			ActiveGuideline: "good", GuidelineBinding: bound(1, 2),
		},
	} {
		g := mustCompile(t, cfg)
		d := g.Guide()
		if d == nil || d.Document() != text || d.Guideline().Name() != "good" || !g.LooksAtRandomValue() {
			t.Errorf("%s: guide %+v", name, d)
			continue
		}
		if b := d.Binding(); *b.WriterHostgroup != 1 || *b.ReaderHostgroup != 2 || *b.DefaultMode != "rw_split" || cfg.GuidelineBinding.DefaultMode != nil {
			t.Errorf("%s: binding %+v", name, b)
		}
	}
	for name, cfg := range map[string]*decision.Config{
		"none":       {},
		"not active": {Guidelines: []decision.StoredGuideline{{Name: "good", Document: text}}, GuidelineBinding: bound(1, 2)},
	} {
		if g := mustCompile(t, cfg); g.Guide() != nil || g.LooksAtRandomValue() {
			t.Errorf("%s: a guideline is in force", name)
		}
	}
}

func TestNewGuideRefuses(t *testing.T) {
	good := guidelineText("good", "$.server.port > 0", [2]string{"r", "TRUE"})
	for name, tt := range map[string]struct {
		document string
		binding  *decision.GuidelineBinding
		want     string
	}{
		"document": {"[]", bound(1, 2), "guideline@guideline"},
		"empty":    {"", bound(1, 2), "guideline@guideline"},
		"binding":  {good, nil, "no_binding@guideline_binding"},
	} {
		guide, problems := decision.NewGuide(tt.document, tt.binding)
		if got := codes(t, problems); guide != nil || !slices.Contains(got, tt.want) {
			t.Errorf("%s: guide %v, problems %q", name, guide, got)
		}
	}
}

// The text suits names in the plural too.
func TestServerConflictText(t *testing.T) {
	_, problems := decision.Compile(1, &decision.Config{Servers: []decision.Server{
		{HostgroupID: 1, Hostname: "a", Tags: map[string]string{"k": "1"}}, {HostgroupID: 2, Hostname: "a", Tags: map[string]string{"k": "2"}},
	}})
	const want = "an earlier row of the server a:3306 gives tags another value; give all rows of a server the same, or set it in one alone"
	if len(problems) != 1 || problems[0].Message != want {
		t.Errorf("problems %+v", problems)
	}
}
