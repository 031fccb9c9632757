package decision_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/guideline"
	"github.com/pointsman/pointsman/decision/selection"
)

// threeTiers prefers the north, in order, then all the south in turn, then whatever there is.
const threeTiers = `{"version": "1.1", "name": "tiers", "destinations": [
	{"name": "north", "match": "$.server.tags.zone = 'north'"}, {"name": "south", "match": "$.server.tags.zone = 'south'"},
	{"name": "primary", "match": "$.server.memberRole = PRIMARY"}, {"name": "unused", "match": "$.server.version < 80000"},
	{"name": "fails", "match": "$.server.label = RESOLVE_V4('db.example')"}],
	"routes": [{"name": "main", "match": "TRUE AND $.session.targetPort > 0", "destinations": [
		{"classes": ["south"], "strategy": "round-robin", "priority": 5}, {"classes": ["north", "primary"], "strategy": "first-available", "priority": 1},
		{"classes": ["fails"], "strategy": "round-robin", "priority": 9}]},
	{"name": "off", "enabled": false, "match": "$.session.user = 'x'", "destinations": [{"classes": ["primary"], "strategy": "round-robin", "priority": 0}]}]}`

func zone(name string) map[string]string { return map[string]string{"zone": `"` + name + `"`} }

// sixRows are five servers: n1 is in both hostgroups.
func sixRows() []decision.Server {
	return []decision.Server{
		{HostgroupID: 1, Hostname: "n1", Tags: zone("north"), Weight: new(int64(2))},
		{HostgroupID: 2, Hostname: "n1", Weight: new(int64(7))},
		{HostgroupID: 2, Hostname: "n2", Tags: zone("north")},
		{HostgroupID: 2, Hostname: "s1", Tags: zone("south"), Weight: new(int64(3))},
		{HostgroupID: 2, Hostname: "s2", Tags: zone("south"), Version: "5.7.44"},
		{HostgroupID: 3, Hostname: "h", Tags: map[string]string{"zone": `"north"`, "_hidden": "true"}},
	}
}

// TestPoolFallback takes servers away one after the other.
func TestPoolFallback(t *testing.T) {
	d := mustGuide(t, threeTiers, bound(1, 2))
	limits := selection.DefaultLimits()
	for _, tt := range []struct {
		pool string
		down []string
		want []int // rows that turns 0 to 7 draw
	}{
		{"all:main", nil, []int{0, 0, 0, 0, 0, 0, 0, 0}}, // n1 by its first row
		{"write:main", nil, []int{0, 0, 0, 0, 0, 0, 0, 0}},
		{"read:main", nil, []int{2, 2, 2, 2, 2, 2, 2, 2}},
		{"all:main", []string{"n1:3306"}, []int{2, 2, 2, 2, 2, 2, 2, 2}},
		{"write:main", []string{"n1:3306"}, []int{-1, -1, -1, -1, -1, -1, -1, -1}},
		{"read:main", []string{"n2:3306"}, []int{3, 3, 3, 4, 3, 3, 3, 4}},
		{"read:main", []string{"n2:3306", "s1:3306"}, []int{4, 4, 4, 4, 4, 4, 4, 4}},
		{"read:main", []string{"n2:3306", "s1:3306", "s2:3306"}, []int{-1, -1, -1, -1, -1, -1, -1, -1}},
		{"all:off", nil, []int{0, 0, 0, 0, 0, 0, 0, 0}}, // a disabled route has its servers all the same
	} {
		rt := &decision.Runtime{Servers: map[string]decision.ServerState{}}
		for _, address := range tt.down {
			rt.Servers[address] = decision.ServerState{Unavailable: "connect: connection refused"}
		}
		pool := d.NewPools(nil, nil, sixRows(), rt).Pool(tt.pool)
		var got []int
		for turn := range uint64(8) {
			got = append(got, pool.Pick(&limits, turn, nil, nil))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s without %v: %v, want %v", tt.pool, tt.down, got, tt.want)
		}
	}
	pools := d.NewPools(nil, nil, sixRows(), nil)
	if pools.Pool("all:nothing") != nil || pools.Pool("main") != nil {
		t.Error("an unknown pool is there")
	}
	if got := pools.Pool("all:main").Rows(); !slices.Equal(got, []int{0, 2, 3, 4}) {
		t.Errorf("rows %v", got)
	}
}

// TestPoolSharesOutTurns gives each server of a tier exactly its share, and the share of a full one to the next.
func TestPoolSharesOutTurns(t *testing.T) {
	d := mustGuide(t, guidelineText("g", "$.server.port > 0", [2]string{"r", "TRUE"}), bound(1, 2))
	var rows []decision.Server
	for i, weight := range []int64{1, 0, 4, 2} {
		rows = append(rows, decision.Server{HostgroupID: 2, Hostname: fmt.Sprint("db", i), Weight: &weight, MaxConnections: new(int64(5))})
	}
	pool := d.NewPools(nil, nil, rows, nil).Pool("read:r")
	limits := selection.DefaultLimits()
	count := func(used selection.Used) (n [4]int) {
		for turn := range uint64(700) {
			n[pool.Pick(&limits, 1<<63+turn, nil, used)]++
		}
		return n
	}
	if got, want := count(nil), [4]int{100, 0, 400, 200}; got != want {
		t.Errorf("shares %v, want %v", got, want)
	}
	full := func(row int) uint32 { return []uint32{0, 0, 5, 0}[row] }
	if got, want := count(full), [4]int{233, 0, 0, 467}; got != want {
		t.Errorf("shares %v, want %v", got, want)
	}
}

func TestPickAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	pool := mustGuide(t, threeTiers, bound(1, 2)).NewPools(nil, nil, sixRows(), nil).Pool("read:main")
	limits := selection.DefaultLimits()
	var excluded selection.Set
	excluded.Add(2)
	counts := make([]uint32, 6)
	turn := uint64(0)
	if n := testing.AllocsPerRun(100, func() {
		turn++
		if pool.Pick(&limits, turn, excluded, func(row int) uint32 { return counts[row] }) < 3 {
			t.Fatal("an excluded server is drawn")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestPoolsAreConcurrent lets many ask for pools at once.
func TestPoolsAreConcurrent(t *testing.T) {
	pools := mustGuide(t, threeTiers, bound(1, 2)).NewPools(nil, nil, sixRows(), nil)
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			limits := selection.DefaultLimits()
			name := []string{"all:main", "read:main"}[worker%2]
			if row := pools.Pool(name).Pick(&limits, 0, nil, nil); row != []int{0, 2}[worker%2] {
				t.Errorf("%s gives row %d", name, row)
			}
		})
	}
	all.Wait()
}

func TestSelectPool(t *testing.T) {
	cfg := guided([2]string{"r", "TRUE"})
	cfg.Guideline, cfg.Servers = threeTiers, append(sixRows(), decision.Server{HostgroupID: 10, Hostname: "w"}, decision.Server{HostgroupID: 20, Hostname: "w"})
	cfg.GuidelineBinding = bound(1, 2)
	g := mustCompileWith(t, cfg)
	rt := &decision.Runtime{Servers: map[string]decision.ServerState{"n2:3306": {Unavailable: "connect: refused"}}}
	pools := g.Guide().NewPools(nil, g.Hostgroups(), g.Servers(), rt)
	for _, tt := range []struct {
		name, pool string
		request    decision.SelectRequest
		host       string
		index      int
		eligible   int
		rejections []string
	}{
		{"first", "all:main", decision.SelectRequest{Explain: true}, "n1", 0, 1, []string{
			"n2:3306 unavailable: connect: refused", "s1:3306 in tier 2, and tier 1 has a server to give", "s2:3306 in tier 2, and tier 1 has a server to give",
		}},
		{"excluded", "all:main", decision.SelectRequest{Explain: true, Exclude: []string{"n1:3306"}, Seed: 3}, "s2", 3, 2, []string{
			"n1:3306 excluded by the caller", "n2:3306 unavailable: connect: refused",
		}},
		{"full", "read:main", decision.SelectRequest{Explain: true, Connections: map[string]uint32{"s2:3306": 1000}, Seed: 3}, "s1", 2, 1, []string{
			"n2:3306 unavailable: connect: refused", "s2:3306 connections 1000 of max_connections 1000",
		}},
		{"none", "write:main", decision.SelectRequest{Explain: true, Exclude: []string{"n1:3306"}}, "", -1, 0, []string{"n1:3306 excluded by the caller"}},
		{"not explained", "read:main", decision.SelectRequest{}, "s1", 2, 2, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := g.SelectPool(pools, tt.pool, &tt.request)
			if err != nil {
				t.Fatal(err)
			}
			host := ""
			if got.Server != nil {
				host = got.Server.Hostname
			}
			var rejections []string
			for _, r := range got.Rejections {
				rejections = append(rejections, r.Server+" "+r.Reason)
			}
			if host != tt.host || got.Index != tt.index || got.Eligible != tt.eligible || !slices.Equal(rejections, tt.rejections) {
				t.Errorf("server %q, index %d, %d eligible, %q", host, got.Index, got.Eligible, rejections)
			}
		})
	}
	_, err := g.SelectPool(pools, "all:x", &decision.SelectRequest{})
	if unknown, ok := errors.AsType[*decision.UnknownPoolError](err); !ok || unknown.Pool != "all:x" || !strings.Contains(err.Error(), "all:<route>") {
		t.Errorf("error %v", err)
	}
}

// mustCompileWith makes hostgroups known that users and rules name.
func mustCompileWith(t *testing.T, cfg *decision.Config) *decision.Generation {
	t.Helper()
	for _, hostgroup := range []int32{30, 40} {
		cfg.Hostgroups = append(cfg.Hostgroups, decision.Hostgroup{HostgroupID: hostgroup})
	}
	return mustCompile(t, cfg)
}

// TestReport compares the whole report of a topology with everything odd about it.
func TestReport(t *testing.T) {
	rt := &decision.Runtime{Servers: map[string]decision.ServerState{
		"n1:3306": {MemberRole: "SECONDARY"}, "n2:3306": {MemberRole: "PRIMARY", Unavailable: "connect: refused"},
	}}
	rows := sixRows()
	rows[2].MemberRole = new("SECONDARY")
	rows[3].Status, rows[3].Label = new("OFFLINE_SOFT"), new("south one")
	rows = append(rows, decision.Server{HostgroupID: 3, Hostname: "x"})
	report := mustGuide(t, threeTiers, bound(1, 2)).NewPools(nil, nil, rows, rt).Report()
	text, err := json.MarshalIndent(report, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "guideline_report.golden", string(text)+"\n")
}

// TestReportOfConstantRules notes what never matches, once.
func TestReportOfConstantRules(t *testing.T) {
	report := mustGuide(t, guidelineText("g", "server.port = '1'", [2]string{"typo", "session.user = 'app'"}, [2]string{"rest", "TRUE"}), bound(1, 2)).
		NewPools(nil, nil, sixRows(), nil).Report()
	notes := strings.Join(report.Notes, "\n")
	for note, want := range map[string]int{
		`route "typo" can never match: its rule is always FALSE; a word without $. is a text`: 1,
		`class "all" can never match: its rule is always FALSE; a word without $. is a text`:  1,
		`route "typo"`:    1,
		`class "all"`:     1,
		"can never match": 2,
	} {
		if got := strings.Count(notes, note); got != want {
			t.Errorf("%q is noted %d times, want %d:\n%s", note, got, want, notes)
		}
	}
}

// TestReportIsBounded has more members than a report lists.
func TestReportIsBounded(t *testing.T) {
	var routes [][2]string
	for i := range 150 {
		routes = append(routes, [2]string{fmt.Sprint("r", i), "TRUE"})
	}
	var rows []decision.Server
	for i := range 1000 {
		rows = append(rows, decision.Server{HostgroupID: 1, Hostname: fmt.Sprint("db", i)})
	}
	report := mustGuide(t, guidelineText("g", "$.server.port > 0", routes...), bound(1, 2)).NewPools(nil, nil, rows, nil).Report()
	if len(report.Routes) != 100 || !slices.Contains(report.Notes, "the report ends after 100 of 150 routes: their tiers have too many members") {
		t.Errorf("%d routes, notes %q", len(report.Routes), report.Notes)
	}
}

// TestRouterInDestinations has pools that differ from listener to listener.
func TestRouterInDestinations(t *testing.T) {
	d := mustGuide(t, guidelineText("g", "$.server.tags.zone = $.router.tags.zone", [2]string{"r", "TRUE"}), bound(1, 2))
	limits := selection.DefaultLimits()
	for name, tt := range map[string]struct {
		router *guideline.Router
		want   int
		note   bool
	}{
		"north":   {&guideline.Router{Tags: zone("north")}, 0, false},
		"south":   {&guideline.Router{Tags: zone("south")}, 3, false},
		"unknown": {nil, -1, true},
	} {
		pools := d.NewPools(tt.router, nil, sixRows(), nil)
		if got := pools.Pool("all:r").Pick(&limits, 0, nil, nil); got != tt.want {
			t.Errorf("%s: row %d, want %d", name, got, tt.want)
		}
		noted := slices.ContainsFunc(pools.Report().Notes, func(n string) bool { return strings.Contains(n, "$.router") })
		if noted != tt.note {
			t.Errorf("%s: notes %q", name, pools.Report().Notes)
		}
	}
}

// TestServerFacts looks at what expressions see of rows.
func TestServerFacts(t *testing.T) {
	rows := []decision.Server{
		{HostgroupID: 1, Hostname: "::1", Port: new(uint32(3307))},
		{
			HostgroupID: 2, Hostname: "::1", Port: new(uint32(3307)), Label: new("one"), UUID: "u", Version: "8.4.3-log", ClusterName: "c", ClusterSetName: "cs",
			ClusterRole: new("replica"), IsClusterInvalidated: true, Tags: map[string]string{"n": "41"},
		},
		{HostgroupID: 3, Hostname: "plain"},
	}
	for match, want := range map[string][]string{
		"$.server.label = 'one'":         {"one"},
		"$.server.label = 'plain:3306'":  {"plain:3306"},
		"$.server.address = '::1'":       {"one"},
		"$.server.port = 3307":           {"one"},
		"$.server.uuid = 'u'":            {"one"},
		"$.server.version = 80403":       {"one"},
		"$.server.version > 0":           {"one"},
		"$.server.version = NULL":        {"plain:3306"},
		"$.server.clusterName = 'c'":     {"one"},
		"$.server.clusterSetName = 'cs'": {"one"},
		"$.server.clusterRole = REPLICA": {"one"},
		"$.server.clusterRole = UNDEFINED AND $.server.memberRole = UNDEFINED": {"plain:3306"},
		"$.server.isClusterInvalidated = TRUE":                                 {"one"},
		"$.server.memberRole = PRIMARY":                                        {"one"},
		"$.server.tags.n = 41":                                                 {"one"},
	} {
		report := mustGuide(t, guidelineText("g", match, [2]string{"r", "TRUE"}), bound(1, 2)).NewPools(nil, nil, rows, nil).Report()
		var got []string
		for _, s := range report.Servers {
			if len(s.Classes) > 0 {
				got = append(got, s.Label)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", match, got, want)
		}
	}
}
