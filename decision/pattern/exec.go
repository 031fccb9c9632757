package pattern

import "bytes"

// search looks for the first match that begins at from or later. The registers then hold its groups.
// With anchored it must begin at from, with notEmpty it must have a byte.
func (m *machine) search(from int, anchored, notEmpty bool) (begin, end int, ok bool, err error) {
	m.from, m.notEmpty = from, notEmpty
	m.memo.stop()
	m.last = m.prog.memoRows < 0
	if m.last {
		m.grant(baseSteps + stepsAByte*len(m.text))
	} else {
		m.grant(m.patience)
	}
	defer m.grant(0)
	anchored = anchored || m.prog.anchored && from == 0
	for place := from; ; place++ {
		if !anchored {
			if m.prog.anchored {
				return 0, 0, false, nil
			}
			place = m.candidate(place)
		}
		if place < 0 || len(m.text)-place < m.prog.shortest {
			return 0, 0, false, nil
		}
		for i := range m.registers {
			m.registers[i] = -1
		}
		m.stack = m.stack[:0]
		end, err := m.run(place)
		if err != nil {
			return 0, 0, false, err
		}
		if end >= 0 {
			if keep := m.prog.keep; keep >= 0 && m.registers[keep] >= 0 {
				return m.registers[keep], end, true, nil
			}
			return place, end, true, nil
		}
		if anchored {
			return 0, 0, false, nil
		}
	}
}

// candidate gives the first place from here on where a match can begin, or -1.
func (m *machine) candidate(place int) int {
	switch {
	case place > len(m.text):
		return -1
	case m.prog.prefix != nil:
		i := bytes.Index(m.text[place:], m.prog.prefix)
		if i < 0 {
			return -1
		}
		return place + i
	case m.prog.first != nil:
		first := m.prog.first
		for place < len(m.text) && !first.has(m.text[place]) {
			place++
		}
	}
	return place
}

// grant adds up the steps of the grant before and makes a new one.
func (m *machine) grant(steps int) {
	m.spent += m.granted - m.steps
	if left := m.limit - m.spent; steps > left {
		steps, m.last = max(left, 0), true
	}
	m.granted, m.steps = steps, steps
}

// grantMore is called when no steps are left.
func (m *machine) grantMore() error {
	if m.last {
		return ErrTooComplex
	}
	m.last = true
	if m.memo.start(m.prog.memoRows, len(m.text)) {
		m.spent += len(m.memo.bits) / wordsAStep
		m.grant(baseSteps + min(stepsATry*m.prog.tries*len(m.text), maxMemoSteps))
	} else {
		m.grant(baseSteps + stepsAByte*len(m.text))
	}
	return nil
}

// run tries to match at place and gives the end of the match, or -1.
func (m *machine) run(place int) (int, error) {
	code, text := m.prog.code, m.text
	pc := 0
	for {
		if m.steps--; m.steps < 0 {
			if err := m.grantMore(); err != nil {
				return -1, err
			}
		}
		in := &code[pc]
		pc++
		ok := true
		switch in.op {
		case opMatch:
			if m.accepts(place) {
				return place, nil
			}
			ok = false
		case opByte:
			if ok = place < len(text) && text[place] == in.b; ok {
				place++
			}
		case opSet:
			if ok = place < len(text) && in.set.has(text[place]); ok {
				place++
			}
		case opString:
			if ok = len(text)-place >= len(in.text) && string(text[place:place+len(in.text)]) == in.text; ok {
				place += len(in.text)
			}
		case opFold:
			if ok = foldedPrefix(text[place:], in.text); ok {
				place += len(in.text)
			}
		case opRun:
			place, ok = m.take(in, pc, place)
		case opJump:
			pc = in.x
		case opSplit:
			if ok = !m.tried(in, place); ok {
				m.push(entryChoice, in.y, place, 0)
				pc = in.x
			}
		case opAssert:
			ok = m.holds(in.assertion, place)
		case opBack:
			place -= in.n
			ok = place >= 0
		case opBackref:
			place, ok = m.again(in, place)
		case opIfGroup:
			if _, _, set := m.group(in.n); !set {
				pc = in.y
			}
		case opStar:
			pc, ok = m.star(in, pc-1, place)
		case opLoop:
			pc = m.loop(in, pc-1, place)
		case opTryEnd:
			height, back := m.registers[in.n], m.registers[in.n+1]
			m.unwind(height)
			if ok = in.y > 0; ok {
				pc, place = in.y, back
			}
		case opLookEnd:
			m.cut(m.registers[in.n])
			place = m.registers[in.n+1]
		case opOpen, opClose, opStash, opCloseStash, opKeep, opMark, opCut, opLook, opTry, opStarBegin, opLoopBegin:
			m.note(in, place)
		}
		if len(m.stack) > maxStack {
			return -1, ErrTooComplex
		}
		if ok {
			continue
		}
		if pc, place = m.back(); pc < 0 {
			return -1, nil
		}
	}
}

// accepts tells whether a match may end at place.
func (m *machine) accepts(place int) bool {
	if !m.notEmpty {
		return true
	}
	begin := m.from
	if keep := m.prog.keep; keep >= 0 && m.registers[keep] >= 0 {
		begin = m.registers[keep]
	}
	return place > begin
}

// note does the instructions that only change registers and choices.
func (m *machine) note(in *instruction, place int) {
	switch in.op { //nolint:exhaustive // The others go elsewhere.
	case opOpen, opClose:
		if m.captures || in.x != 0 {
			m.set(in.n, place)
		}
	case opStash, opKeep:
		m.set(in.n, place)
	case opCloseStash:
		m.set(in.n, m.registers[in.m])
		m.set(in.n+1, place)
	case opMark:
		m.set(in.n, len(m.stack))
	case opCut:
		m.cut(m.registers[in.n])
	case opLook, opTry:
		height := len(m.stack)
		if in.op == opTry {
			m.push(entryChoice, in.y, place, 0)
		}
		m.set(in.n, height)
		m.set(in.n+1, place)
	case opStarBegin:
		m.set(in.n, -1)
	case opLoopBegin:
		m.set(in.n, 0)
		m.set(in.n+1, -1)
	}
}

// star does an opStar at pc: another round, or on behind the star. It is not ok if this was tried before.
func (m *machine) star(in *instruction, pc, place int) (next int, ok bool) {
	switch latest := m.registers[in.n]; {
	case latest == place:
		return in.y, true
	case latest < 0 && in.m == 1:
	case m.tried(in, place):
		return pc, false
	case in.greed == lazy:
		m.push(entryChoice, -pc-1, place, 0)
		return in.y, true
	default:
		m.push(entryChoice, in.y, place, 0)
	}
	return m.round(in, place), true
}

// loop does an opLoop at pc: another round, or on behind the loop.
func (m *machine) loop(in *instruction, pc, place int) int {
	rounds := m.registers[in.n]
	switch l := in.loop; {
	case rounds < l.min:
	case rounds == l.max, l.stops && rounds > 0 && m.registers[in.n+1] == place:
		return in.y
	case in.greed == lazy:
		m.push(entryChoice, -pc-1, place, 0)
		return in.y
	default:
		m.push(entryChoice, in.y, place, 0)
	}
	return m.round(in, place)
}

// round begins another round of a star or loop.
func (m *machine) round(in *instruction, place int) int {
	if in.op == opStar {
		m.set(in.n, place)
		return in.x
	}
	m.set(in.n, m.registers[in.n]+1)
	if in.loop.stops {
		m.set(in.n+1, place)
	}
	return in.x
}

// back goes to the latest choice and gives where to go on, or pc -1 if there is none.
func (m *machine) back() (pc, place int) {
	for len(m.stack) > 0 {
		top := &m.stack[len(m.stack)-1]
		switch top.kind {
		case entryUndo:
			m.registers[top.pc] = top.a
		case entryChoice:
			pc, place = int(top.pc), top.a
			m.stack = m.stack[:len(m.stack)-1]
			if pc < 0 { // Another round of a lazy loop.
				pc = m.round(&m.prog.code[-pc-1], place)
			}
			return pc, place
		case entryRun:
			if place, ok := m.giveBack(top); ok {
				return int(top.pc) + 1, place
			}
		case entryLazy:
			if place, ok := m.takeMore(top); ok {
				return int(top.pc) + 1, place
			}
		}
		m.stack = m.stack[:len(m.stack)-1]
	}
	return -1, 0
}
