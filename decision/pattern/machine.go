package pattern

import (
	"math"
	"sync"
)

// Bounds of one search. They depend on the text alone, so the outcome does, too.
const (
	baseSteps    = 10_000_000 // the limit PCRE has itself: about a tenth of a second
	stepsAByte   = 16         // on top, for long texts
	maxStack     = 1 << 22    // entries
	keptStack    = 1 << 14    // entries that a machine keeps for its next search
	keptMemo     = 1 << 16    // words that a machine keeps for its next search
	stepsATry    = 4          // with the memo, which keeps down the tries, not the steps between them
	maxMemoSteps = 1 << 27
	maxMemoSize  = 1 << 20 // words: 8 MiB
	wordsAStep   = 64      // of the memo: clearing them takes a step
)

// entryKind says what is done with an entry of the stack when the search goes back to it.
type entryKind uint8

const (
	entryChoice entryKind = iota // go on at pc with place a
	entryUndo                    // register pc was a, go back further
	entryRun                     // the greedy run at pc may give back bytes: from place a down to b
	entryLazy                    // the lazy run at pc may take more: from place a up to b
)

// entry is a choice that was made, or a register that was changed.
type entry struct {
	kind entryKind
	pc   int32
	a, b int
}

// machine is the state of one search.
type machine struct {
	prog     *program
	text     []byte
	from     int  // where the search began
	notEmpty bool // a match without a byte doesn't count
	captures bool // groups are wanted

	stack     []entry
	registers []int
	steps     int  // left of those granted
	granted   int  // latest
	spent     int  // before
	limit     int  // of what may be spent
	last      bool // no more steps are granted when these are used up
	memo      memo
	patience  int // steps before the memo is switched on
}

var machines = sync.Pool{New: func() any { return new(machine) }}

// borrow gives a machine for one text. It must be released.
func borrow(prog *program, text []byte, captures bool) *machine {
	m := machines.Get().(*machine) //nolint:forcetypeassert // The pool holds nothing else.
	m.prog, m.text, m.captures = prog, text, captures
	m.steps, m.granted, m.spent, m.limit = 0, 0, 0, math.MaxInt
	m.patience = 1<<12 + 2*stepsAByte*len(text)
	if cap(m.registers) < prog.registers {
		m.registers = make([]int, prog.registers)
	}
	m.registers = m.registers[:prog.registers]
	return m
}

func (m *machine) release() {
	m.prog, m.text = nil, nil
	if cap(m.stack) > keptStack {
		m.stack = nil
	}
	m.memo.release()
	machines.Put(m)
}

func (m *machine) push(kind entryKind, pc, a, b int) {
	m.stack = append(m.stack, entry{kind: kind, pc: int32(pc), a: a, b: b})
}

// set changes a register so that going back undoes it.
func (m *machine) set(register, value int) {
	m.push(entryUndo, register, m.registers[register], 0)
	m.registers[register] = value
}

// cut forgets the choices above height, but keeps what undoes registers.
func (m *machine) cut(height int) {
	kept := m.stack[:height]
	for _, e := range m.stack[height:] {
		if e.kind == entryUndo {
			kept = append(kept, e)
		}
	}
	m.stack = kept
}

// unwind undoes all registers changed above height and forgets the choices there.
func (m *machine) unwind(height int) {
	for i := len(m.stack) - 1; i >= height; i-- {
		if e := &m.stack[i]; e.kind == entryUndo {
			m.registers[e.pc] = e.a
		}
	}
	m.stack = m.stack[:height]
}

// group gives where the group with the register and the next one begins and ends, or not ok while it is unset.
func (m *machine) group(register int) (begin, end int, ok bool) {
	begin, end = m.registers[register], m.registers[register+1]
	return begin, end, begin >= 0 && end >= 0
}
