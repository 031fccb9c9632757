package pattern

import "bytes"

// foldedPrefix tells whether text begins with lower, which is lower case, in either case.
func foldedPrefix(text []byte, lower string) bool {
	if len(text) < len(lower) {
		return false
	}
	for i := range len(lower) {
		if foldTable[text[i]] != lower[i] {
			return false
		}
	}
	return true
}

// take does an opRun; next is the instruction behind it.
func (m *machine) take(in *instruction, next, place int) (int, bool) {
	text := m.text
	least := place + in.n
	if least > len(text) {
		return place, false
	}
	for ; place < least; place++ {
		if !in.set.has(text[place]) {
			return place, false
		}
	}
	m.steps -= in.n / 8
	most := len(text)
	if in.m != unlimited {
		most = min(most, least+in.m-in.n)
	}
	if m.tried(in, place) {
		return place, false
	}
	if in.greed == lazy {
		if place < most {
			m.push(entryLazy, next-1, place, most)
		}
		return place, true
	}
	// What an endless run does at a place, it also did when an earlier run passed there, and it failed.
	mark := m.memo.on && in.m == unlimited
	for place < most && in.set.has(text[place]) {
		if mark && m.memo.seen(in.memo, place+1) {
			if in.greed == possessive {
				return place, false
			}
			break
		}
		place++
	}
	m.steps -= (place - least) / 8
	if in.greed == greedy && place > least {
		m.push(entryRun, next-1, place, least)
	}
	return place, true
}

// giveBack makes a greedy run shorter, to a place where what follows can begin.
func (m *machine) giveBack(e *entry) (place int, ok bool) {
	next, begin := m.prog.code[e.pc].next, e.a
	for !ok && e.a > e.b {
		e.a--
		ok = next == nil || next.has(m.text[e.a])
	}
	m.steps -= (begin - e.a) / 8
	return e.a, ok
}

// takeMore makes a lazy run longer, to a place where what follows can begin.
func (m *machine) takeMore(e *entry) (place int, ok bool) {
	in, begin := &m.prog.code[e.pc], e.a
	for !ok && e.a < e.b && in.set.has(m.text[e.a]) {
		e.a++
		if m.memo.on && in.m == unlimited && m.memo.seen(in.memo, e.a) {
			break
		}
		ok = in.next == nil || e.a < len(m.text) && in.next.has(m.text[e.a])
	}
	m.steps -= (e.a - begin) / 8
	return e.a, ok
}

// again does an opBackref. A group that is unset never matches.
func (m *machine) again(in *instruction, place int) (int, bool) {
	begin, end, ok := m.group(in.n)
	if !ok || len(m.text)-place < end-begin {
		return place, false
	}
	want, have := m.text[begin:end], m.text[place:place+end-begin]
	m.steps -= len(want) / 8
	if in.x == 0 {
		return place + len(want), bytes.Equal(want, have)
	}
	for i := range want {
		if foldTable[want[i]] != foldTable[have[i]] {
			return place, false
		}
	}
	return place + len(want), true
}

// holds tells whether the place fits the assertion.
func (m *machine) holds(a assertion, place int) bool {
	text := m.text
	switch a {
	case assertTextBegin:
		return place == 0
	case assertTextEnd:
		return place == len(text)
	case assertFinalEnd:
		return place == len(text) || place == len(text)-1 && text[place] == '\n'
	case assertLineBegin:
		return place == 0 || place < len(text) && text[place-1] == '\n'
	case assertLineEnd:
		return place == len(text) || text[place] == '\n'
	case assertFrom:
		return place == m.from
	case assertBoundary, assertNoBoundary:
		before := place > 0 && isWord(text[place-1])
		after := place < len(text) && isWord(text[place])
		return (before != after) == (a == assertBoundary)
	}
	return false
}
