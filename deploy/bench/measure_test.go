package bench

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		series Series
		want   float64
	}{
		{nil, 0},
		{Series{3}, 3},
		{Series{9, 1, 5}, 5},
		{Series{8, 2, 100, 4}, 6},
		{Series{1, 1, 1, 7, 7, 1000}, 4},
	} {
		before := slices.Clone(tt.series)
		if got := tt.series.Median(); got != tt.want {
			t.Errorf("median of %v is %v, want %v", tt.series, got, tt.want)
		}
		if !slices.Equal(before, tt.series) {
			t.Errorf("the series %v was changed to %v", before, tt.series)
		}
	}
}

// Ratios are made round by round: one disturbed round does not spoil the median.
func TestOver(t *testing.T) {
	got := Series{10, 200, 30}.Over(Series{5, 100, 10})
	if want := (Series{2, 2, 3}); !slices.Equal(got, want) || got.Median() != 2 {
		t.Errorf("ratios %v, want %v", got, want)
	}
}

func TestMeasure(t *testing.T) {
	var runs [2]int
	var sum uint64
	work := func(op, n int) Op {
		return Op{Per: n, Run: func() {
			runs[op]++
			for i := range uint64(n) * 1000 {
				sum = sum*31 + i
			}
		}}
	}
	meter := Meter{Rounds: 3, Slice: time.Millisecond, Slices: 2}
	series := meter.Measure(work(0, 1), work(1, 10))
	for i, s := range series {
		if len(s) != meter.Rounds || slices.Min(s) <= 0 {
			t.Errorf("op %d: series %v, want %d values above 0", i, s, meter.Rounds)
		}
		if runs[i] < meter.Rounds {
			t.Errorf("op %d ran %d times", i, runs[i])
		}
	}
	if sum == 0 {
		t.Error("the work was left out")
	}
}

func TestHeap(t *testing.T) {
	kept, size := Heap(func() []byte { return make([]byte, 64<<20) })
	if size < 64<<20 || size > 66<<20 || len(kept) != 64<<20 {
		t.Errorf("%d bytes, want 64 MiB", size)
	}
	var out []*int
	if n := Allocations(func() {
		for i := range 1000 {
			out = append(out, new(int))
			*out[i] = i
		}
	}); n < 1000 || n > 2000 {
		t.Errorf("%d allocations, want 1000 and those of the list", n)
	}
}

func TestReport(t *testing.T) {
	budgets := []Budget{
		{Name: "most", Unit: "ns", Op: AtMost, Limit: 2, Baseline: "M"},
		{Name: "least", Unit: "ns", Op: AtLeast, Limit: 200, Baseline: "R"},
		{Name: "bare", Unit: "ns", Op: AtMost, Limit: 2, Baseline: "M", NoAllocs: true},
		{Name: "absent", Unit: "ns", Op: AtMost, Limit: 2, Baseline: "M"},
	}
	for _, tt := range []struct {
		name string
		res  Result
		ok   bool
	}{
		{"most", Result{Value: 20, Ratio: 2}, true},
		{"most", Result{Value: 20, Ratio: 2.01}, false},
		{"most", Result{Value: 20, Ratio: math.NaN()}, false},
		{"most", Result{}, false},
		{"least", Result{Value: 20, Ratio: 200}, true},
		{"least", Result{Value: 20, Ratio: 199}, false},
		{"bare", Result{Value: 20, Ratio: 1}, true},
		{"bare", Result{Value: 20, Ratio: 1, Allocs: 1}, false},
		{"bare", Result{Value: 20, Ratio: 1, Allocs: -1}, false},
	} {
		var out strings.Builder
		r := NewReport(&out, budgets)
		r.Add(tt.name, tt.res)
		rows := r.Rows()
		if len(rows) != 1 || rows[0].Name != tt.name || rows[0].OK != tt.ok {
			t.Errorf("%s with %+v: rows %+v, want ok %v", tt.name, tt.res, rows, tt.ok)
		}
		if strings.Contains(out.String(), "MISS") == tt.ok {
			t.Errorf("%s with %+v prints %q", tt.name, tt.res, out.String())
		}
	}
}

func TestReportFile(t *testing.T) {
	var out strings.Builder
	r := NewReport(&out, []Budget{
		{Name: "first", Unit: "ns", Op: AtMost, Limit: 2, Baseline: "M"},
		{Name: "second", Unit: "x", Op: AtLeast, Limit: 3, Baseline: "R"},
	})
	r.Add("second", Result{Value: 7, Ratio: 4, Allocs: -1})
	file := filepath.Join(t.TempDir(), "new", "core.json")
	if ok, err := r.Finish(file); ok || err != nil {
		t.Errorf("with a row missing: %v, error %v", ok, err)
	}
	r.Add("first", Result{Value: 5, Ratio: 1.5, Allocs: -1})
	if ok, err := r.Finish(file); !ok || err != nil {
		t.Errorf("with all rows: %v, error %v", ok, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]any
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"name": "first", "value": 5.0, "unit": "ns", "ratio": 1.5, "op": "<=", "budget": 2.0, "baseline": "M", "ok": true}
	if len(rows) != 2 || len(rows[0]) != len(want) {
		t.Fatalf("rows %v", rows)
	}
	for key, value := range want {
		if rows[0][key] != value {
			t.Errorf("%s is %v, want %v", key, rows[0][key], value)
		}
	}
}
