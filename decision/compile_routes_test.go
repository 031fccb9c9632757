package decision_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/decision"
)

// TestFastRouteProblems holds the problems of random rows against a plain walk through them.
func TestFastRouteProblems(t *testing.T) {
	flags := []int64{0, 1, math.MaxInt32, -1, -2, math.MinInt64, math.MaxInt32 + 1, 1 << 32, math.MaxInt64}
	hostgroups := []int64{1, 1, 2, 9, -1, 1 << 32}
	kinds := map[string]int{}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		cfg := &decision.Config{Hostgroups: []decision.Hostgroup{{HostgroupID: 1}, {HostgroupID: 2}}}
		first := map[decision.FastRoute]int{}
		warned := map[int64]bool{}
		var want []string
		for i := range r.IntN(60) {
			row := decision.FastRoute{
				Username: []string{"", "a", "b"}[r.IntN(3)], Schemaname: []string{"", "s"}[r.IntN(2)],
				FlagIn: flags[r.IntN(2+r.IntN(len(flags)-1))], DestinationHostgroup: hostgroups[r.IntN(len(hostgroups))],
			}
			cfg.FastRoutes = append(cfg.FastRoutes, row)
			add := func(code, field string) {
				path := fmt.Sprintf("fast_routes[%d]%s", i, field)
				want = append(want, code+"@"+path)
				kinds[code]++
			}
			ok := true
			if row.FlagIn < 0 || row.FlagIn > math.MaxInt32 {
				add("out_of_range", ".flag_in")
				ok = false
			}
			if row.DestinationHostgroup < 0 || row.DestinationHostgroup > math.MaxInt32 {
				add("out_of_range", ".destination_hostgroup")
				ok = false
			}
			key := row
			key.DestinationHostgroup = 0
			if other, dup := first[key]; dup {
				add("duplicate_key", "")
				want[len(want)-1] += fmt.Sprintf(" of fast_routes[%d]", other)
				continue
			}
			first[key] = i
			if ok && row.DestinationHostgroup > 2 && !warned[row.DestinationHostgroup] {
				warned[row.DestinationHostgroup] = true
				add("unknown_hostgroup", ".destination_hostgroup")
			}
		}
		_, problems := decision.Compile(1, cfg)
		var got []string
		for _, p := range problems {
			line := p.Code + "@" + p.Path
			if at := strings.Index(p.Message, " of fast_routes["); at >= 0 {
				line += p.Message[at : at+strings.IndexByte(p.Message[at:], ']')+1]
			}
			got = append(got, line)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: problems %q, want %q", seed, got, want)
		}
	}
	if len(kinds) != 3 || min(kinds["out_of_range"], kinds["duplicate_key"], kinds["unknown_hostgroup"]) < 50 {
		t.Errorf("too few problems to tell: %v", kinds)
	}
}
