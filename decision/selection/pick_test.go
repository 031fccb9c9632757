package selection

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// up is a server that passes everything.
func up(weight uint32) Candidate {
	return Candidate{Weight: weight, MaxConnections: 1000, CurrentReplicationLag: -1, LagMS: -1}
}

// with changes a server that passes everything.
func with(change func(c *Candidate)) Candidate {
	c := up(1)
	change(&c)
	return c
}

// shunned is a server that was shunned automatically at the second since.
func shunned(since int64, change func(c *Candidate)) Candidate {
	return with(func(c *Candidate) {
		c.Status, c.ShunnedAutomatic, c.LastErrorSec = Shunned, true, since
		if change != nil {
			change(c)
		}
	})
}

func weights(n int, weight func(i int) uint32) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = weight(i)
	}
	return out
}

func TestDistribution(t *testing.T) {
	const draws = 100_000
	for _, tt := range []struct {
		name    string
		weights []uint32
	}{
		{"3:1", []uint32{3, 1}},
		{"1:1", []uint32{1, 1}},
		{"0 among others", []uint32{0, 2, 0, 5, 0}},
		{"1:10000000", []uint32{1, MaxWeight}},
		{"120 equal servers", weights(120, func(int) uint32 { return 1 })},
		{"120 servers", weights(120, func(i int) uint32 { return uint32(i) * 1000 })},
		{"120 heavy servers", weights(120, func(int) uint32 { return MaxWeight })},
	} {
		starts := []uint64{0, 1 << 40, math.MaxUint64 - 5000}
		if len(tt.weights) > 100 {
			starts = starts[:1] // enough for the time they take
		}
		for _, from := range starts {
			t.Run(fmt.Sprintf("%s from seed %d", tt.name, from), func(t *testing.T) {
				cands := make([]Candidate, len(tt.weights))
				var sum float64
				for i, w := range tt.weights {
					cands[i] = up(w)
					sum += float64(w)
				}
				limits := DefaultLimits()
				counts := make([]float64, len(cands))
				for n := range uint64(draws) {
					i := Pick(cands, &limits, from+n, nil)
					if i < 0 {
						t.Fatalf("seed %d: no server", from+n)
					}
					counts[i]++
				}
				for i, w := range tt.weights {
					p := float64(w) / sum
					sigma := math.Sqrt(draws * p * (1 - p))
					if off := math.Abs(counts[i] - draws*p); off > 4*sigma {
						t.Errorf("server %d of weight %d is drawn %g times, want %g within %g", i, w, counts[i], draws*p, 4*sigma)
					}
				}
			})
		}
	}
}

func TestSameSeedSameServer(t *testing.T) {
	limits := DefaultLimits()
	cands := make([]Candidate, 50)
	for i := range cands {
		cands[i] = up(uint32(i % 7))
	}
	for seed := range uint64(1000) {
		want := Pick(cands, &limits, seed, nil)
		if got := Pick(slices.Clone(cands), &limits, seed, nil); got != want {
			t.Fatalf("seed %d gives %d, then %d", seed, want, got)
		}
	}
}

func TestPickNone(t *testing.T) {
	limits := DefaultLimits()
	for name, cands := range map[string][]Candidate{
		"empty":    {},
		"weight 0": {up(0), up(0)},
		"statuses": {
			with(func(c *Candidate) { c.Status = Shunned }),
			with(func(c *Candidate) { c.Status = OfflineSoft }),
			with(func(c *Candidate) { c.Status = OfflineHard }),
			with(func(c *Candidate) { c.Status = ShunnedReplicationLag }),
		},
		"max_connections": {with(func(c *Candidate) { c.MaxConnections = 0 }), with(func(c *Candidate) { c.CurrentConnections = 1000 })},
	} {
		if got := Pick(cands, &limits, 1, nil); got != -1 {
			t.Errorf("%s: %d, want -1", name, got)
		}
	}
	if got := Pick([]Candidate{up(1)}, &Limits{}, 1, nil); got != -1 {
		t.Errorf("zero limits: %d, want -1", got)
	}
}

func TestExclude(t *testing.T) {
	limits := DefaultLimits()
	cands := make([]Candidate, 130)
	for i := range cands {
		cands[i] = up(1)
	}
	var excluded Set
	for left := len(cands); left > 0; left-- {
		i := Pick(cands, &limits, 7, excluded)
		if i < 0 || excluded.Has(i) {
			t.Fatalf("with %d left: %d", left, i)
		}
		excluded.Add(i)
	}
	if i := Pick(cands, &limits, 7, excluded); i != -1 {
		t.Errorf("all excluded: %d, want -1", i)
	}
	excluded.Clear()
	if i := Pick(cands, &limits, 7, excluded); i < 0 {
		t.Error("none excluded: no server")
	}
	excluded.Add(70)
	if excluded.Has(69) || !excluded.Has(70) {
		t.Error("places from before Clear are in the set")
	}
	if excluded.Has(-1) || excluded.Has(1000) {
		t.Error("a place that was never added is in the set")
	}
}

// TestSteps covers the steps that look at all candidates, by the reasons that they leave behind.
func TestSteps(t *testing.T) {
	lag := func(us uint64, weight uint32) Candidate {
		return with(func(c *Candidate) { c.Weight, c.AuroraLagUS, c.LagMS = weight, us, int64(us/1000) })
	}
	latency := func(us uint64, weight uint32) Candidate {
		return with(func(c *Candidate) { c.Weight, c.CurrentLatencyUS = weight, us })
	}
	busy := func(c *Candidate) { c.CurrentConnections = 1 }
	free := func(c *Candidate) { c.ConnsFree = 1 }
	killAll := func(also func(*Candidate)) func(*Candidate) {
		return func(c *Candidate) {
			c.KillAll = true
			if also != nil {
				also(c)
			}
		}
	}
	const now = 1000
	for _, tt := range []struct {
		name    string
		limits  func(l *Limits)
		exclude []int
		cands   []Candidate
		want    string // the kinds, - for eligible
		back    []int
	}{
		{
			name:  "recovery after more than 9 s",
			cands: []Candidate{up(1), shunned(now-9, nil), shunned(now-10, nil)},
			want:  "- NotOnline -", back: []int{2},
		},
		{
			name:   "recovery time below the connect timeout",
			limits: func(l *Limits) { l.ShunRecoveryTimeSec = 5 },
			cands:  []Candidate{up(1), shunned(now-5, nil), shunned(now-6, nil)},
			want:   "- NotOnline -", back: []int{2},
		},
		{
			name:   "recovery takes more than 1 s at least",
			limits: func(l *Limits) { l.ConnectTimeoutServerMaxMS = 100 },
			cands:  []Candidate{up(1), shunned(now-1, nil), shunned(now-2, nil)},
			want:   "- NotOnline -", back: []int{2},
		},
		{
			name:   "recovery off while there is another server",
			limits: func(l *Limits) { l.ShunRecoveryTimeSec = 0 },
			cands:  []Candidate{up(1), shunned(1, nil)},
			want:   "- NotOnline",
		},
		{
			name:   "desperate recovery after a tenth",
			limits: func(l *Limits) { l.ShunRecoveryTimeSec, l.ConnectTimeoutServerMaxMS = 100, 200_000 },
			cands:  []Candidate{up(0), shunned(now-10, nil), shunned(now-11, nil)},
			want:   "NoWeight NotOnline -", back: []int{2},
		},
		{
			name:  "kill all comes back without connections",
			cands: []Candidate{up(1), shunned(1, killAll(nil)), shunned(1, killAll(busy)), shunned(1, killAll(free)), shunned(1, busy)},
			want:  "- - NotOnline NotOnline -", back: []int{1, 4},
		},
		{
			name:  "kill all in the desperate pass too",
			cands: []Candidate{shunned(now-5, killAll(busy)), shunned(now-5, killAll(nil))},
			want:  "NotOnline -", back: []int{1},
		},
		{
			name:  "back and still too slow",
			cands: []Candidate{up(1), shunned(1, func(c *Candidate) { c.CurrentLatencyUS = 1_000_000 })},
			want:  "- TooSlow", back: []int{1},
		},
		{
			name:    "an excluded server stays as it is",
			exclude: []int{0, 2},
			cands:   []Candidate{shunned(1, nil), up(1), up(1)},
			want:    "Excluded - Excluded",
		},
		{
			name:   "a server that comes back counts as ONLINE",
			limits: func(l *Limits) { l.MaxNumOnlineServers = 1 },
			cands:  []Candidate{up(1), shunned(1, nil), with(func(c *Candidate) { c.Status = OfflineHard })},
			want:   "TooManyOnline TooManyOnline NotOnline", back: []int{1},
		},
		{
			name:    "an excluded server counts as ONLINE",
			limits:  func(l *Limits) { l.MaxNumOnlineServers = 1 },
			exclude: []int{0},
			cands:   []Candidate{up(1), up(1)},
			want:    "Excluded TooManyOnline",
		},
		{
			name:   "too many are ONLINE after the desperate pass",
			limits: func(l *Limits) { l.MaxNumOnlineServers = 1 },
			cands:  []Candidate{up(0), shunned(now-5, nil)},
			want:   "TooManyOnline TooManyOnline", back: []int{1},
		},
		{
			name:   "too many ONLINE bring nobody back sooner",
			limits: func(l *Limits) { l.MaxNumOnlineServers = 1 },
			cands:  []Candidate{up(1), up(1), shunned(now-5, nil)},
			want:   "TooManyOnline TooManyOnline NotOnline",
		},
		{
			name:  "seconds of lag",
			cands: []Candidate{with(func(c *Candidate) { c.MaxReplicationLag, c.CurrentReplicationLag = 10, 10 }), with(func(c *Candidate) { c.MaxReplicationLag, c.CurrentReplicationLag = 10, 11 }), with(func(c *Candidate) { c.CurrentReplicationLag = 11 }), with(func(c *Candidate) { c.MaxReplicationLag = 10 })},
			want:  "- TooFarBehind - -",
		},
		{
			name:   "max_lag_ms",
			limits: func(l *Limits) { l.HasMaxLag, l.MaxLagMS = true, 10 },
			cands:  []Candidate{with(func(c *Candidate) { c.LagMS = 10 }), with(func(c *Candidate) { c.LagMS = 11 }), up(1)},
			want:   "- TooStale -",
		},
		{
			name:   "the writer is left out",
			limits: func(l *Limits) { l.HasMaxLag, l.MaxLagMS = true, 10 },
			cands:  []Candidate{lag(0, 1), lag(1, 1), lag(10_999, 1), lag(11_000, 1)},
			want:   "Writer - - TooStale",
		},
		{
			name:   "the writer is all there is within max_lag_ms",
			limits: func(l *Limits) { l.HasMaxLag, l.MaxLagMS = true, 10 },
			cands:  []Candidate{lag(0, 1), lag(20_000, 1), lag(20_000, 1)},
			want:   "- TooStale TooStale",
		},
		{
			name:   "not enough replicas to leave the writer out",
			limits: func(l *Limits) { l.HasMaxLag, l.MaxLagMS, l.AuroraReplicas = true, 10, 3 },
			cands:  []Candidate{lag(0, 1), lag(5000, 1)},
			want:   "- -",
		},
		{
			name:   "the writer is never left out",
			limits: func(l *Limits) { l.HasMaxLag, l.MaxLagMS, l.AuroraReplicas = true, 10, 0 },
			cands:  []Candidate{lag(0, 1), lag(5000, 1)},
			want:   "- -",
		},
		{
			name:  "no demand on lag",
			cands: []Candidate{lag(0, 1), lag(5000, 1)},
			want:  "- -",
		},
		{
			name:   "a desperate pass may bring the writer back",
			limits: func(l *Limits) { l.HasMaxLag, l.MaxLagMS = true, 10 },
			cands:  []Candidate{lag(0, 1), lag(5000, 0), shunned(now-5, nil)},
			want:   "Writer NoWeight -", back: []int{2},
		},
		{
			name:   "above the mean of many",
			limits: func(l *Limits) { l.LatencyAwareness = 3 },
			cands:  []Candidate{latency(100, 1), latency(200, 1), latency(300, 1)},
			want:   "- - AboveMean",
		},
		{
			name:   "not so many",
			limits: func(l *Limits) { l.LatencyAwareness = 4 },
			cands:  []Candidate{latency(100, 1), latency(200, 1), latency(300, 1)},
			want:   "- - -",
		},
		{
			name:   "one of unknown latency",
			limits: func(l *Limits) { l.LatencyAwareness = 3 },
			cands:  []Candidate{latency(100, 1), latency(0, 1), latency(300, 1)},
			want:   "- - -",
		},
		{
			name:   "the slow are better than none",
			limits: func(l *Limits) { l.LatencyAwareness = 3 },
			cands:  []Candidate{latency(100, 0), latency(200, 0), latency(300, 1)},
			want:   "NoWeight NoWeight -",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			limits := DefaultLimits()
			limits.NowSec = now
			if tt.limits != nil {
				tt.limits(&limits)
			}
			var excluded Set
			for _, i := range tt.exclude {
				excluded.Add(i)
			}
			var kinds []string
			reasons := Explain(nil, tt.cands, &limits, excluded)
			for _, r := range reasons {
				kinds = append(kinds, kindNames[r.Kind])
			}
			if got := strings.Join(kinds, " "); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if back := Recover(nil, tt.cands, &limits, excluded); !slices.Equal(back, tt.back) {
				t.Errorf("places %v come back, want %v", back, tt.back)
			}
			for seed := range uint64(50) {
				switch i := Pick(tt.cands, &limits, seed, excluded); {
				case i < 0 && Count(tt.cands, &limits, excluded) > 0:
					t.Fatalf("seed %d: no server", seed)
				case i >= 0 && reasons[i].Kind != Passed:
					t.Fatalf("seed %d: server %d, which is not eligible: %v", seed, i, reasons[i])
				}
			}
		})
	}
}

var kindNames = map[Kind]string{
	Passed: "-", Excluded: "Excluded", NotOnline: "NotOnline", TooManyConnections: "TooManyConnections", TooSlow: "TooSlow",
	TooFarBehind: "TooFarBehind", TooStale: "TooStale", TooManyOnline: "TooManyOnline", Writer: "Writer", AboveMean: "AboveMean",
	NoWeight: "NoWeight",
}

func TestReasons(t *testing.T) {
	for _, tt := range []struct {
		change func(c *Candidate)
		want   string
	}{
		{func(*Candidate) {}, "eligible"},
		{func(c *Candidate) { c.Weight = 0 }, "weight 0"},
		{func(c *Candidate) { c.Status = Shunned }, "status SHUNNED"},
		{func(c *Candidate) { c.Status = ShunnedReplicationLag }, "status SHUNNED_REPLICATION_LAG"},
		{func(c *Candidate) { c.CurrentConnections, c.MaxConnections = 10, 10 }, "connections 10 of max_connections 10"},
		{func(c *Candidate) { c.CurrentLatencyUS = 1_000_000 }, "latency 1000000 us is not below 1000000 us"},
		{func(c *Candidate) { c.CurrentLatencyUS, c.MaxLatencyUS = 51, 50 }, "latency 51 us is not below 50 us"},
		{func(c *Candidate) { c.CurrentReplicationLag, c.MaxReplicationLag = 11, 10 }, "replication lag 11 s is above max_replication_lag 10 s"},
		{func(c *Candidate) { c.LagMS = 101 }, "lag 101 ms is above max_lag_ms 100"},
	} {
		limits := DefaultLimits()
		limits.HasMaxLag, limits.MaxLagMS = true, 100
		c := with(tt.change)
		ok, reason := Eligible(&c, &limits)
		if ok != (tt.want == "eligible") || reason.String() != tt.want {
			t.Errorf("%v, %q, want %q", ok, reason, tt.want)
		}
		if i := Pick([]Candidate{c}, &limits, 1, nil); (i == 0) != ok {
			t.Errorf("%q: drawn %d", tt.want, i)
		}
	}
	for _, tt := range []struct {
		reason Reason
		want   string
	}{
		{Reason{Kind: Excluded}, "excluded by the caller"},
		{Reason{Kind: TooManyOnline, Value: 3, Limit: 2}, "3 servers of the hostgroup are ONLINE, more than max_num_online_servers 2"},
		{Reason{Kind: Writer}, "writer, and replicas within max_lag_ms are there"},
		{Reason{Kind: AboveMean, Value: 3, Limit: 2}, "latency 3 us is above the mean of 2 us"},
		{Reason{Kind: 99}, "reason 99"},
	} {
		if got := tt.reason.String(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func TestStatus(t *testing.T) {
	for text, want := range map[string]Status{
		"": Online, "ONLINE": Online, "online": Online, "Shunned": Shunned, "OFFLINE_SOFT": OfflineSoft,
		"OFFLINE_HARD": OfflineHard, "SHUNNED_REPLICATION_LAG": ShunnedReplicationLag,
	} {
		got, err := ParseStatus(text)
		if err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
		if again, err := ParseStatus(got.String()); err != nil || again != got {
			t.Errorf("%v: read back as %v, %v", got, again, err)
		}
	}
	for _, text := range []string{"ONLINE ", "OFFLINE", "OFFLINE-SOFT", "0"} {
		if got, err := ParseStatus(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
	if got := Status(9).String(); got != "status 9" {
		t.Errorf("unknown status: %q", got)
	}
}

func TestPickAllocs(t *testing.T) {
	limits := DefaultLimits()
	limits.HasMaxLag, limits.MaxLagMS = true, 10
	cands := mixed(200)
	var excluded Set
	excluded.Add(100)
	var seed uint64
	if n := testing.AllocsPerRun(100, func() {
		Pick(cands, &limits, seed, excluded)
		Count(cands, &limits, excluded)
		seed++
	}); n != 0 {
		t.Errorf("%g allocations, want 0", n)
	}
}

// mixed gives n servers, a fifth of which can't be used.
func mixed(n int) []Candidate {
	cands := make([]Candidate, n)
	for i := range cands {
		cands[i] = up(uint32(1 + i%5))
		cands[i].CurrentConnections, cands[i].CurrentLatencyUS = 5, 300
		cands[i].CurrentReplicationLag, cands[i].MaxReplicationLag = 1, 10
		if i%5 == 4 {
			cands[i].Status = Shunned
		}
	}
	return cands
}

// FuzzPick holds the draw against the reasons, over lists made of a random stream.
func FuzzPick(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, uint8(1<<seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, n uint8) {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		cands := make([]Candidate, n)
		var excluded Set
		for i := range cands {
			c := &cands[i]
			*c = Candidate{
				Weight: r.Uint32N(2) * (1 + r.Uint32N(MaxWeight)), Status: Status(r.IntN(3)), CurrentConnections: r.Uint32N(3), MaxConnections: r.Uint32N(4),
				CurrentReplicationLag: r.Int64N(4) - 1, MaxReplicationLag: r.Uint32N(3), CurrentLatencyUS: r.Uint64N(2000), MaxLatencyUS: r.Uint64N(3000),
				LagMS: r.Int64N(4) - 1, AuroraLagUS: r.Uint64N(3), ShunnedAutomatic: r.IntN(2) == 0 && seed%3 == 0, KillAll: r.IntN(2) == 0,
				ConnsFree: r.Uint32N(2), LastErrorSec: r.Int64N(20),
			}
			if r.IntN(8) == 0 && seed%2 == 0 {
				excluded.Add(i)
			}
		}
		limits := Limits{
			DefaultMaxLatencyMS: r.Uint32N(3), MaxNumOnlineServers: r.Uint32N(200), HasMaxLag: r.IntN(2) == 0 && seed%5 == 0, MaxLagMS: r.Uint32N(3), NowSec: 15,
			ShunRecoveryTimeSec: r.Uint32N(20), ConnectTimeoutServerMaxMS: r.Uint32N(20_000), AuroraReplicas: r.Uint32N(3), LatencyAwareness: r.Uint32N(300),
		}
		before := slices.Clone(cands)
		reasons := Explain(nil, cands, &limits, excluded)
		count := 0
		for _, r := range reasons {
			if r.Kind == Passed {
				count++
			}
			if r.String() == "" {
				t.Errorf("no text for %v", r.Kind)
			}
		}
		i := Pick(cands, &limits, seed, excluded)
		if i != Pick(cands, &limits, seed, excluded) || !slices.Equal(cands, before) {
			t.Fatal("the second draw differs, or a draw changes the candidates")
		}
		list := NewList(cands)
		if prepared := list.Pick(&limits, seed, excluded, nil); list.alias == nil && prepared != i || (prepared < 0) != (i < 0) {
			t.Errorf("drawn %d, from the prepared list %d", i, prepared)
		} else if prepared >= 0 && reasons[prepared].Kind != Passed {
			t.Errorf("server %d of the prepared list: %v", prepared, reasons[prepared])
		}
		if got := Count(cands, &limits, excluded); got != count {
			t.Errorf("Count gives %d, %d are eligible", got, count)
		}
		if got := list.Count(&limits, excluded, nil); got != count {
			t.Errorf("Count of the prepared list gives %d, %d are eligible", got, count)
		}
		if (i >= 0) != (count > 0) || i >= 0 && reasons[i].Kind != Passed {
			t.Errorf("drawn %d of %d eligible", i, count)
		}
		for _, i := range Recover(nil, cands, &limits, excluded) {
			if cands[i].Status != Shunned || !cands[i].ShunnedAutomatic || excluded.Has(i) {
				t.Errorf("server %d comes back", i)
			}
		}
	})
}

func BenchmarkPick(b *testing.B) {
	for _, n := range []int{3, 20, 200} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			list := NewList(mixed(n))
			limits := DefaultLimits()
			var seed uint64
			for b.Loop() {
				list.Pick(&limits, seed, nil, nil)
				seed++
			}
		})
	}
}
