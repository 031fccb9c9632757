package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
)

// Comparison says on which side of its budget a ratio is fine.
type Comparison string

// The comparisons.
const (
	AtMost  Comparison = "<="
	AtLeast Comparison = ">="
)

// Row is the outcome of one budget, as it stands in the JSON file.
type Row struct {
	Name     string     `json:"name"`
	Value    float64    `json:"value"`
	Unit     string     `json:"unit"`
	Ratio    float64    `json:"ratio"` // value by baseline; of times that must be AtLeast so much shorter, baseline by value
	Op       Comparison `json:"op"`
	Budget   float64    `json:"budget"`
	Baseline string     `json:"baseline"` // what the ratio compares with
	OK       bool       `json:"ok"`
}

// Budget is a row that is wanted.
type Budget struct {
	Name     string
	Unit     string
	Op       Comparison
	Limit    float64
	Baseline string
	NoAllocs bool // the row is also missed when an operation allocates
}

// Result is what was measured for a budget.
type Result struct {
	Value  float64
	Ratio  float64
	Allocs float64 // an operation; -1: not counted
	Note   string  // for people
}

// Report prints rows as they come and keeps them.
type Report struct {
	out     io.Writer
	budgets []Budget
	rows    map[string]Row
}

// NewReport starts a report on out that wants a result for each of the budgets.
func NewReport(out io.Writer, budgets []Budget) *Report {
	fmt.Fprintf(out, "%-28s %12s %-10s %10s %10s  %s\n", "name", "value", "unit", "ratio", "budget", "")
	return &Report{out: out, budgets: budgets, rows: make(map[string]Row)}
}

// Add takes the result for the budget of that name, which must be one of the report's.
func (r *Report) Add(name string, res Result) {
	b := r.budget(name)
	row := Row{
		Name: b.Name, Value: res.Value, Unit: b.Unit, Ratio: res.Ratio,
		Op: b.Op, Budget: b.Limit, Baseline: b.Baseline, OK: b.holds(res),
	}
	r.rows[name] = row
	verdict := "ok"
	if !row.OK {
		verdict = "MISS"
	}
	fmt.Fprintf(r.out, "%-28s %12s %-10s %10s %10s  %-4s", row.Name, short(row.Value), row.Unit, short(row.Ratio), string(b.Op)+" "+short(b.Limit), verdict)
	if res.Allocs >= 0 {
		fmt.Fprintf(r.out, "  %s allocs", short(res.Allocs))
	}
	if res.Note != "" {
		fmt.Fprintf(r.out, "  %s", res.Note)
	}
	fmt.Fprintln(r.out)
}

// Info prints a line that no budget belongs to.
func (r *Report) Info(name, format string, args ...any) {
	fmt.Fprintf(r.out, "%-28s %s\n", "- "+name, fmt.Sprintf(format, args...))
}

func (r *Report) budget(name string) Budget {
	for _, b := range r.budgets {
		if b.Name == name {
			return b
		}
	}
	panic("bench: no budget is called " + name)
}

// holds tells whether the result keeps the budget. What was not measured does not.
func (b *Budget) holds(res Result) bool {
	if math.IsNaN(res.Ratio) || res.Ratio <= 0 || b.NoAllocs && res.Allocs != 0 {
		return false
	}
	if b.Op == AtLeast {
		return res.Ratio >= b.Limit
	}
	return res.Ratio <= b.Limit
}

// Rows are the rows so far, in the budgets' order.
func (r *Report) Rows() []Row {
	rows := []Row{}
	for _, b := range r.budgets {
		if row, ok := r.rows[b.Name]; ok {
			rows = append(rows, row)
		}
	}
	return rows
}

// Finish writes the rows to the JSON file, prints a summary, and tells whether all budgets have a row that keeps them.
func (r *Report) Finish(file string) (ok bool, err error) {
	rows := r.Rows()
	text, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return false, fmt.Errorf("write %s: %w", file, err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return false, fmt.Errorf("write %s: %w", file, err)
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o600); err != nil {
		return false, fmt.Errorf("write %s: %w", file, err)
	}
	held := 0
	for _, row := range rows {
		if row.OK {
			held++
		}
	}
	fmt.Fprintf(r.out, "%d of %d budgets hold; written to %s\n", held, len(r.budgets), file)
	return held == len(r.budgets), nil
}

// short gives three or so significant digits.
func short(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100 || v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	case a < 0.1:
		return fmt.Sprintf("%.4f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
