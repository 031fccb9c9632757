package decision_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/selection"
)

// manyRoutes is a guideline of n routes, r0 and so on, that each name a class of all servers so many times.
func manyRoutes(n, named int) string {
	group := `{"classes": ["all"` + strings.Repeat(`, "all"`, min(named, 1000)-1) + `], "strategy": "round-robin", "priority": 0}`
	groups := group + strings.Repeat(", "+group, max(named/1000, 1)-1)
	routes := make([]string, n)
	for i := range routes {
		routes[i] = fmt.Sprintf(`{"name": "r%d", "match": "$.session.targetPort = %d", "destinations": [%s]}`, i, i, groups)
	}
	return `{"version": "1.1", "name": "many", "destinations": [{"name": "all", "match": "$.server.port > 0"}], "routes": [` + strings.Join(routes, ", ") + `]}`
}

func manyServers(n int) []decision.Server {
	rows := make([]decision.Server, n)
	for i := range rows {
		rows[i] = decision.Server{HostgroupID: 2, Hostname: fmt.Sprint("db", i)}
	}
	return rows
}

// TestPoolsKeepNoMoreThanTheirBound draws from more than there is room for, at once, and from all again.
func TestPoolsKeepNoMoreThanTheirBound(t *testing.T) {
	const routes, servers, most = 60, 20_000, 1_000_000
	pools := mustGuide(t, manyRoutes(routes, 1), bound(1, 2)).NewPools(nil, nil, manyServers(servers), nil)
	limits := selection.DefaultLimits()
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for i := range 2 * routes {
				pool := pools.Pool(fmt.Sprint("read:r", i%routes))
				if row := pool.Pick(&limits, uint64(i), nil, nil); row != i || len(pool.Rows()) != servers {
					t.Errorf("draw %d gives row %d of %d", i, row, len(pool.Rows()))
				}
			}
		})
	}
	all.Wait()
	if n := pools.Kept(); n > most || n < most-servers {
		t.Errorf("%d places are kept, want up to %d", n, most)
	}
}

// TestPoolOfItsOwnIsKept: what is asked for again is not filled again.
func TestPoolOfItsOwnIsKept(t *testing.T) {
	pools := mustGuide(t, manyRoutes(3, 1000), bound(1, 2)).NewPools(nil, nil, manyServers(500), nil)
	first := pools.Pool("all:r0")
	if pools.Pool("all:r0") != first {
		t.Error("a pool is filled twice")
	}
	pools.Pool("all:r1")
	if pools.Pool("all:r0") != first || pools.Kept() != 1_000_000 {
		t.Errorf("two pools that have room: %d places are kept", pools.Kept())
	}
	pools.Pool("all:r2")
	if pools.Pool("all:r0") == first || pools.Kept() != 1_000_000 {
		t.Errorf("with a third one, %d places are kept", pools.Kept())
	}
}

// TestGuidelineFitsServers: the configuration is refused where pools could grow too large.
func TestGuidelineFitsServers(t *testing.T) {
	classes := make([]string, 1001)
	for i := range classes {
		classes[i] = fmt.Sprintf(`{"name": "c%d", "match": "$.server.port = %d"}`, i, i)
	}
	wide := strings.Replace(manyRoutes(1, 1), `"destinations": [`, `"destinations": [`+strings.Join(classes, ", ")+`, `, 1)
	for _, tt := range []struct {
		name, document string
		servers        int
		path, message  string
	}{
		{"at the limit", manyRoutes(2, 5000), 100, "", ""},
		{
			"a route", manyRoutes(2, 5000), 101, "guideline.routes[1].destinations",
			`the groups of route "r1" name 5000 classes, repeats counted, and there are 101 servers: their product is above 500000; name fewer classes`,
		},
		{"destinations at the limit", wide, 9980, "", ""},
		{
			"destinations", wide, 9981, "guideline.destinations",
			"the guideline has 1002 destinations and there are 9981 servers: their product is above 10000000; give fewer destinations",
		},
	} {
		cfg := guided([2]string{"r", "TRUE"})
		cfg.Users, cfg.QueryRules, cfg.FastRoutes = nil, nil, nil
		cfg.Servers = append(manyServers(tt.servers), manyServers(tt.servers)...) // each twice
		for i := range tt.servers {
			cfg.Servers[i].HostgroupID = 1
		}
		cfg.Guideline, cfg.GuidelineBinding = tt.document, bound(1, 2)
		_, problems := decision.Compile(1, cfg)
		found := tt.path == ""
		for _, p := range problems {
			if p.Severity == decision.Error && tt.path == "" {
				t.Errorf("%s: %+v", tt.name, p)
			}
			found = found || p.Path == tt.path && p.Message == tt.message && p.Severity == decision.Error
		}
		if !found {
			t.Errorf("%s: %+v", tt.name, problems)
		}
		// Stored and not in force it is a warning.
		cfg.Guideline, cfg.Guidelines = "", []decision.StoredGuideline{{Name: "many", Document: tt.document}}
		_, problems = decision.Compile(1, cfg)
		if warned := len(problems) > 0; warned != (tt.path != "") || problems.HasErrors() {
			t.Errorf("%s, stored: %+v", tt.name, problems)
		}
	}
}

// TestTooManyOnline: no row of a hostgroup with more servers ONLINE than max_num_online_servers is drawn, and reports say so.
func TestTooManyOnline(t *testing.T) {
	d := mustGuide(t, threeTiers, bound(1, 2))
	limits := selection.DefaultLimits()
	rows := append(sixRows(), decision.Server{HostgroupID: 1, Hostname: "n9", MemberRole: new("SECONDARY")})
	const reason = "2 servers of the hostgroup are ONLINE, more than max_num_online_servers 1"
	for _, tt := range []struct {
		name    string
		status  *string
		down    string
		most    *uint32
		refused bool
	}{
		{"one too many", nil, "", new(uint32(1)), true},
		{"as many as may be", nil, "", new(uint32(2)), false},
		{"no limit", nil, "", nil, false},
		{"one is offline", new("OFFLINE_SOFT"), "", new(uint32(1)), false},
		{"one is known to be down", nil, "down", new(uint32(1)), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rows[6].Status = tt.status
			rt := &decision.Runtime{Servers: map[string]decision.ServerState{"n9:3306": {Unavailable: tt.down}}}
			pools := d.NewPools(nil, []decision.Hostgroup{{HostgroupID: 1, MaxNumOnlineServers: tt.most}, {HostgroupID: 2}}, rows, rt)
			want := map[string]int{"write:main": 0, "all:main": 0, "read:main": 2}
			if tt.refused {
				want = map[string]int{"write:main": -1, "all:main": 2, "read:main": 2} // n1's first row is in the hostgroup
			}
			for name, row := range want {
				if got := pools.Pool(name).Pick(&limits, 0, nil, nil); got != row {
					t.Errorf("%s draws row %d, want %d", name, got, row)
				}
			}
			unavailable := ""
			if tt.refused {
				unavailable = reason
			}
			if got := pools.Report().Servers[0].Unavailable; got != unavailable {
				t.Errorf("n1 is reported unavailable because of %q, want %q", got, unavailable)
			}
			g := mustCompile(t, guided([2]string{"r", "TRUE"}))
			result, err := g.SelectPool(pools, "write:main", &decision.SelectRequest{Explain: true})
			if refused := len(result.Rejections) == 1 && result.Rejections[0].Reason == reason; err != nil || refused != tt.refused {
				t.Errorf("%+v, error %v", result, err)
			}
		})
	}
}
