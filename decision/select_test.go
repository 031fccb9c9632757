package decision_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/pointsman/pointsman/decision"
)

func TestSelect(t *testing.T) {
	number := func(n int64) *int64 { return &n }
	g := mustCompile(t, &decision.Config{
		Hostgroups: []decision.Hostgroup{{HostgroupID: 1}, {HostgroupID: 4, MaxNumOnlineServers: new(uint32(1))}},
		Servers: []decision.Server{
			{HostgroupID: 2, Hostname: "db1", Weight: number(3), MaxConnections: number(10)},
			{HostgroupID: 2, Hostname: "db2"},
			{HostgroupID: 2, Hostname: "db3", Status: new("OFFLINE_SOFT")},
			{HostgroupID: 3, Hostname: "::1", Weight: number(0)},
			{HostgroupID: 3, Hostname: "/run/mysqld.sock", Port: new(uint32(0))},
			{HostgroupID: 4, Hostname: "db1"},
			{HostgroupID: 4, Hostname: "db2"},
		},
	})
	tests := []struct {
		name       string
		request    decision.SelectRequest
		address    string // "": none
		eligible   int
		rejections []decision.Rejection
	}{
		{"unknown hostgroup", decision.SelectRequest{Hostgroup: 9}, "", 0, nil},
		{"empty hostgroup", decision.SelectRequest{Hostgroup: 1, Explain: true}, "", 0, nil},
		{"excluded", decision.SelectRequest{Hostgroup: 2, Exclude: []string{"db1:3306"}, Explain: true}, "db2:3306", 1, []decision.Rejection{
			{Server: "db1:3306", Reason: "excluded by the caller"}, {Server: "db3:3306", Reason: "status OFFLINE_SOFT"},
		}},
		{"connections", decision.SelectRequest{Hostgroup: 2, Connections: map[string]uint32{"db1:3306": 10, "db2:3306": 999}}, "db2:3306", 1, nil},
		{"lag is unknown", decision.SelectRequest{Hostgroup: 2, MaxLagMS: new(uint32(0)), Exclude: []string{"db2:3306"}}, "db1:3306", 1, nil},
		{"weight 0", decision.SelectRequest{Hostgroup: 3, Explain: true}, "/run/mysqld.sock:0", 1, []decision.Rejection{{Server: "[::1]:3306", Reason: "weight 0"}}},
		{"too many online", decision.SelectRequest{Hostgroup: 4}, "", 0, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := g.Select(&tt.request)
			address := ""
			if got.Server != nil {
				address = got.Server.Address()
			}
			if address != tt.address || (got.Index < 0) != (tt.address == "") || got.Eligible != tt.eligible {
				t.Errorf("result %+v, server %q", got, address)
			}
			if !slices.Equal(got.Rejections, tt.rejections) {
				t.Errorf("rejections %q", got.Rejections)
			}
		})
	}
	count := map[int]int{}
	for seed := range uint64(4000) {
		count[g.Select(&decision.SelectRequest{Hostgroup: 2, Seed: seed}).Index]++
	}
	// Four standard deviations of 4,000 draws at 3:1 are 110.
	if count[0] < 2890 || count[0] > 3110 || count[0]+count[1] != 4000 {
		t.Errorf("draws %v", count)
	}
}

func TestSelectAllocs(t *testing.T) {
	cfg := &decision.Config{}
	request := decision.SelectRequest{Hostgroup: 2, Connections: map[string]uint32{}}
	for i := range 100 {
		cfg.Servers = append(cfg.Servers, decision.Server{HostgroupID: 2, Hostname: fmt.Sprint("db", i)})
		request.Connections[cfg.Servers[i].Address()] = 1000
	}
	request.Connections["db7:3306"] = 999
	g := mustCompile(t, cfg)
	if n := testing.AllocsPerRun(100, func() {
		request.Seed++
		if got := g.Select(&request); got.Eligible != 1 || got.Server.Hostname != "db7" {
			t.Fatalf("result %+v", got)
		}
	}); n != 0 {
		t.Errorf("%g allocations, want 0", n)
	}
}

func TestSelectCandidates(t *testing.T) {
	number := func(n int64) *int64 { return &n }
	list := []decision.Candidate{
		{Index: new(int32(7)), MaxConnections: new(uint32(0))},
		{CurrentReplicationLag: new(uint32(3)), MaxReplicationLag: 2},
		{CurrentReplicationLag: new(uint32(2)), MaxReplicationLag: 2, CurrentLatencyUS: 999_999},
		{CurrentLatencyUS: 1_000_000},
		{Status: "shunned"},
		{Weight: number(0)},
	}
	request := decision.SelectRequest{Explain: true}
	got, err := decision.SelectCandidates(list, &request, 1000)
	if err != nil || got.Index != 2 || got.Eligible != 1 || got.Server != nil || len(got.Rejections) != 5 || got.Rejections[0].Server != "7" {
		t.Errorf("result %+v, %v", got, err)
	}
	request.MaxLagMS = new(uint32(1999))
	if got, err = decision.SelectCandidates(list, &request, 1000); err != nil || got.Index != -1 {
		t.Errorf("result %+v, %v", got, err)
	}
	one := []decision.Candidate{{Index: new(int32(7))}}
	if got, err = decision.SelectCandidates(one, &decision.SelectRequest{}, 1000); err != nil || got.Index != 7 {
		t.Errorf("result %+v, %v", got, err)
	}
	if got, err = decision.SelectCandidates(one, &decision.SelectRequest{Exclude: []string{"7"}}, 1000); err != nil || got.Index != -1 {
		t.Errorf("result %+v, %v", got, err)
	}
	for field, bad := range map[string]decision.Candidate{
		"candidates.candidates[1].weight": {Weight: number(-1)},
		"candidates.candidates[1].status": {Status: "UP"},
		"candidates.candidates[1].index":  {Index: new(int32(0))},
	} {
		_, err := decision.SelectCandidates([]decision.Candidate{{}, bad}, &decision.SelectRequest{}, 1000)
		if q, ok := errors.AsType[*decision.QuestionError](err); !ok || q.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
