package pattern

// memo remembers, for instructions whose outcome depends on their place alone, the places where they were tried.
// Inside of a star whose round may be empty, it depends also on whether this round is empty so far: one more row.
// In a search that still goes on each of them has failed, or is being tried, so another try can be left out. This keeps
// a search linear in the text. It is switched on when a search takes many steps.
type memo struct {
	on   bool
	row  int // bits of one row: one for each place, the end included
	bits []uint64
}

// start switches the memo on and tells whether it is small enough.
func (t *memo) start(rows, length int) bool {
	t.row = length + 1
	words := rows*t.row/64 + 1
	if words > maxMemoSize {
		return false
	}
	if cap(t.bits) < words {
		t.bits = make([]uint64, words)
	}
	t.bits = t.bits[:words]
	clear(t.bits)
	t.on = true
	return true
}

func (t *memo) stop() { t.on = false }

func (t *memo) release() {
	t.on = false
	if cap(t.bits) > keptMemo {
		t.bits = nil
	}
}

// seen remembers the place and tells whether it was there already.
func (t *memo) seen(row, place int) bool {
	i := row*t.row + place
	word, bit := &t.bits[i/64], uint64(1)<<(i%64)
	if *word&bit != 0 {
		return true
	}
	*word |= bit
	return false
}

// tried remembers that an instruction is tried at place and tells whether it was tried before.
func (m *machine) tried(in *instruction, place int) bool {
	if !m.memo.on {
		return false
	}
	row := in.memo
	for i, register := range in.starts {
		if m.registers[register] == place {
			row += 1 << i
		}
	}
	return m.memo.seen(row, place)
}
