package digest

import (
	"os"
	"strings"
	"testing"
)

// The table of docs/digests.md says what both modes make of a statement.
func TestDocumentedModes(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/digests.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| statement | `compatible` gives | `corrected` gives |\n|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var b Buffer
	rows := strings.Split(table, "\n")
	if len(rows) < 10 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	for _, row := range rows {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		if len(cells) != 3 {
			t.Fatalf("row %q has %d cells", row, len(cells))
		}
		for k, cell := range cells {
			if inner, ok := strings.CutPrefix(cell, "`` "); ok {
				cells[k] = strings.TrimSuffix(inner, " ``")
			} else {
				cells[k] = strings.Trim(cell, "`")
			}
		}
		o := DefaultOptions()
		for k, corrected := range []bool{false, true} {
			o.Corrected = corrected
			if got := string(Compute(&b, []byte(cells[0]), &o).Text); got != cells[k+1] {
				t.Errorf("corrected %v: %q gives %q, the page says %q", corrected, cells[0], got, cells[k+1])
			}
		}
	}
}
