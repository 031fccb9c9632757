package pattern

import "slices"

func (a *assembler) repeat(n *node) {
	item := n.subs[0]
	switch {
	case n.max == 0:
	case n.min == 1 && n.max == 1:
		a.emit(item)
	case item.kind == kindSet:
		if n.min > maxCopies || n.max > maxCopies {
			a.regular = false // Each place of the text could be looked at too often.
		}
		a.add(instruction{op: opRun, set: a.shared(item.set), n: n.min, m: n.max, greed: n.greed, starts: a.starts})
	case n.writtenOut(a.copies):
		a.writeOut(n)
	default:
		a.count(n)
	}
}

// writeOut writes x{2,4} as xx(?:xx?)?, x{2,} as xx+, and x* as itself.
func (a *assembler) writeOut(n *node) {
	item := n.subs[0]
	if n.max == unlimited {
		for range n.min - 1 {
			a.emit(item)
		}
		a.star(item, n.min > 0, n.greed)
		return
	}
	for range n.min {
		a.emit(item)
	}
	var splits []int
	for range n.max - n.min {
		splits = append(splits, a.add(instruction{op: opSplit, starts: a.starts}))
		a.emit(item)
	}
	for _, split := range splits {
		a.aim(split, split+1, a.here(), n.greed)
	}
}

// star writes x* or, with a first round that must be, x+.
func (a *assembler) star(item *node, must bool, g greed) {
	if item.shortest == 0 {
		a.emptyStar(item, must, g)
		return
	}
	if must {
		body := a.here()
		a.emit(item)
		split := a.add(instruction{op: opSplit, starts: a.starts})
		a.aim(split, body, a.here(), g)
		return
	}
	split := a.add(instruction{op: opSplit, starts: a.starts})
	a.emit(item)
	a.add(instruction{op: opJump, x: split})
	a.aim(split, split+1, a.here(), g)
}

// emptyStar is star for an item that can match without a byte. Such a round is the last one, so the program remembers
// where each round began.
func (a *assembler) emptyStar(item *node, must bool, g greed) {
	const maxInside = 3 // each one doubles the rows that the memo needs
	register := a.register(1)
	a.add(instruction{op: opStarBegin, n: register})
	first := 0
	if must {
		first = 1
	}
	head := a.add(instruction{op: opStar, n: register, m: first, greed: g, starts: a.starts})
	a.code[head].x = a.here()
	outer := a.starts
	a.starts = append(slices.Clone(outer), register)
	if len(a.starts) > maxInside {
		a.regular = false
	}
	a.emit(item)
	a.starts = outer
	a.add(instruction{op: opJump, x: head})
	a.code[head].y = a.here()
}

// aim sets where a split goes: to the body first if greedy, else to the exit first.
func (a *assembler) aim(split, body, exit int, g greed) {
	if g == lazy {
		body, exit = exit, body
	}
	a.code[split].x, a.code[split].y = body, exit
}

// count writes a loop that keeps its rounds in a register.
func (a *assembler) count(n *node) {
	a.regular = false
	registers := a.register(2)
	a.add(instruction{op: opLoopBegin, n: registers})
	head := a.add(instruction{
		op: opLoop, n: registers, greed: n.greed,
		loop: &loop{min: n.min, max: n.max, stops: n.max == unlimited},
	})
	a.code[head].x = a.here()
	a.emit(n.subs[0])
	a.add(instruction{op: opJump, x: head})
	a.code[head].y = a.here()
}

// finish fills in what is known once all instructions are there.
func (a *assembler) finish(root *node) {
	for i := range a.code {
		in := &a.code[i]
		switch in.op {
		case opRun:
			in.next = a.bytesAt(i + 1)
			if in.greed == greedy && in.next != nil && !in.next.meets(in.set) {
				// A shorter run would be followed by a byte of the run, so it can't lead to a match.
				in.greed = possessive
			}
		case opSplit, opStar:
		default:
			continue
		}
		in.memo = a.memoRows
		a.memoRows += 1 << len(in.starts)
		a.tries += max(1, in.m-in.n) << len(in.starts)
	}
	if !a.regular {
		a.memoRows = -1
	}
	if first, empty := firstBytes(root); !empty && first.size() < 256 {
		a.first = a.shared(first)
	}
	begin := 0
	for a.code[begin].op == opOpen {
		begin++
	}
	if in := &a.code[begin]; in.op == opString {
		a.prefix = []byte(in.text)
	}
}

// bytesAt gives the bytes that instruction pc takes first, or nil if they are not known.
func (a *assembler) bytesAt(pc int) *byteSet {
	const patience = 8 // jumps can go in a circle
	for range patience {
		switch in := &a.code[pc]; in.op {
		case opByte:
			return a.shared(singleton(in.b))
		case opSet:
			return in.set
		case opString:
			return a.shared(singleton(in.text[0]))
		case opFold:
			s := singleton(in.text[0])
			s.fold()
			return a.shared(s)
		case opRun:
			if in.n > 0 {
				return in.set
			}
			return nil
		case opJump:
			pc = in.x
		case opOpen, opClose, opStash, opCloseStash, opKeep:
			pc++
		default:
			return nil
		}
	}
	return nil
}
