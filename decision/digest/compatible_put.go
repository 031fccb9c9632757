package digest

// state says what the text ends with, as far as the next byte may depend on it. The states are bits, so that one test
// can ask for several of them.
type state uint16

const (
	atStart     state = 1 << iota // The text is empty.
	atWord                        // A word byte.
	atValue                       // ?
	atOpen                        // (
	atClose                       // )
	atComma                       // ,
	atOperator                    // * / % or a sign that stays
	atSign                        // A sign that goes if a value or a blank follows.
	atGoneSign                    // A sign that is gone.
	atOther                       // Any other byte.
	atBlank                       // A blank that goes if what follows wants it.
	atGoneBlank                   // A blank that is gone.
	atKeptBlank                   // A blank that stays whatever follows.

	atAnyBlank = atBlank | atGoneBlank | atKeptBlank
)

// stateOf holds the state behind a byte that is copied as it is.
var stateOf = func() (t [256]state) {
	for c, k := range classes {
		t[c] = atOther
		if k&word != 0 {
			t[c] = atWord
		}
	}
	t[' '] = atBlank
	return t
}()

// put appends a byte.
func (p *compatible) put(c byte) {
	switch k := kinds[c]; k {
	case kindBlank:
		p.putBlank()
	case kindValue:
		p.putValue()
	case kindOpen:
		p.lists.inside = true
		p.buf[p.w] = c
		p.w++
		p.last = atOpen
	case kindClose:
		p.dropBlank()
		w := p.lists.addClose(p.buf, p.w)
		p.end += w - (p.w + 1)
		p.w, p.last = w, atClose
	case kindComma:
		p.putComma()
	case kindOperator, kindSlash:
		p.putOperator(c)
	case kindSign, kindDash:
		p.putSign(c)
	default:
		if p.lower && classes[c]&capital != 0 {
			c |= 0x20
		}
		p.buf[p.w] = c
		p.w++
		p.last = stateOf[c]
	}
}

// drop counts a blank or a sign that is not put.
func (p *compatible) drop() {
	p.end--
	p.dropped++
}

// dropBlank takes back the blank that the text may end with.
func (p *compatible) dropBlank() {
	if p.last == atBlank {
		p.w--
		p.drop()
	}
}

func (p *compatible) putBlank() {
	switch {
	case p.last&(atStart|atAnyBlank) != 0:
		return
	case p.last&(atOpen|atComma) != 0:
		p.drop()
		p.before, p.last = p.last, atGoneBlank
		return
	case p.last == atSign:
		p.w--
		p.drop()
		p.last = atGoneSign
	}
	p.buf[p.w] = ' '
	p.w++
	p.before, p.last = p.last, atBlank
}

func (p *compatible) putValue() {
	w := p.w
	// Without branches as far as it goes: whether a blank stands before a value is hard to predict.
	if p.last&atSign|p.before&(atOperator|atGoneSign)&-(p.last/atBlank&1) != 0 {
		w--
		p.drop()
	}
	p.lists.addValue(p.buf, w)
	p.buf[w] = '?'
	p.w, p.last = w+1, atValue
}

func (p *compatible) putComma() {
	p.dropBlank()
	w := p.lists.addComma(p.buf, p.w)
	p.end += w - (p.w + 1)
	p.w, p.last = w, atComma
}

func (p *compatible) putOperator(c byte) {
	if p.before == atValue {
		p.dropBlank()
	}
	p.buf[p.w] = c
	p.w++
	p.last = atOperator
}

func (p *compatible) putSign(c byte) {
	prev := p.last
	if prev&atAnyBlank != 0 {
		prev = p.before
		switch {
		case prev == atValue:
			p.dropBlank()
		case p.last == atBlank && p.dropped == 1:
			// ProxySQL drops by moving bytes down, and looks back at the moved ones: here at the blank.
			prev = atOther
		case prev == atWord:
			p.drop()
			p.last = atGoneSign
			return
		}
	}
	p.buf[p.w] = c
	p.w++
	p.last = atSign
	if prev&(atStart|atWord|atValue|atClose) != 0 {
		p.last = atOperator
	}
}

// putDigit appends a digit of a word. With no_digits a run of them becomes one ?, except at the very start.
func (p *compatible) putDigit(sql []byte, i int) {
	switch {
	case p.last == atStart:
		p.put(sql[i])
	case i > 0 && classes[sql[i-1]]&digit != 0 && p.w+p.dropped > 1:
	default:
		p.putValue()
	}
}
