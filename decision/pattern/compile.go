package pattern

// assemble writes the program of a tree.
func assemble(root *node, groups int) *program {
	copies := maxCopies
	analyze(root, copies)
	if root.cost > maxInstructions {
		copies = 0
		analyze(root, copies)
	}
	a := &assembler{
		program: program{registers: 2 * groups, keep: -1, shortest: root.shortest, anchored: anchored(root)},
		copies:  copies,
		read:    make([]bool, groups+1),
		sets:    map[byteSet]*byteSet{},
		regular: true,
	}
	a.findReads(root)
	a.emit(root)
	a.add(instruction{op: opMatch})
	a.finish(root)
	return &a.program
}

// assembler appends instructions to a program.
type assembler struct {
	program
	copies  int    // the limit for one written-out repetition
	read    []bool // by group: a back-reference or condition reads it
	sets    map[byteSet]*byteSet
	starts  []int // registers of the emptyStars around what is being written
	regular bool  // the outcome of each instruction depends on its place in the text alone
}

func (a *assembler) findReads(n *node) {
	if n.kind == kindBackref || n.kind == kindCondGroup {
		a.read[n.index] = true
	}
	for _, sub := range n.subs {
		a.findReads(sub)
	}
}

func (a *assembler) add(in instruction) int {
	a.code = append(a.code, in)
	return len(a.code) - 1
}

func (a *assembler) here() int { return len(a.code) }

func (a *assembler) register(count int) int {
	a.registers += count
	return a.registers - count
}

func (a *assembler) shared(s byteSet) *byteSet {
	if known := a.sets[s]; known != nil {
		return known
	}
	a.sets[s] = &s
	return &s
}

func (a *assembler) emit(n *node) {
	switch n.kind {
	case kindEmpty:
	case kindSet:
		a.bytes([]*node{n})
	case kindConcat:
		a.concat(n.subs)
	case kindAlternate:
		a.alternate(len(n.subs), func(i int) { a.emit(n.subs[i]) })
	case kindRepeat:
		a.repeat(n)
	case kindCapture:
		a.capture(n)
	case kindAtomic:
		a.regular = false
		mark := a.register(1)
		a.add(instruction{op: opMark, n: mark})
		a.emit(n.subs[0])
		a.add(instruction{op: opCut, n: mark})
	case kindLook:
		a.look(n)
	case kindBackref:
		a.regular = false
		in := instruction{op: opBackref, n: 2 * (n.index - 1)}
		if n.caseless {
			in.x = 1
		}
		a.add(in)
	case kindCondGroup:
		a.regular = false
		test := a.add(instruction{op: opIfGroup, n: 2 * (n.index - 1)})
		a.emit(n.subs[0])
		jump := a.add(instruction{op: opJump})
		a.code[test].y = a.here()
		a.emit(n.subs[1])
		a.code[jump].x = a.here()
	case kindCondLook:
		a.condLook(n)
	case kindAssert:
		a.add(instruction{op: opAssert, assertion: n.assertion})
	case kindKeep:
		a.regular = false // Where the match began decides whether it is empty.
		if a.keep < 0 {
			a.keep = a.register(1)
		}
		a.add(instruction{op: opKeep, n: a.keep})
	}
}

// concat writes runs of literal bytes as one instruction.
func (a *assembler) concat(nodes []*node) {
	for i := 0; i < len(nodes); {
		j := i
		for j < len(nodes) && nodes[j].kind == kindSet {
			j++
		}
		if j > i {
			a.bytes(nodes[i:j])
			i = j
			continue
		}
		a.emit(nodes[i])
		i++
	}
}

// bytes writes sets one after the other.
func (a *assembler) bytes(nodes []*node) {
	for i := 0; i < len(nodes); {
		text, anyFolded := literalPrefix(nodes[i:])
		switch {
		case len(text) > 1 && anyFolded:
			a.add(instruction{op: opFold, text: text})
		case len(text) > 1:
			a.add(instruction{op: opString, text: text})
		default:
			text = " "
			if set := nodes[i].set; set.size() == 1 {
				a.add(instruction{op: opByte, b: set.lowest()})
			} else {
				a.add(instruction{op: opSet, set: a.shared(set)})
			}
		}
		i += len(text)
	}
}

// literalPrefix gives the longest text that the sets spell, all folded or none. Bytes that are no letters fit both.
func literalPrefix(nodes []*node) (text string, anyFolded bool) {
	var b []byte
	anyExactLetter := false
	for _, n := range nodes {
		c, folded, ok := n.set.literal()
		isLetter := foldTable[c] >= 'a' && foldTable[c] <= 'z'
		if !ok || folded && anyExactLetter || isLetter && !folded && anyFolded {
			break
		}
		anyFolded = anyFolded || folded
		anyExactLetter = anyExactLetter || isLetter && !folded
		b = append(b, c)
	}
	return string(b), anyFolded
}

func (a *assembler) alternate(count int, emit func(i int)) {
	var jumps []int
	for i := range count {
		if i == count-1 {
			emit(i)
			break
		}
		split := a.add(instruction{op: opSplit, starts: a.starts})
		a.code[split].x = a.here()
		emit(i)
		jumps = append(jumps, a.add(instruction{op: opJump}))
		a.code[split].y = a.here()
	}
	for _, jump := range jumps {
		a.code[jump].x = a.here()
	}
}

func (a *assembler) capture(n *node) {
	register := 2 * (n.index - 1)
	if n.ownRef {
		// The group keeps its former text until it closes, for the reference inside it.
		stash := a.register(1)
		a.add(instruction{op: opStash, n: stash})
		a.emit(n.subs[0])
		a.add(instruction{op: opCloseStash, n: register, m: stash})
		return
	}
	read := 0
	if a.read[n.index] {
		read = 1
	}
	a.add(instruction{op: opOpen, n: register, x: read})
	a.emit(n.subs[0])
	a.add(instruction{op: opClose, n: register + 1, x: read})
}

func (a *assembler) look(n *node) {
	a.regular = false
	registers := a.register(2)
	if !n.negative {
		a.add(instruction{op: opLook, n: registers})
		a.lookBody(n)
		a.add(instruction{op: opLookEnd, n: registers})
		return
	}
	try := a.add(instruction{op: opTry, n: registers})
	a.lookBody(n)
	a.add(instruction{op: opTryEnd, n: registers})
	a.code[try].y = a.here()
}

func (a *assembler) lookBody(n *node) {
	if !n.behind {
		a.emit(n.subs[0])
		return
	}
	branches := branchesOf(n.subs[0])
	a.alternate(len(branches), func(i int) {
		length, _ := width(branches[i])
		a.add(instruction{op: opBack, n: length})
		a.emit(branches[i])
	})
}

func (a *assembler) condLook(n *node) {
	a.regular = false
	look, registers := n.subs[0], a.register(2)
	try := a.add(instruction{op: opTry, n: registers})
	a.lookBody(look)
	yes, no := n.subs[1], n.subs[2]
	if look.negative {
		// The body holds: the condition does not.
		end := a.add(instruction{op: opTryEnd, n: registers})
		a.code[try].y = a.here()
		a.emit(yes)
		jump := a.add(instruction{op: opJump})
		a.code[end].y = a.here()
		a.emit(no)
		a.code[jump].x = a.here()
		return
	}
	a.add(instruction{op: opLookEnd, n: registers})
	a.emit(yes)
	jump := a.add(instruction{op: opJump})
	a.code[try].y = a.here()
	a.emit(no)
	a.code[jump].x = a.here()
}
