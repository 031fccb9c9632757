package selection

// alias draws a row in proportion to its weight at a cost that does not grow with their number (Walker's method): the
// weights are dealt out to as many equal cells as there are rows, at most two rows to a cell. All of it is in whole
// numbers, so that the chances are exactly those of the weights.
type alias struct {
	cells []cell
	size  uint64 // of a cell: the sum of the weights
}

type cell struct {
	own   uint64 // how much of the cell is the row's with the cell's number; the rest is the other's
	other uint32
}

// Steps between the seeds of draws that must not depend on each other. below counts in steps of its own.
const (
	cellStep = 0x632BE59BD9B4E019
	tryStep  = 0xD1342543DE82EF95
)

func newAlias(rows []row) *alias {
	a := &alias{cells: make([]cell, len(rows))}
	for i := range rows {
		a.size += uint64(rows[i].weight)
	}
	// Rows that need less than a cell leave room for the others.
	var small, large []uint32
	for i := range rows {
		a.cells[i] = cell{own: uint64(rows[i].weight) * uint64(len(rows)), other: uint32(i)}
		if a.cells[i].own < a.size {
			small = append(small, uint32(i))
		} else {
			large = append(large, uint32(i))
		}
	}
	for len(small) > 0 {
		little, big := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		a.cells[little].other = big
		rest := &a.cells[big].own
		if *rest -= a.size - a.cells[little].own; *rest < a.size {
			small, large = append(small, big), large[:len(large)-1]
		}
	}
	return a
}

func (a *alias) draw(seed uint64) uint32 {
	i := below(seed, uint64(len(a.cells)))
	c := &a.cells[i]
	if below(seed+cellStep, a.size) < c.own {
		return uint32(i)
	}
	return c.other
}
