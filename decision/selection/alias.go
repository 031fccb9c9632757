package selection

import "math/bits"

// alias draws a row in proportion to its weight at a cost that does not grow with their number (Walker's method): the
// weights are dealt out to as many equal cells as there are rows, at most two rows to a cell. All of it is in whole
// numbers, so that the chances are exactly those of the weights.
type alias struct {
	cells []cell
	size  uint64 // of a cell: the sum of the weights
	total uint64 // of all cells; it fits for a million rows
}

type cell struct {
	own   uint64 // how much of the cell is the row's with the cell's number; the rest is the other's
	other uint32
}

func newAlias(rows []row) *alias {
	a := &alias{cells: make([]cell, len(rows))}
	for i := range rows {
		a.size += uint64(rows[i].weight)
	}
	a.total = a.size * uint64(len(rows))
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

// draw draws a number below total, in the way of below, and gives the row that it falls to.
func (a *alias) draw(seed uint64) uint32 {
	for {
		seed += seedStep
		m := mix(seed)
		number, low := bits.Mul64(m, a.total)
		if low >= a.total || low >= -a.total%a.total {
			i, _ := bits.Mul64(m, uint64(len(a.cells))) // number / size
			c := &a.cells[i]
			others := ^uint64(int64(number-i*a.size-c.own) >> 63) // all bits or none
			return uint32(i) ^ (uint32(i)^c.other)&uint32(others)
		}
	}
}
