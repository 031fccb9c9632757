package selection

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// vectors reads a list of cases from testdata.
func vectors[T any](tb testing.TB, name string) []T {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	var list []T
	if err := json.Unmarshal(data, &list); err != nil {
		tb.Fatal(err)
	}
	if len(list) == 0 {
		tb.Fatalf("%s is empty", name)
	}
	return list
}

// TestPickVectors holds how a number becomes a server against ProxySQL, which draws k from 1 to the sum of the weights.
func TestPickVectors(t *testing.T) {
	for _, tt := range vectors[struct {
		Weights []uint32 `json:"weights"`
		Sum     uint64   `json:"sum"`
		K       uint64   `json:"k"`
		Expect  int      `json:"expect_index"`
	}](t, "server_pick.json") {
		var cands []Candidate
		var sums []uint32
		var sum uint32
		for _, w := range tt.Weights {
			cands = append(cands, up(w))
			sum += w
			sums = append(sums, sum)
		}
		limits := DefaultLimits()
		v, _ := look(cands, &limits, nil)
		if got := v.at(cands, tt.K-1); got != tt.Expect {
			t.Errorf("weights %v, number %d: place %d, want %d", tt.Weights, tt.K, got, tt.Expect)
		}
		if got := firstAbove(sums, tt.K-1); got != tt.Expect {
			t.Errorf("weights %v, number %d: the sum at %d, want %d", tt.Weights, tt.K, got, tt.Expect)
		}
		if got := v.at(cands, tt.Sum); got != -1 {
			t.Errorf("weights %v: place %d beyond the sum, want -1", tt.Weights, got)
		}
	}
}

type vectorServer struct {
	Name             string `json:"name"`
	Weight           uint32 `json:"weight"`
	Status           string `json:"status"`
	ConnsUsed        uint32 `json:"conns_used"`
	ConnsFree        uint32 `json:"conns_free"`
	MaxConnections   uint32 `json:"max_connections"`
	CurrentLatencyUS uint64 `json:"current_latency_us"`
	MaxLatencyMS     uint64 `json:"max_latency_ms"`
	LastError        int64  `json:"time_last_detected_error"`
	ShunnedAutomatic bool   `json:"shunned_automatic"`
	KillAll          bool   `json:"kill_all"`
	AuroraLagUS      uint64 `json:"aurora_lag_us"`
}

func (s *vectorServer) candidate(tb testing.TB) Candidate {
	tb.Helper()
	status, err := ParseStatus(s.Status)
	if err != nil {
		tb.Fatal(err)
	}
	return Candidate{
		Weight:                s.Weight,
		Status:                status,
		CurrentConnections:    s.ConnsUsed,
		ConnsFree:             s.ConnsFree,
		MaxConnections:        s.MaxConnections,
		CurrentReplicationLag: -1,
		CurrentLatencyUS:      s.CurrentLatencyUS,
		MaxLatencyUS:          s.MaxLatencyMS * 1000,
		LagMS:                 int64(s.AuroraLagUS / 1000),
		AuroraLagUS:           s.AuroraLagUS,
		ShunnedAutomatic:      s.ShunnedAutomatic,
		KillAll:               s.KillAll,
		LastErrorSec:          s.LastError,
	}
}

// TestCandidates27 holds the hostgroup form against ProxySQL 2.7: who can be drawn, and what becomes of the statuses.
func TestCandidates27(t *testing.T) {
	for _, tt := range vectors[struct {
		ID       string            `json:"id"`
		Name     string            `json:"name"`
		Servers  []vectorServer    `json:"servers"`
		Now      int64             `json:"now"`
		MaxLagMS *uint32           `json:"max_lag_ms"`
		Expect   []string          `json:"expect_candidates"`
		After    map[string]string `json:"after"`
		Settings struct {
			DefaultMaxLatencyMS       uint32 `json:"default_max_latency_ms"`
			ShunRecoveryTimeSec       uint32 `json:"shun_recovery_time_sec"`
			ConnectTimeoutServerMaxMS uint32 `json:"connect_timeout_server_max_ms"`
			MaxNumOnlineServers       uint32 `json:"max_num_online_servers"`
		} `json:"settings"`
	}](t, "server_candidates_2_7.json") {
		t.Run(tt.ID, func(t *testing.T) {
			limits := DefaultLimits()
			limits.DefaultMaxLatencyMS = tt.Settings.DefaultMaxLatencyMS
			limits.ShunRecoveryTimeSec = tt.Settings.ShunRecoveryTimeSec
			limits.ConnectTimeoutServerMaxMS = tt.Settings.ConnectTimeoutServerMaxMS
			limits.MaxNumOnlineServers = tt.Settings.MaxNumOnlineServers
			limits.NowSec = tt.Now
			if tt.MaxLagMS != nil {
				limits.HasMaxLag, limits.MaxLagMS = true, *tt.MaxLagMS
			}
			cands := make([]Candidate, len(tt.Servers))
			for i := range tt.Servers {
				cands[i] = tt.Servers[i].candidate(t)
			}

			got := []string{}
			reasons := Explain(nil, cands, &limits, nil)
			for i, r := range reasons {
				if r.Kind == Passed {
					got = append(got, tt.Servers[i].Name)
				}
			}
			if !slices.Equal(got, tt.Expect) {
				t.Errorf("%s: candidates %q, want %q; reasons %v", tt.Name, got, tt.Expect, reasons)
			}
			if n := Count(cands, &limits, nil); n != len(tt.Expect) {
				t.Errorf("%s: Count gives %d, want %d", tt.Name, n, len(tt.Expect))
			}

			drawn := map[string]bool{}
			for seed := range uint64(200) {
				if i := Pick(cands, &limits, seed, nil); i >= 0 {
					drawn[tt.Servers[i].Name] = true
				}
			}
			if len(drawn) != len(tt.Expect) || slices.ContainsFunc(tt.Expect, func(name string) bool { return !drawn[name] }) {
				t.Errorf("%s: drawn %v, want all of %q", tt.Name, drawn, tt.Expect)
			}

			for _, i := range Recover(nil, cands, &limits, nil) {
				cands[i].Status = Online
			}
			for i := range tt.Servers {
				name := tt.Servers[i].Name
				if want, ok := tt.After[name]; ok && cands[i].Status.String() != want {
					t.Errorf("%s: %s is %s afterwards, want %s", tt.Name, name, cands[i].Status, want)
				}
			}
		})
	}
}
