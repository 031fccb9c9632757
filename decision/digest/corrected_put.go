package digest

// space puts the blank that is due. None stands at the start, behind ( and comma; the callers know what wants none before.
func (p *corrected) space() {
	if p.blank {
		p.blank = false
		if p.w > 0 && p.buf[p.w-1] != '(' && p.buf[p.w-1] != ',' {
			p.buf[p.w] = ' '
			p.w++
		}
	}
	p.signs = none
}

func (p *corrected) put(c byte) {
	p.buf[p.w] = c
	p.w++
}

// putValue appends ?, in the place of the signs before it.
func (p *corrected) putValue() {
	if p.signs != none {
		p.w, p.blank = p.signs, false
	}
	p.space()
	p.lists.addValue(p.buf, p.w)
	p.put('?')
}

// putSign appends + or -. Behind an operand it is an operator and stays, everywhere else it belongs to the value that
// may follow. Two dashes never stand together, as they might open a comment then.
func (p *corrected) putSign(c byte) {
	signs := p.signs
	operand := signs == none && p.operand()
	p.space()
	switch {
	case operand:
		signs = none
	case signs == none:
		signs = p.w
	}
	if p.w > 0 && c == '-' && p.buf[p.w-1] == '-' {
		p.put(' ')
	}
	p.put(c)
	p.signs = signs
}

// operand tells whether the text ends with something that a value can be added to.
func (p *corrected) operand() bool {
	switch p.w {
	case 0:
		return false
	case p.noted:
		return p.notedOperand
	}
	switch c := p.buf[p.w-1]; {
	case c == '?', c == ')', c == '`':
		return true
	case classes[c]&(word|high) != 0:
		return !endsWithOperator(p.buf[:p.w])
	}
	return false
}
